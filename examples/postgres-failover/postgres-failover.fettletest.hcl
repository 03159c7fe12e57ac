# What the model of postgres-failover.fettle.hcl must say of plans. `fettle test --cover
# --mutate` shows which part of it is held by which test.

# ---- whole plans -------------------------------------------------------------------

test "the search isolates pg1, promotes pg3 and lets the others follow" {
  state = "primary-unreachable"
  goal  = "primary_serving"
  expect {
    steps = 6
    state = { write_pool = "pg3", "isolated(pg1)" = true, "upstream(pg2)" = "pg3", "in_reads(pg3)" = false }
  }
}

test "a replica that died meanwhile is isolated too, and pg4 serves reads" {
  facts = [
    "answers(pg2)", "answers(pg4)", "eligible(pg2)", "eligible(pg3)", "isolated(pg1)",
    "caught_up(pg2)", "caught_up(pg4)", "in_reads(pg2)", "in_reads(pg3)",
  ]
  values  = { write_pool = "pg1", "upstream(pg2)" = "pg1", "upstream(pg4)" = "pg1", "lag(pg2)" = 4, "lag(pg4)" = 1 }
  unknown = ["writable(pg1)", "writable(pg3)"]
  goal    = "primary_serving"
  expect {
    steps = 7
    state = { write_pool = "pg2", "isolated(pg3)" = true, "in_reads(pg4)" = true, "in_reads(pg3)" = false }
  }
}

test "the old primary comes back as a replica" {
  state = "primary-unreachable"
  goal  = "rejoined(pg1)"
  expect {
    steps = 5
    state = { "upstream(pg1)" = "pg3", "may_write(pg1)" = false, "in_reads(pg1)" = true }
  }
}

test "no plan is sure while the lag of a candidate is unknown" {
  facts = [
    "answers(pg2)", "answers(pg3)", "eligible(pg2)", "eligible(pg3)", "isolated(pg1)",
    "caught_up(pg2)", "caught_up(pg3)", "in_reads(pg2)", "in_reads(pg3)",
  ]
  values  = { write_pool = "pg1", "upstream(pg2)" = "pg1", "upstream(pg3)" = "pg1", "lag(pg3)" = 1 }
  unknown = ["lag(pg2)"]
  goal    = "primary_serving"
  expect { unobservable = true }
}

test "to do nothing leaves all that is wrong" {
  facts  = ["answers(pg2)", "answers(pg3)", "isolated(pg1)", "in_reads(pg3)"]
  values = { write_pool = "pg1", "upstream(pg2)" = "pg4", "upstream(pg3)" = "pg1" }
  goal   = "primary_serving"
  plan   = []
  expect {
    kind = "goal"
    conditions = [
      "may_write(write_pool)", "!in_reads(pg3) || streams(pg3) && caught_up(pg3)",
      "!answers(pg2) || pg2 == write_pool || streams(pg2)",
    ]
  }
}

test "somebody must serve reads" {
  facts  = ["answers(pg3)", "writable(pg3)"]
  values = { write_pool = "pg3" }
  goal   = "primary_serving"
  plan   = []
  expect {
    kind       = "goal"
    conditions = ["any(server, in_reads(#))"]
  }
}

test "a server that is out has not rejoined" {
  facts = ["isolated(pg1)"]
  goal  = "rejoined(pg1)"
  plan  = []
  expect {
    kind       = "goal"
    conditions = ["streams(pg1)", "caught_up(pg1)", "in_reads(pg1)"]
  }
}

# ---- never two primaries ---------------------------------------------------------------

test "nobody is promoted while pg1 may still be written to" {
  state = "primary-unreachable"
  plan  = ["promote(pg3)"]
  expect {
    kind       = "invariant"
    conditions = ["count(server, may_write(#)) <= 1"]
  }
}

test "nobody is promoted beside a primary" {
  facts  = ["answers(pg1)", "writable(pg1)", "answers(pg3)", "eligible(pg3)"]
  values = { "lag(pg3)" = 0 }
  plan   = ["promote(pg3)"]
  expect {
    kind       = "invariant"
    conditions = ["count(server, may_write(#)) <= 1"]
  }
}

test "where two take writes, nothing more is done" {
  facts = ["answers(pg1)", "writable(pg1)", "answers(pg2)", "writable(pg2)", "in_reads(pg3)", "answers(pg3)"]
  plan  = ["follow(pg3, pg2)"]
  expect {
    kind       = "invariant"
    conditions = ["count(server, answers(#) && may_write(#)) <= 1"]
  }
}

# ---- which replica -----------------------------------------------------------------------

test "the one that lacks least is promoted" {
  state = "primary-unreachable"
  plan  = ["fence(pg1)", "promote(pg2)"]
  expect {
    step       = 2
    kind       = "precondition"
    conditions = ["pg3 == pg2 || !candidate(pg3) || lag(pg2) <= lag(pg3)"]
  }
}

test "one that is not eligible is not promoted, and keeps nobody from it" {
  facts  = ["isolated(pg1)", "answers(pg2)", "answers(pg4)", "eligible(pg2)"]
  values = { "lag(pg2)" = 4, "lag(pg4)" = 0 }
  plan   = ["promote(pg2)", "promote(pg4)"]
  expect {
    step       = 2
    conditions = ["eligible(pg4)"]
  }
}

test "one that lacks too much, or is silent, is not promoted" {
  facts  = ["isolated(pg1)", "eligible(pg2)"]
  values = { "lag(pg2)" = 17 }
  plan   = ["promote(pg2)"]
  expect { conditions = ["answers(pg2)", "lag(pg2) <= 16"] }
}

test "16 MB are not too much" {
  facts  = ["isolated(pg1)", "answers(pg2)", "eligible(pg2)"]
  values = { "lag(pg2)" = 16 }
  plan   = ["promote(pg2)"]
  expect {
    state = { "may_write(pg2)" = true, "candidate(pg2)" = false }
  }
}

test "an unknown lag blocks the promotion" {
  facts   = ["answers(pg2)", "answers(pg3)", "eligible(pg2)", "eligible(pg3)", "isolated(pg1)"]
  values  = { "lag(pg3)" = 1 }
  unknown = ["lag(pg2)"]
  plan    = ["promote(pg2)"]
  expect {
    kind       = "unknown_value"
    conditions = ["lag(pg2) <= 16", "pg3 == pg2 || !candidate(pg3) || lag(pg2) <= lag(pg3)"]
  }
}

test "and that of the others, which may lack less" {
  facts   = ["answers(pg2)", "answers(pg3)", "eligible(pg2)", "eligible(pg3)", "isolated(pg1)"]
  values  = { "lag(pg3)" = 1 }
  unknown = ["lag(pg2)"]
  plan    = ["promote(pg3)"]
  expect {
    kind       = "unknown_value"
    conditions = ["pg2 == pg3 || !candidate(pg2) || lag(pg3) <= lag(pg2)"]
  }
}

# ---- each other action alone ---------------------------------------------------------------

test "fence makes it certain that nobody writes" {
  state = "primary-unreachable"
  plan  = ["fence(pg1)"]
  expect {
    state   = { "isolated(pg1)" = true, "may_write(pg1)" = false }
    unknown = ["writable(pg1)"]
  }
}

test "fence hits no server that answers, and none twice" {
  facts = ["answers(pg2)", "isolated(pg2)"]
  plan  = ["fence(pg2)"]
  expect { conditions = ["!answers(pg2)", "!isolated(pg2)"] }
}

test "point_writes sends writes to the primary" {
  facts  = ["answers(pg3)", "writable(pg3)"]
  values = { write_pool = "pg1" }
  plan   = ["point_writes(pg3)"]
  expect {
    state = { write_pool = "pg3" }
  }
}

test "point_writes needs a primary that is not isolated" {
  facts = ["writable(pg1)", "isolated(pg1)"]
  plan  = ["point_writes(pg1)"]
  expect { conditions = ["may_write(pg1)"] }
}

test "follow lets a replica stream from the primary" {
  facts  = ["answers(pg2)", "answers(pg3)", "writable(pg3)"]
  values = { write_pool = "pg3", "upstream(pg2)" = "pg1" }
  plan   = ["follow(pg2, pg3)"]
  expect {
    state = { "upstream(pg2)" = "pg3", "caught_up(pg2)" = true, "streams(pg2)" = true }
  }
}

test "follow needs a replica that answers, and a primary" {
  facts = []
  plan  = ["follow(pg2, pg3)"]
  expect { conditions = ["answers(pg2)", "may_write(pg3)"] }
}

test "follow makes no replica of a primary" {
  facts = ["answers(pg3)", "writable(pg3)"]
  plan  = ["follow(pg3, pg3)"]
  expect { conditions = ["!writable(pg3)"] }
}

test "add_reads sends reads to a replica" {
  facts  = ["answers(pg2)", "caught_up(pg2)"]
  values = { write_pool = "pg3", "upstream(pg2)" = "pg3" }
  plan   = ["add_reads(pg2)"]
  expect {
    state = { "in_reads(pg2)" = true }
  }
}

test "add_reads needs a replica of the primary that is close behind, once" {
  facts  = ["answers(pg2)", "in_reads(pg2)"]
  values = { write_pool = "pg3", "upstream(pg2)" = "pg1" }
  plan   = ["add_reads(pg2)"]
  expect { conditions = ["!in_reads(pg2)", "streams(pg2)", "caught_up(pg2)"] }
}

test "drop_reads sends a server no more reads" {
  state = "primary-unreachable"
  plan  = ["drop_reads(pg3)"]
  expect {
    state = { "in_reads(pg3)" = false, "in_reads(pg2)" = true }
  }
}

test "drop_reads needs a server that gets them" {
  state = "primary-unreachable"
  plan  = ["drop_reads(pg4)"]
  expect { conditions = ["in_reads(pg4)"] }
}

test "the last one that serves reads stays, whoever else is in the pool" {
  facts = ["answers(pg2)", "in_reads(pg2)", "in_reads(pg3)"]
  plan  = ["drop_reads(pg2)"]
  expect {
    kind       = "invariant"
    conditions = ["any(server, in_reads(#) && answers(#))"]
  }
}

test "rejoin makes a replica of the old primary before it is let back" {
  facts  = ["isolated(pg1)", "writable(pg1)", "answers(pg3)", "writable(pg3)"]
  values = { write_pool = "pg3" }
  plan   = ["rejoin(pg1, pg3)"]
  expect {
    state = {
      "isolated(pg1)" = false, "may_write(pg1)" = false, "answers(pg1)" = true, "caught_up(pg1)" = true
      "upstream(pg1)" = "pg3", "streams(pg1)" = true
    }
  }
}

test "rejoin needs an isolated server, and a primary" {
  facts = []
  plan  = ["rejoin(pg1, pg3)"]
  expect { conditions = ["isolated(pg1)", "may_write(pg3)"] }
}
