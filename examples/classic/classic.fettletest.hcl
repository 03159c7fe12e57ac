# What the model of classic.fettle.hcl must say of plans. `fettle test --cover
# --mutate` shows that each action, each condition and each effect in it is held
# by a test here.

# ---- whole plans -------------------------------------------------------------

test "the search mends both faults in eight steps" {
  state = "fault"
  goal  = "healthy"
  expect {
    steps = 8
    cost  = 8
  }
}

test "this is such a plan" {
  state = "fault"
  goal  = "healthy"
  plan  = <<-EOT
    drain(api)
    restart(api)
    take_lock(db)
    readd(api)
    drain(db)
    revert(db)
    readd(db)
    release(db)
  EOT
  expect { valid = true }
}

test "db may not be drained while api is out" {
  state = "fault"
  goal  = "healthy"
  plan = [
    "drain(api)", "restart(api)", "take_lock(db)", "drain(db)", "readd(api)",
    "revert(db)", "readd(db)", "release(db)",
  ]
  expect {
    step       = 4
    kind       = "precondition"
    conditions = ["capacity"]
  }
}

test "nothing helps while somebody else keeps the lock" {
  facts = ["capacity", "in_lb(api)", "in_lb(db)", "version_ok(api)", "mem_ok(api)", "mem_ok(db)"]
  goal  = "healthy"
  expect { unsolvable = true }
}

test "to do nothing leaves all that is wrong" {
  facts = []
  goal  = "healthy"
  plan  = []
  expect {
    kind = "goal"
    conditions = [
      "in_lb(api)", "mem_ok(api)", "version_ok(api)",
      "in_lb(db)", "mem_ok(db)", "version_ok(db)", "lock_free",
    ]
  }
}

# ---- each action alone ---------------------------------------------------------

test "drain takes a service out, and the capacity with it" {
  facts = ["capacity", "in_lb(api)"]
  plan  = ["drain(api)"]
  expect {
    state = { "drained(api)" = true, "in_lb(api)" = false, capacity = false }
  }
}

test "drain needs a service that is in the balancer" {
  facts = ["capacity", "in_lb(db)"]
  plan  = ["drain(api)"]
  expect {
    kind       = "precondition"
    conditions = ["in_lb(api)"]
  }
}

test "restart makes a service ready and cures a leak" {
  facts = ["drained(api)"]
  plan  = ["restart(api)"]
  expect {
    state = { "ready(api)" = true, "mem_ok(api)" = true }
  }
}

test "restart needs a service that is drained" {
  facts = ["in_lb(api)", "drained(db)"]
  plan  = ["restart(api)"]
  expect { conditions = ["drained(api)"] }
}

test "take_lock takes the lock from everybody else" {
  facts = ["lock_free"]
  plan  = ["take_lock(api)", "take_lock(db)"]
  expect {
    step       = 2
    conditions = ["lock_free"]
    state      = { "lock(api)" = true, "lock(db)" = false }
  }
}

test "revert puts the version back and makes a service ready" {
  facts = ["drained(db)", "lock(db)"]
  plan  = ["revert(db)"]
  expect {
    state = { "ready(db)" = true, "version_ok(db)" = true, "mem_ok(db)" = false }
  }
}

test "revert needs the service drained and the lock for it" {
  facts = ["drained(api)", "lock(api)"]
  plan  = ["revert(db)"]
  expect { conditions = ["drained(db)", "lock(db)"] }
}

test "readd puts a service back, and the capacity with it" {
  facts = ["drained(api)", "ready(api)"]
  plan  = ["readd(api)"]
  expect {
    state = { capacity = true, "in_lb(api)" = true, "drained(api)" = false, "ready(api)" = false }
  }
}

test "readd needs a service that is drained and ready" {
  facts = ["drained(db)", "ready(db)"]
  plan  = ["readd(api)"]
  expect { conditions = ["drained(api)", "ready(api)"] }
}

test "release gives the lock back" {
  facts = ["lock(db)"]
  plan  = ["release(db)"]
  expect {
    state = { lock_free = true, "lock(db)" = false }
  }
}

test "release needs the lock" {
  facts = ["lock(api)"]
  plan  = ["release(db)"]
  expect { conditions = ["lock(db)"] }
}
