# A first model: two services behind a balancer, acted out with folders, so that
# everything can be tried without harm. A service is in the pool where the
# folder pool/NAME exists, and fresh where fresh/NAME does.
#
#   fettle check     is the model sound?
#   fettle plan      what would be done from the state written below?
#   fettle run       observe, plan, ask, carry out, observe again

type "service" { objects = ["api", "web"] }

# ---- what is observed: fluents, bool unless they say otherwise --------------

fluent "in_pool" {
  doc    = "The balancer sends requests to the service."
  params = { s = service }
  observe "exec" {
    command = ["test", "-d", "pool/${s}"] # a program and its arguments; no shell
    value   = "exit_code == 0"
  }
}

fluent "fresh" {
  doc    = "The service was restarted and answers."
  params = { s = service }
  observe "exec" {
    command = ["test", "-d", "fresh/${s}"]
    value   = "exit_code == 0"
  }
}

# ---- what must not get worse -------------------------------------------------

invariant "one_out" {
  condition = "count(service, !in_pool(#)) <= 1"
  message   = "only one service may be out of the pool at a time"
}

# ---- what can be done ----------------------------------------------------------

action "drain" {
  doc          = "Take a service out of the pool."
  params       = { s = service }
  precondition = ["all(service, in_pool(#))"]
  effect { del = ["in_pool(s)"] }
  undo    = "admit(s)"
  timeout = "10s" # within a lease's time, so that the action is protected by it
  run "exec" { command = ["rmdir", "pool/${s}"] }
}

action "restart" {
  doc          = "Restart a service that gets no requests."
  params       = { s = service }
  precondition = ["!in_pool(s)"]
  effect { add = ["fresh(s)"] }
  risk    = "low"
  timeout = "10s"
  run "exec" { command = ["mkdir", "-p", "fresh/${s}"] }
}

action "admit" {
  doc          = "Put a fresh service into the pool."
  params       = { s = service }
  precondition = ["fresh(s)", "!in_pool(s)"]
  effect { add = ["in_pool(s)"] }
  undo    = "drain(s)"
  timeout = "10s"
  run "exec" { command = ["mkdir", "-p", "pool/${s}"] }
}

# ---- what is wanted --------------------------------------------------------------

goal "healthy" {
  doc       = "every service is fresh and in the pool"
  condition = ["all(service, fresh(#) && in_pool(#))"]
}

# ---- how far a run may go: nothing else limits it --------------------------------

policy {
  mode                 = "approve" # suggest: never act; approve: ask; auto: by the rules
  max_rounds           = 3         # plannings, each followed by its execution
  max_attempts         = 3         # proposals within a round
  max_actions          = 20        # over the whole run
  deadline             = "10m"
  max_repeats          = 2 # how often one plan may be tried from one state
  same_failure_retries = 2 # equal failures in a row
  no_evidence_rounds   = 2 # rounds in which nothing was learned
  max_errors           = 5 # infrastructure errors that a run survives
}

# For planning without looking at the world: what is not listed is false.
state "one-stale" {
  facts = ["in_pool(api)", "in_pool(web)", "fresh(api)"]
}
