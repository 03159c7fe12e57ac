# A small fleet behind one load balancer: what can be known about it, what can
# be done to it, and what must stay true while it is being repaired.

model {
  scope = "fleet"
  doc   = "Four services behind a load balancer, with one deploy lock."
}

variable "fleet" {
  default     = "http://127.0.0.1:7000"
  description = "Address of the fleet's control API."
}

type "service" {
  objects = ["api", "db", "web", "worker"]
}

# ---- what is observed ------------------------------------------------------
# No fluent says what a silent control API means: then its facts are unknown,
# and nothing is done on unknown facts.

fluent "in_lb" {
  doc    = "The balancer sends client requests to the service."
  params = { s = service }
  observe "http" {
    url    = "${var.fleet}/lb"
    items  = "body.services"
    object = "name"
    value  = "in_lb"
  }
}

fluent "up" {
  doc    = "The service answers its health check."
  params = { s = service }
  observe "http" {
    url    = "${var.fleet}/services"
    items  = "body.services"
    object = "name"
    value  = "healthy"
  }
}

fluent "mem_ok" {
  doc    = "The service answers its health check and reports no leak."
  params = { s = service }
  observe "http" {
    url    = "${var.fleet}/services"
    items  = "body.services"
    object = "name"
    value  = "memory == 'ok'"
  }
}

fluent "version_ok" {
  doc    = "The service is on the version that is wanted."
  params = { s = service }
  observe "http" {
    url    = "${var.fleet}/services"
    items  = "body.services"
    object = "name"
    value  = "version == wanted_version"
  }
}

fluent "lock" {
  doc    = "The deploy lock is held for the service."
  params = { s = service }
  observe "http" {
    url    = "${var.fleet}/lock"
    items  = "body.locks"
    object = "service"
    value  = "held"
  }
}

# ---- what follows from it --------------------------------------------------

fluent "capacity" {
  doc    = "No service is out of the balancer."
  derive = "all(service, in_lb(#))"
}

fluent "lock_free" {
  doc    = "Nobody holds the deploy lock."
  derive = "none(service, lock(#))"
}

invariant "one_out" {
  condition = "count(service, !in_lb(#)) <= 1"
  message   = "only one service may be out of the balancer at a time"
}

# ---- what can be done ------------------------------------------------------

action "drain" {
  doc          = "Take a service out of the balancer and let its requests finish."
  params       = { s = service }
  precondition = ["capacity", "in_lb(s)"]
  effect {
    del = ["in_lb(s)"]
  }
  risk    = "medium"
  undo    = "readd(s)"
  timeout = "8s"
  settle {
    timeout  = "5s"
    interval = "100ms"
  }
  run "http" {
    method = "POST"
    url    = "${var.fleet}/services/${s}/drain"
    fence {
      url    = "${var.fleet}/fence"
      reject = [409]
    }
  }
}

action "restart" {
  doc          = "Restart a service that is out of the balancer; cures a leak, a hang and a dead process."
  params       = { s = service }
  precondition = ["!in_lb(s)"]
  effect {
    add = ["up(s)", "mem_ok(s)"]
  }
  risk    = "low"
  timeout = "12s"
  settle {
    timeout  = "5s"
    interval = "100ms"
  }
  run "http" {
    method = "POST"
    url    = "${var.fleet}/services/${s}/restart"
    fence {
      url    = "${var.fleet}/fence"
      reject = [409]
    }
  }
}

action "take_lock" {
  doc          = "Take the deploy lock for a service."
  params       = { s = service }
  precondition = ["lock_free"]
  effect {
    add = ["lock(s)"]
  }
  risk    = "low"
  undo    = "release(s)"
  timeout = "5s"
  settle {
    timeout  = "5s"
    interval = "100ms"
  }
  run "http" {
    method = "POST"
    url    = "${var.fleet}/lock/${s}"
    fence {
      url    = "${var.fleet}/fence"
      reject = [409]
    }
  }
}

action "revert" {
  doc          = "Put the wanted version back in place of a bad deploy, and start it."
  params       = { s = service }
  precondition = ["!in_lb(s)", "lock(s)", "!version_ok(s)"]
  effect {
    add = ["version_ok(s)", "up(s)", "mem_ok(s)"]
  }
  risk       = "high"
  reversible = false
  timeout    = "12s"
  settle {
    timeout  = "5s"
    interval = "100ms"
  }
  run "http" {
    method = "POST"
    url    = "${var.fleet}/services/${s}/revert"
    fence {
      url    = "${var.fleet}/fence"
      reject = [409]
    }
  }
}

action "readd" {
  doc          = "Put a service that is fit to serve back into the balancer."
  params       = { s = service }
  precondition = ["!in_lb(s)", "up(s)", "mem_ok(s)", "version_ok(s)"]
  effect {
    add = ["in_lb(s)"]
  }
  risk    = "low"
  undo    = "drain(s)"
  timeout = "5s"
  settle {
    timeout  = "5s"
    interval = "100ms"
  }
  run "http" {
    method = "POST"
    url    = "${var.fleet}/services/${s}/add"
    fence {
      url    = "${var.fleet}/fence"
      reject = [409]
    }
  }
}

action "release" {
  doc          = "Give the deploy lock back."
  params       = { s = service }
  precondition = ["lock(s)"]
  effect {
    del = ["lock(s)"]
  }
  risk    = "low"
  undo    = "take_lock(s)"
  timeout = "5s"
  settle {
    timeout  = "5s"
    interval = "100ms"
  }
  run "http" {
    method = "DELETE"
    url    = "${var.fleet}/lock/${s}"
    fence {
      url    = "${var.fleet}/fence"
      reject = [409]
    }
  }
}

# ---- what is wanted, and how far a run may go ------------------------------

goal "healthy" {
  doc       = "every service is in the balancer, healthy and on the right version, and the deploy lock is free"
  condition = ["all(service, in_lb(#) && up(#) && mem_ok(#) && version_ok(#))", "lock_free"]
}

policy {
  mode                 = "approve"
  max_rounds           = 4
  max_attempts         = 3
  max_plan_steps       = 30
  max_actions          = 40
  deadline             = "2m"
  max_wait             = "10s"
  max_repeats          = 2
  same_failure_retries = 2
  no_evidence_rounds   = 2
  max_errors           = 5
}

# For planning without a fleet: api leaks, db runs a bad deploy.
state "leak-on-api-bad-version-on-db" {
  facts = [
    "in_lb(api)", "in_lb(db)", "in_lb(web)", "in_lb(worker)",
    "up(api)", "up(db)", "up(web)", "up(worker)",
    "mem_ok(db)", "mem_ok(web)", "mem_ok(worker)",
    "version_ok(api)", "version_ok(web)", "version_ok(worker)",
  ]
}
