# What the model of coordinated.fettle.hcl must say of plans. `fettle test
# --cover --mutate` shows which part of it is held by which test.
#
# No test sees the invariant one_out fail, since no plan can break it: drain
# asks for capacity, which is that nobody is out. It guards the model's next
# author, who may ask drain for less: then "db may not be drained" fails.

# ---- whole plans -----------------------------------------------------------------

test "the search mends both faults in eight steps" {
  state = "memory-fault-api-deploy-fault-db"
  goal  = "healthy"
  expect { steps = 8 }
}

test "db may not be drained while api is out" {
  state = "memory-fault-api-deploy-fault-db"
  plan  = ["drain(api)", "restart(api)", "take_lock(db)", "drain(db)"]
  expect {
    step       = 4
    kind       = "precondition"
    conditions = ["capacity"]
  }
}

test "nothing helps while a person deploys" {
  facts = ["in_lb(api)", "in_lb(db)", "version_ok(api)", "mem_ok(api)", "mem_ok(db)"]
  goal  = "healthy"
  expect { unsolvable = true }
}

test "to do nothing leaves all that is wrong" {
  facts = ["in_lb(db)", "mem_ok(db)", "version_ok(db)"]
  goal  = "healthy"
  plan  = []
  expect {
    kind       = "goal"
    conditions = ["in_lb(api)", "mem_ok(api)", "version_ok(api)", "lock_free"]
  }
}

# ---- what was not observed ---------------------------------------------------------

test "nothing is drained while one service cannot be seen" {
  observed = { "in_lb(api)" = true, lock_free = true }
  plan     = ["drain(api)"]
  expect {
    kind       = "unknown_value"
    conditions = ["capacity"]
  }
}

# ---- each action alone -------------------------------------------------------------

test "drain takes a service out and lets its requests end" {
  facts = ["in_lb(api)", "in_lb(db)"]
  plan  = ["drain(api)"]
  expect {
    state = { "in_lb(api)" = false, "drained(api)" = true, capacity = false }
  }
}

test "drain needs everybody in, the service among them" {
  facts = ["in_lb(db)"]
  plan  = ["drain(api)"]
  expect { conditions = ["capacity", "in_lb(api)"] }
}

test "restart makes a service fit to go back and cures a leak" {
  facts = ["drained(api)"]
  plan  = ["restart(api)"]
  expect {
    state = { "ready(api)" = true, "mem_ok(api)" = true }
  }
}

test "restart needs a service whose last requests have ended" {
  facts = []
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

test "revert puts the wanted version back, and starts it" {
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

test "readd puts a service back" {
  facts = ["in_lb(db)", "drained(api)", "ready(api)"]
  plan  = ["readd(api)"]
  expect {
    state = { "in_lb(api)" = true, "drained(api)" = false, "ready(api)" = false, capacity = true }
  }
}

test "readd needs a service that was started anew while it was out" {
  facts = []
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
