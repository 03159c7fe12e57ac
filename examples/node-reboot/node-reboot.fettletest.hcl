# What the model of node-reboot.fettle.hcl must say of plans. `fettle test --cover
# --mutate` shows which part of it is held by which test. Its nodes are those that a
# test's state names, with what makes them a worker (places) or a member of etcd.

# ---- whole plans -------------------------------------------------------------------

test "the search reboots four nodes, one after the other" {
  doc   = "Four steps for a worker; a control-plane node has no pods to evict."
  state = "new-kernel"
  goal  = "patched"
  expect { steps = 14 }
}

test "one node of the control plane waits for all workers" {
  state = "new-kernel"
  goal  = "rebooted(cp1)"
  expect { steps = 11 }
}

test "one worker waits for nobody" {
  state = "new-kernel"
  goal  = "rebooted(w1)"
  expect { steps = 4 }
}

test "to do nothing leaves all that is wrong" {
  facts  = ["ready(cp1)", "ready(w1)", "member(cp2)", "ready(cp2)", "current(cp2)", "cordoned(w1)"]
  values = { pods = 0, "places(w1)" = 6, "member(cp1)" = false }
  goal   = "patched"
  plan   = []
  expect {
    kind       = "goal"
    conditions = ["current(cp1)", "member(cp1)", "current(w1)", "serving(w1)"]
  }
}

test "a node that is merely cordoned has not been rebooted" {
  facts  = ["cordoned(w1)", "ready(w1)"]
  values = { pods = 0, "places(w1)" = 6 }
  goal   = "rebooted(w1)"
  plan   = []
  expect {
    kind       = "goal"
    conditions = ["current(w1)", "serving(w1)"]
  }
}

# ---- never two nodes, always room, always a quorum -----------------------------------

test "a second node stays in while one is out" {
  state = "new-kernel"
  plan  = ["cordon(w1)", "cordon(w2)"]
  expect {
    step       = 2
    kind       = "invariant"
    conditions = ["count(node, !serving(#)) <= 1"]
  }
}

test "a node that died is the one that is out" {
  facts  = ["ready(w2)", "ready(w3)", "ready(w4)", "current(w3)", "current(w4)"]
  values = { pods = 10, "places(w1)" = 6, "places(w2)" = 6, "places(w3)" = 6, "places(w4)" = 6 }
  plan   = ["cordon(w2)"]
  expect {
    kind       = "invariant"
    conditions = ["count(node, !serving(#)) <= 1"]
  }
}

test "and may itself be taken out and rebooted" {
  facts  = ["ready(w2)", "ready(w3)", "current(w2)", "current(w3)", "member(cp1)"]
  values = { pods = 10, "places(w1)" = 6, "places(w2)" = 6, "places(w3)" = 6 }
  goal   = "rebooted(w1)"
  expect { steps = 4 }
}

test "no node goes whose pods have nowhere to go" {
  facts  = ["ready(w1)", "ready(w2)", "ready(w3)"]
  values = { pods = 13, "places(w1)" = 6, "places(w2)" = 6, "places(w3)" = 6 }
  plan   = ["cordon(w1)"]
  expect {
    kind       = "invariant"
    conditions = ["room"]
  }
}

test "no member goes that etcd needs for its quorum" {
  facts  = ["ready(cp1)", "ready(cp2)", "ready(cp3)", "member(cp1)", "member(cp3)"]
  values = { pods = 0, "member(cp2)" = false }
  plan   = ["cordon(cp1)"]
  expect {
    kind       = "invariant"
    conditions = ["quorum"]
  }
}

# ---- what was not observed -------------------------------------------------------------

test "nothing is rebooted while etcd is silent about one of two members" {
  facts   = ["cordoned(w1)", "empty(w1)", "member(cp2)"]
  values  = { "places(w1)" = 6 }
  unknown = ["member(cp1)"]
  plan    = ["reboot(w1)"]
  expect {
    kind       = "unknown_value"
    conditions = ["quorum"]
  }
}

# ---- each action alone -------------------------------------------------------------------

test "cordon takes a node out" {
  state = "new-kernel"
  plan  = ["cordon(w1)"]
  expect {
    state = { "cordoned(w1)" = true, "serving(w1)" = false }
  }
}

test "cordon disturbs no node that needs no reboot" {
  state = "new-kernel"
  plan  = ["cordon(w3)"]
  expect { conditions = ["!current(w3)"] }
}

test "cordon needs a node that takes pods" {
  facts  = ["cordoned(w1)"]
  values = { pods = 0, "places(w1)" = 6 }
  plan   = ["cordon(w1)"]
  expect { conditions = ["!cordoned(w1)"] }
}

test "the control plane comes last" {
  state = "new-kernel"
  plan  = ["cordon(cp1)"]
  expect { conditions = ["cp1 in worker || all(worker, current(#))"] }
}

test "drain empties a cordoned node" {
  facts  = ["cordoned(w1)", "ready(w2)"]
  values = { pods = 6, "places(w1)" = 6, "places(w2)" = 6 }
  plan   = ["drain(w1)"]
  expect {
    state = { "empty(w1)" = true }
  }
}

test "drain needs a cordoned node, and room elsewhere" {
  facts  = ["ready(w1)"]
  values = { pods = 7, "places(w1)" = 6 }
  plan   = ["drain(w1)"]
  expect { conditions = ["cordoned(w1)", "room"] }
}

test "reboot brings a node back with the new kernel, and its member with it" {
  facts  = ["member(cp1)", "member(cp3)", "cordoned(cp2)", "empty(cp2)"]
  values = { "member(cp2)" = false }
  plan   = ["reboot(cp2)"]
  expect {
    state = { "current(cp2)" = true, "ready(cp2)" = true, "member(cp2)" = true, "cordoned(cp2)" = true }
  }
}

test "reboot mends no other member" {
  facts  = ["member(cp1)", "member(cp2)", "cordoned(w1)", "empty(w1)"]
  values = { pods = 0, "places(w1)" = 6, "member(cp3)" = false }
  plan   = ["reboot(w1)"]
  expect {
    state = { "member(cp3)" = false }
  }
}

test "reboot needs a node that is cordoned and empty" {
  facts = ["member(cp1)", "ready(cp1)"]
  plan  = ["reboot(cp1)"]
  expect { conditions = ["cordoned(cp1)", "empty(cp1)"] }
}

test "reboot needs etcd's quorum, be it lost by another's fault" {
  facts  = ["member(cp1)", "member(cp3)", "cordoned(cp1)", "empty(cp1)"]
  values = { "member(cp2)" = false }
  plan   = ["reboot(cp1)"]
  expect { conditions = ["quorum"] }
}

test "uncordon lets a node take pods again" {
  facts  = ["cordoned(w1)", "ready(w1)"]
  values = { pods = 0, "places(w1)" = 6 }
  plan   = ["uncordon(w1)"]
  expect {
    state = { "cordoned(w1)" = false, "serving(w1)" = true }
  }
}

test "uncordon needs a cordoned node that is back" {
  facts  = ["current(w1)"]
  values = { pods = 0, "places(w1)" = 6 }
  plan   = ["uncordon(w1)"]
  expect { conditions = ["cordoned(w1)", "ready(w1)"] }
}
