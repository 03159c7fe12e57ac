# What the model of fleet.fettle.hcl must say of plans. `fettle test --cover
# --mutate` shows which part of it is held by which test.
#
# No test sees the invariant one_out fail, since no plan can break it: drain
# asks for capacity, which is that nobody is out. It guards the model's next
# author, who may ask drain for less: then "a second service stays in" fails.

# ---- whole plans ---------------------------------------------------------------

test "the search mends both faults in eight steps" {
  state = "leak-on-api-bad-version-on-db"
  goal  = "healthy"
  expect { steps = 8 }
}

test "a second service stays in while one is out" {
  state = "leak-on-api-bad-version-on-db"
  plan  = ["drain(api)", "drain(db)"]
  expect {
    step       = 2
    kind       = "precondition"
    conditions = ["capacity"]
  }
}

test "a service that is out already does not keep the fleet from being mended" {
  facts = [
    "in_lb(db)", "in_lb(web)", "in_lb(worker)",
    "up(db)", "up(web)", "up(worker)",
    "mem_ok(db)", "mem_ok(web)", "mem_ok(worker)",
    "version_ok(api)", "version_ok(db)", "version_ok(web)", "version_ok(worker)",
  ]
  goal = "healthy"
  expect { steps = 2 }
}

test "to do nothing leaves all that is wrong" {
  facts = [
    "in_lb(db)", "in_lb(web)", "in_lb(worker)",
    "up(db)", "up(web)", "up(worker)",
    "mem_ok(db)", "mem_ok(web)", "mem_ok(worker)",
    "version_ok(db)", "version_ok(web)", "version_ok(worker)",
    "lock(web)",
  ]
  goal = "healthy"
  plan = []
  expect {
    kind       = "goal"
    conditions = ["in_lb(api)", "up(api)", "mem_ok(api)", "version_ok(api)", "lock_free"]
  }
}

# ---- what was not observed -------------------------------------------------------

test "nothing is drained while the balancer is silent about one service" {
  observed = { "in_lb(api)" = true, "in_lb(db)" = true, "in_lb(web)" = true }
  plan     = ["drain(api)"]
  expect {
    kind       = "unknown_value"
    conditions = ["capacity"]
  }
}

test "no plan is sure while the fleet is silent" {
  observed = {}
  goal     = "healthy"
  expect { unobservable = true }
}

# ---- each action alone -----------------------------------------------------------

test "drain takes a service out" {
  facts = ["in_lb(api)", "in_lb(db)", "in_lb(web)", "in_lb(worker)"]
  plan  = ["drain(api)"]
  expect {
    state = { "in_lb(api)" = false, capacity = false }
  }
}

test "drain needs everybody in, the service among them" {
  facts = ["in_lb(db)", "in_lb(web)", "in_lb(worker)"]
  plan  = ["drain(api)"]
  expect { conditions = ["capacity", "in_lb(api)"] }
}

test "restart gets a service up and cures a leak" {
  facts = []
  plan  = ["restart(api)"]
  expect {
    state = { "up(api)" = true, "mem_ok(api)" = true, "version_ok(api)" = false }
  }
}

test "restart needs a service that is out" {
  facts = ["in_lb(api)"]
  plan  = ["restart(api)"]
  expect { conditions = ["!in_lb(api)"] }
}

test "take_lock takes the lock from everybody else" {
  facts = []
  plan  = ["take_lock(api)", "take_lock(db)"]
  expect {
    step       = 2
    conditions = ["lock_free"]
    state      = { "lock(api)" = true, "lock(db)" = false }
  }
}

test "revert puts the wanted version back, and starts it" {
  facts = ["lock(db)"]
  plan  = ["revert(db)"]
  expect {
    state = { "version_ok(db)" = true, "up(db)" = true, "mem_ok(db)" = true }
  }
}

test "revert needs a service that is out, the lock, and a bad version" {
  facts = ["in_lb(db)", "version_ok(db)"]
  plan  = ["revert(db)"]
  expect { conditions = ["!in_lb(db)", "lock(db)", "!version_ok(db)"] }
}

test "readd puts a service back that is fit to serve" {
  facts = ["up(api)", "mem_ok(api)", "version_ok(api)"]
  plan  = ["readd(api)"]
  expect {
    state = { "in_lb(api)" = true }
  }
}

test "readd needs a service that is fit to serve" {
  facts = []
  plan  = ["readd(api)"]
  expect { conditions = ["up(api)", "mem_ok(api)", "version_ok(api)"] }
}

test "readd needs a service that is out" {
  facts = ["in_lb(api)", "up(api)", "mem_ok(api)", "version_ok(api)"]
  plan  = ["readd(api)"]
  expect { conditions = ["!in_lb(api)"] }
}

test "release gives the lock back" {
  facts = ["lock(db)"]
  plan  = ["release(db)"]
  expect {
    state = { "lock(db)" = false, lock_free = true }
  }
}

test "release needs the lock" {
  facts = ["lock(api)"]
  plan  = ["release(db)"]
  expect { conditions = ["lock(db)"] }
}
