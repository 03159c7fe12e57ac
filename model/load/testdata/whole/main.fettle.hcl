type "service" { objects = ["api", "db"] }

fluent "capacity"   { doc = "no service is out of the balancer" }       # bool unless `type` says otherwise
fluent "lock_free"  {}
fluent "in_lb"      { params = { s = service } }
fluent "drained"    { params = { s = service } }
fluent "ready"      { params = { s = service } }
fluent "mem_ok"     { params = { s = service } }
fluent "version_ok" { params = { s = service } }
fluent "lock"       { params = { s = service } }

action "drain" {
  doc          = "Take a service out of the load balancer."
  params       = { s = service }
  precondition = ["capacity", "in_lb(s)"]
  effect {
    add = ["drained(s)"]
    del = ["capacity", "in_lb(s)"]
  }
  run "exec" { command = ["./lbctl", "drain", s] }
}
action "restart" {
  params       = { s = service }
  precondition = ["drained(s)"]
  effect { add = ["ready(s)", "mem_ok(s)"] }
  run "exec" { command = ["./svcctl", "restart", s] }
}
action "take_lock" {
  params       = { s = service }
  precondition = ["lock_free"]
  effect {
    add = ["lock(s)"]
    del = ["lock_free"]
  }
  run "lease" {
    acquire = "deploy"
    for     = s
  }
}
action "revert" {
  params       = { s = service }
  precondition = ["drained(s)", "lock(s)"]
  effect { add = ["ready(s)", "version_ok(s)"] }
  run "exec" { command = ["./deployctl", "revert", s] }
}
action "readd" {
  params       = { s = service }
  precondition = ["drained(s)", "ready(s)"]
  effect {
    add = ["capacity", "in_lb(s)"]
    del = ["drained(s)", "ready(s)"]
  }
  run "exec" { command = ["./lbctl", "add", s] }
}
action "release" {
  params       = { s = service }
  precondition = ["lock(s)"]
  effect {
    add = ["lock_free"]
    del = ["lock(s)"]
  }
  run "lease" { release = "deploy" }
}

state "memory-fault-api-deploy-fault-db" {        # closed world: a bool not listed is false
  facts = ["capacity", "lock_free", "in_lb(api)", "in_lb(db)", "version_ok(api)", "mem_ok(db)"]
}

goal "healthy" {
  doc       = "Both services are in the balancer, healthy, on the right version, and the deploy lock is free."
  condition = ["all(service, in_lb(#) && mem_ok(#) && version_ok(#))", "lock_free"]
}
