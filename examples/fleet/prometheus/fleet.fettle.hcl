# The fleet of the folder above, seen as most operators see theirs: through a
# Prometheus that scrapes it every second. What can be done and what must stay
# true is the same; what is observed comes with the time at which it was sampled.

model {
  scope = "fleet"
  doc   = "Four services behind a load balancer, with one deploy lock, seen through Prometheus."
}

variable "fleet" {
  default     = "http://127.0.0.1:7000"
  description = "Address of the fleet's control API, for what is done."
}

variable "prometheus" {
  default     = "http://127.0.0.1:9090"
  description = "Address of the Prometheus that scrapes the fleet."
}

provider "prometheus" {
  address = var.prometheus
  timeout = "5s"
}

type "service" {
  objects = ["api", "db", "web", "worker"]
}

# ---- what is observed ------------------------------------------------------
# Each fluent is one query, however many services there are. Guards want:
# - of what the balancer shares out among all, samples taken after the leases
#   (max_age = "0s"): others who act on it may see it by other means and be done
#   within a second;
# - of the services' own condition, samples of at most two scrapes' age.
# An effect is only seen in a sample that was taken after its action ended, so
# settle leaves time for several scrapes.

fluent "in_lb" {
  doc    = "The balancer sends client requests to the service."
  params = { s = service }
  observe "prometheus" {
    query   = "fleet_in_lb"
    labels  = { s = "service" }
    value   = "value > 0"
    max_age = "0s"
  }
}

# A service that cannot be scraped has no series of its own. Prometheus notes
# the failure in up, whose time tells when the service was last asked.

fluent "up" {
  doc    = "The service answers, and says that it is up."
  params = { s = service }
  observe "prometheus" {
    query     = "service_up"
    labels    = { s = "service" }
    value     = "value > 0"
    absent    = false
    max_age   = "2s"
    freshness = "timestamp(up{job='services'})"
  }
}

fluent "mem_ok" {
  doc    = "The service answers and reports no leak."
  params = { s = service }
  observe "prometheus" {
    query     = "max by (service) (service_leaking)"
    labels    = { s = "service" }
    value     = "value == 0"
    absent    = false
    max_age   = "2s"
    freshness = "timestamp(up{job='services'})"
  }
}

# Two balancers, or a moment of a changing version, would be two series: the
# service is on the right version where all of them say so.

fluent "version_ok" {
  doc    = "The service is on the version that is wanted."
  params = { s = service }
  observe "prometheus" {
    query   = "fleet_deployed_info"
    labels  = { s = "service" }
    value   = "labels.version == labels.wanted"
    reduce  = "all"
    max_age = "2s"
  }
}

fluent "lock" {
  doc    = "The deploy lock is held for the service."
  params = { s = service }
  observe "prometheus" {
    query   = "fleet_deploy_lock"
    labels  = { s = "service" }
    value   = "value > 0"
    max_age = "0s"
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
    timeout  = "8s"
    interval = "200ms"
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
    timeout  = "8s"
    interval = "200ms"
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
    timeout  = "8s"
    interval = "200ms"
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
    timeout  = "8s"
    interval = "200ms"
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
    timeout  = "8s"
    interval = "200ms"
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
    timeout  = "8s"
    interval = "200ms"
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
