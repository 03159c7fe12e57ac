# Failover of a PostgreSQL cluster whose primary cannot be reached. It may be dead, or
# merely cut off and still be written to: it is isolated before another is promoted.
# The cluster is acted out with files, see incident.sh.

model {
  scope = "postgres-failover"
  doc   = "A primary, two replicas that may take over, one for reports, and a pooler in front of them."
}

variable "world" {
  default     = "world"
  description = "Folder in which the cluster is acted out; relative to the model's folder."
}

type "server" { objects = ["pg1", "pg2", "pg3", "pg4"] }

# ---- what the servers say; of one that does not answer it is not known ----------------

fluent "answers" {
  doc    = "The server answers queries."
  params = { s = server }
  observe "exec" {
    command = ["./pgctl", "status"]
    env     = { WORLD = var.world }
    items   = "body.servers"
    object  = "name"
    value   = "answers"
  }
}

fluent "writable" {
  doc    = "The server is not in recovery: it takes writes from whoever reaches it."
  params = { s = server }
  observe "exec" {
    command = ["./pgctl", "status"]
    env     = { WORLD = var.world }
    items   = "body.servers"
    object  = "name"
    value   = "accepts_writes"
  }
}

fluent "upstream" {
  doc    = "The server from which the replica streams."
  params = { s = server }
  type   = server
  observe "exec" {
    command = ["./pgctl", "status"]
    env     = { WORLD = var.world }
    items   = "body.servers"
    object  = "name"
    value   = "upstream"
  }
}

fluent "lag" {
  doc    = "MB of WAL that the last primary is known to have written and the server lacks."
  params = { s = server }
  type   = number
  observe "exec" {
    command = ["./pgctl", "status"]
    env     = { WORLD = var.world }
    items   = "body.servers"
    object  = "name"
    value   = "lag_mb"
  }
}

fluent "caught_up" {
  doc    = "The replica is close enough behind to serve reads."
  params = { s = server }
  observe "exec" {
    command = ["./pgctl", "status"]
    env     = { WORLD = var.world }
    items   = "body.servers"
    object  = "name"
    value   = "lag_mb <= 16"
  }
}

fluent "eligible" {
  doc    = "The server may become primary: it has no nofailover tag."
  params = { s = server }
  observe "exec" {
    command = ["./pgctl", "status"]
    env     = { WORLD = var.world }
    items   = "body.servers"
    object  = "name"
    value   = "!nofailover"
  }
}

# ---- what the switch and the pooler say --------------------------------------------------

fluent "isolated" {
  doc    = "The switch keeps the server from clients and other servers."
  params = { s = server }
  observe "exec" {
    command = ["./fencectl", "status"]
    env     = { WORLD = var.world }
    items   = "body.ports"
    object  = "server"
    value   = "isolated"
  }
}

fluent "write_pool" {
  doc  = "The server to which the pooler sends what writes."
  type = server
  observe "exec" {
    command = ["./poolctl", "status"]
    env     = { WORLD = var.world }
    value   = "body.writes"
  }
}

fluent "in_reads" {
  doc    = "The pooler sends reads to the server."
  params = { s = server }
  observe "exec" {
    command = ["./poolctl", "status"]
    env     = { WORLD = var.world }
    items   = "body.reads"
    object  = "server"
    value   = "enabled"
  }
}

# ---- what follows from it, and what must not get worse -------------------------------------

fluent "may_write" {
  doc    = "Somebody may be writing to the server. Of an isolated one this is false, whatever it does."
  params = { s = server }
  derive = "!isolated(s) && writable(s)"
}

fluent "candidate" {
  doc    = "A replica that could be promoted."
  params = { s = server }
  derive = "answers(s) && eligible(s) && !writable(s)"
}

fluent "streams" {
  doc    = "The server is a replica of the one to which writes go."
  params = { s = server }
  derive = "answers(s) && !writable(s) && upstream(s) == write_pool"
}

invariant "one_primary" {
  condition = "count(server, may_write(#)) <= 1"
  message   = "never two primaries: a server that may be written to must be isolated before another is promoted"
}

invariant "no_split_brain" {
  condition = "count(server, answers(#) && may_write(#)) <= 1"
  message   = "nothing is done while two servers are seen to take writes"
  strict    = true
}

invariant "reads_served" {
  condition = "any(server, in_reads(#) && answers(#))"
  message   = "some server that answers must serve reads"
}

# ---- what can be done --------------------------------------------------------------------------

action "fence" {
  doc          = "Isolate a server that does not answer, so that nobody can write to it any more."
  params       = { s = server }
  precondition = ["!answers(s)", "!isolated(s)"]
  effect { add = ["isolated(s)"] }
  risk       = "high"
  reversible = false # only as a replica may it come back, see rejoin
  timeout    = "10s"
  run "exec" {
    command = ["./fencectl", "isolate", s]
    env     = { WORLD = var.world }
    fence {
      command = ["./fencectl", "fence", s]
      env     = { WORLD = var.world }
      reject  = [75]
    }
  }
}

action "promote" {
  doc    = "Make the replica that lacks least the primary; one_primary keeps it back while another may be written to."
  params = { s = server }
  precondition = [
    "eligible(s)", "answers(s)", "lag(s) <= 16",
    "all(server, # == s || !candidate(#) || lag(s) <= lag(#))",
  ]
  effect { add = ["writable(s)"] }
  risk       = "high"
  reversible = false
  timeout    = "10s"
  run "exec" {
    command = ["./pgctl", "promote", s]
    env     = { WORLD = var.world }
    fence {
      command = ["./pgctl", "fence", s]
      env     = { WORLD = var.world }
      reject  = [75]
    }
  }
}

action "point_writes" {
  doc          = "Send writes to the primary."
  params       = { s = server }
  precondition = ["may_write(s)"]
  effect { set = { "write_pool" = "s" } }
  risk    = "medium"
  timeout = "10s"
  run "exec" {
    command = ["./poolctl", "writes", s]
    env     = { WORLD = var.world }
    fence {
      command = ["./poolctl", "fence"]
      env     = { WORLD = var.world }
      reject  = [75]
    }
  }
}

action "follow" {
  doc          = "Let a replica stream from the primary."
  params       = { s = server, p = server }
  precondition = ["answers(s)", "!writable(s)", "may_write(p)"]
  effect {
    set = { "upstream(s)" = "p" }
    add = ["caught_up(s)"]
  }
  risk    = "medium"
  timeout = "10s"
  settle { timeout = "2m" }
  run "exec" {
    command = ["./pgctl", "follow", s, p]
    env     = { WORLD = var.world }
    fence {
      command = ["./pgctl", "fence", s]
      env     = { WORLD = var.world }
      reject  = [75]
    }
  }
}

action "add_reads" {
  doc          = "Send reads to a replica of the primary."
  params       = { s = server }
  precondition = ["!in_reads(s)", "streams(s)", "caught_up(s)"]
  effect { add = ["in_reads(s)"] }
  risk    = "low"
  undo    = "drop_reads(s)"
  timeout = "10s"
  run "exec" {
    command = ["./poolctl", "add", s]
    env     = { WORLD = var.world }
    fence {
      command = ["./poolctl", "fence"]
      env     = { WORLD = var.world }
      reject  = [75]
    }
  }
}

action "drop_reads" {
  doc          = "Send no more reads to a server."
  params       = { s = server }
  precondition = ["in_reads(s)"]
  effect { del = ["in_reads(s)"] }
  risk    = "low"
  timeout = "10s"
  run "exec" {
    command = ["./poolctl", "drop", s]
    env     = { WORLD = var.world }
    fence {
      command = ["./poolctl", "fence"]
      env     = { WORLD = var.world }
      reject  = [75]
    }
  }
}

action "rejoin" {
  doc          = "Rewind an isolated server, which loses what only it has, and let it back as a replica."
  params       = { s = server, p = server }
  precondition = ["isolated(s)", "may_write(p)"]
  effect {
    add = ["answers(s)", "caught_up(s)"]
    del = ["isolated(s)", "writable(s)"]
    set = { "upstream(s)" = "p" }
  }
  cost       = 10 # never merely because it is short
  risk       = "high"
  reversible = false
  timeout    = "12s" # within a lease's time
  settle { timeout = "2m" }
  run "exec" {
    command = ["./pgctl", "rejoin", s, p]
    env     = { WORLD = var.world }
    fence {
      command = ["./pgctl", "fence", s]
      env     = { WORLD = var.world }
      reject  = [75]
    }
  }
}

# ---- what is wanted, and how far a run may go ------------------------------------------------------

goal "primary_serving" {
  doc = "writes go to the one primary, reads to replicas of it, and no server that answers is left behind"
  condition = [
    "may_write(write_pool)", "any(server, in_reads(#))",
    "all(server, !in_reads(#) || streams(#) && caught_up(#))",
    "all(server, !answers(#) || # == write_pool || streams(#))",
  ]
}

goal "rejoined" {
  doc       = "the server is a replica of the primary and serves reads"
  params    = { s = server }
  condition = ["streams(s)", "caught_up(s)", "in_reads(s)"]
}

policy {
  mode                 = "approve"
  max_rounds           = 4
  max_attempts         = 3
  max_plan_steps       = 20
  max_actions          = 20
  deadline             = "30m"
  max_wait             = "1m"
  max_repeats          = 2
  same_failure_retries = 2
  no_evidence_rounds   = 2
  max_errors           = 5
}

# What incident.sh sets up, for planning without it.
state "primary-unreachable" {
  facts = [
    "answers(pg2)", "answers(pg3)", "answers(pg4)", "eligible(pg1)", "eligible(pg2)", "eligible(pg3)",
    "caught_up(pg2)", "caught_up(pg3)", "caught_up(pg4)", "in_reads(pg2)", "in_reads(pg3)",
  ]
  values = {
    write_pool = "pg1", "upstream(pg2)" = "pg1", "upstream(pg3)" = "pg1", "upstream(pg4)" = "pg1"
    "lag(pg2)" = 4, "lag(pg3)" = 1, "lag(pg4)" = 1
  }
  unknown = ["writable(pg1)", "caught_up(pg1)"]
}
