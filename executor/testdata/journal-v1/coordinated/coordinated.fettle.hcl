# Two services behind a balancer: one leaks memory, one got a bad deploy. Reverting
# a deploy takes the deploy lock, which people take too, see person.sh. The world is
# acted out with files, see incident.sh.

model {
  scope = "coordinated"
  doc   = "Two services, one balancer, and a deploy lock that people and runs share."
}

variable "world" {
  default     = "world"
  description = "Folder in which the services are acted out; relative to the model's folder."
}

type "service" { objects = ["api", "db"] }

# ---- what is observed ----------------------------------------------------------

fluent "in_lb" {
  doc    = "The balancer sends requests to the service."
  params = { s = service }
  observe "exec" {
    command = ["./lbctl", "status"]
    env     = { WORLD = var.world }
    items   = "body.services"
    object  = "name"
    value   = "in_lb"
  }
}

fluent "drained" {
  doc    = "The service is out of the balancer and its last requests have ended."
  params = { s = service }
  observe "exec" {
    command = ["./lbctl", "status"]
    env     = { WORLD = var.world }
    items   = "body.services"
    object  = "name"
    value   = "!in_lb && requests == 0"
  }
}

fluent "ready" {
  doc    = "The service was started anew while it was out, and is fit to go back."
  params = { s = service }
  observe "exec" {
    command = ["./svcctl", "status"]
    env     = { WORLD = var.world }
    items   = "body.services"
    object  = "name"
    value   = "fresh"
  }
}

fluent "mem_ok" {
  doc    = "The service does not leak."
  params = { s = service }
  observe "exec" {
    command = ["./svcctl", "status"]
    env     = { WORLD = var.world }
    items   = "body.services"
    object  = "name"
    value   = "memory == 'ok'"
  }
}

fluent "version_ok" {
  doc    = "The service is on the version that is wanted."
  params = { s = service }
  observe "exec" {
    command = ["./svcctl", "status"]
    env     = { WORLD = var.world }
    items   = "body.services"
    object  = "name"
    value   = "version == wanted"
  }
}

# The deploy lock is a named lease: the resource that `fettle lease deploy` takes.

fluent "lock_free" {
  doc = "Nobody holds the deploy lock, neither a run nor a person."
  observe "lease" {
    name  = "deploy"
    value = "!held"
  }
}

fluent "lock" {
  doc    = "This run holds the deploy lock, for that service."
  params = { s = service }
  observe "lease" {
    name  = "deploy"
    value = "mine && for == s"
  }
}

# ---- what follows from it, and what must not get worse -----------------------------

fluent "capacity" {
  doc    = "No service is out of the balancer."
  derive = "all(service, in_lb(#))"
}

invariant "one_out" {
  condition = "count(service, !in_lb(#)) <= 1"
  message   = "only one service may be out of the balancer at a time"
}

# ---- what can be done ----------------------------------------------------------------

action "drain" {
  doc          = "Take a service out of the load balancer."
  params       = { s = service }
  precondition = ["capacity", "in_lb(s)"]
  effect {
    add = ["drained(s)"]
    del = ["in_lb(s)"]
  }
  timeout = "5s"
  run "exec" {
    command = ["./lbctl", "drain", s]
    env     = { WORLD = var.world }
  }
}

action "restart" {
  doc          = "Restart a service that gets no requests; cures a leak."
  params       = { s = service }
  precondition = ["drained(s)"]
  effect { add = ["ready(s)", "mem_ok(s)"] }
  timeout = "5s"
  run "exec" {
    command = ["./svcctl", "restart", s]
    env     = { WORLD = var.world }
  }
}

action "take_lock" {
  doc          = "Take the deploy lock, for one service."
  params       = { s = service }
  precondition = ["lock_free"]
  effect {
    add = ["lock(s)"]
    del = ["lock_free"]
  }
  undo    = "release(s)"
  timeout = "5s"
  run "lease" {
    acquire = "deploy"
    for     = s
  }
}

action "revert" {
  doc          = "Put the wanted version back in place of a bad deploy, and start it."
  params       = { s = service }
  precondition = ["drained(s)", "lock(s)"]
  effect { add = ["ready(s)", "version_ok(s)"] }
  timeout = "5s"
  run "exec" {
    command = ["./deployctl", "revert", s]
    env     = { WORLD = var.world }
  }
}

action "readd" {
  doc          = "Put a service that is fit to serve back into the balancer."
  params       = { s = service }
  precondition = ["drained(s)", "ready(s)"]
  effect {
    add = ["in_lb(s)"]
    del = ["drained(s)", "ready(s)"]
  }
  timeout = "5s"
  run "exec" {
    command = ["./lbctl", "add", s]
    env     = { WORLD = var.world }
  }
}

action "release" {
  doc          = "Give the deploy lock back."
  params       = { s = service }
  precondition = ["lock(s)"]
  effect {
    add = ["lock_free"]
    del = ["lock(s)"]
  }
  timeout = "5s"
  run "lease" { release = "deploy" }
}

# ---- what is wanted, and how far a run may go -----------------------------------------

goal "healthy" {
  doc       = "Both services are in the balancer, healthy, on the right version, and the deploy lock is free."
  condition = ["all(service, in_lb(#) && mem_ok(#) && version_ok(#))", "lock_free"]
}

policy {
  mode                 = "approve"
  max_rounds           = 5
  max_attempts         = 3
  max_actions          = 20
  max_calls            = 10  # of language models, see planner.fettle.hcl
  max_cost             = 0.5 # USD, of those calls
  deadline             = "10m"
  max_wait             = "2m" # for others: a person who deploys, another run
  max_repeats          = 2
  same_failure_retries = 3
  no_evidence_rounds   = 3
  max_errors           = 5
}

# What incident.sh sets up, for planning without it.
state "memory-fault-api-deploy-fault-db" {
  facts = ["lock_free", "in_lb(api)", "in_lb(db)", "version_ok(api)", "mem_ok(db)"]
}
