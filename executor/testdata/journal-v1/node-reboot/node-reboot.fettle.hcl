# A rolling reboot of a small Kubernetes cluster onto a new kernel: one node at a
# time, emptied first, the control plane last, and etcd never without its quorum.
# The cluster is acted out with files, see incident.sh; the commands and the JSON
# are those of kubectl and etcdctl.

model {
  scope = "node-reboot"
  doc   = "Three control-plane nodes with etcd and three workers, some of which run an old kernel."
}

variable "world" {
  default     = "world"
  description = "Folder in which the cluster is acted out; relative to the model's folder."
}

variable "boot_time" {
  default     = "2m"
  description = "How long a node may take to come back."
}

# ---- the nodes, as the cluster knows them ------------------------------------------

type "node" {
  discover "exec" {
    command = ["./kubectl", "get", "nodes", "-o", "json"]
    env     = { WORLD = var.world }
    items   = "body.items"
    object  = "metadata.name"
  }
}

type "control_plane" {
  parent = node
  discover "exec" {
    command = ["./kubectl", "get", "nodes", "-o", "json"]
    env     = { WORLD = var.world }
    items   = "filter(body.items, 'node-role.kubernetes.io/control-plane' in #.metadata.labels)"
    object  = "metadata.name"
  }
}

type "worker" {
  parent = node
  discover "exec" {
    command = ["./kubectl", "get", "nodes", "-o", "json"]
    env     = { WORLD = var.world }
    items   = "filter(body.items, !('node-role.kubernetes.io/control-plane' in #.metadata.labels))"
    object  = "metadata.name"
  }
}

# ---- what is observed ------------------------------------------------------------------

fluent "current" {
  doc    = "The node runs the kernel that is installed on it."
  params = { n = node }
  observe "exec" {
    command = ["./kubectl", "get", "nodes", "-o", "json"]
    env     = { WORLD = var.world }
    items   = "body.items"
    object  = "metadata.name"
    value   = "status.nodeInfo.kernelVersion == metadata.annotations['example.org/installed-kernel']"
  }
}

fluent "ready" {
  doc    = "The node's kubelet reports Ready."
  params = { n = node }
  observe "exec" {
    command = ["./kubectl", "get", "nodes", "-o", "json"]
    env     = { WORLD = var.world }
    items   = "body.items"
    object  = "metadata.name"
    value   = "any(status.conditions, #.type == 'Ready' && #.status == 'True')"
  }
}

fluent "cordoned" {
  doc    = "No new pods are placed on the node."
  params = { n = node }
  observe "exec" {
    command = ["./kubectl", "get", "nodes", "-o", "json"]
    env     = { WORLD = var.world }
    items   = "body.items"
    object  = "metadata.name"
    value   = "item.spec.unschedulable ?? false"
  }
}

fluent "empty" {
  doc    = "No pod runs on the node but those of daemon sets."
  params = { n = node }
  observe "exec" {
    command = ["./kubectl", "get", "pods", "-A", "-o", "json", "--field-selector", "spec.nodeName=${n}"]
    env     = { WORLD = var.world }
    value   = "all(body.items, any(#.metadata.ownerReferences, #.kind == 'DaemonSet'))"
  }
}

fluent "pods" {
  doc  = "How many pods need a place on some worker."
  type = number
  observe "exec" {
    command = ["./kubectl", "get", "pods", "-A", "-o", "json"]
    env     = { WORLD = var.world }
    value   = "count(body.items, none(#.metadata.ownerReferences, #.kind == 'DaemonSet'))"
  }
}

fluent "places" {
  doc    = "How many pods the worker can take."
  type   = number
  params = { w = worker }
  observe "exec" {
    command = ["./kubectl", "get", "nodes", "-o", "json"]
    env     = { WORLD = var.world }
    items   = "body.items"
    object  = "metadata.name"
    value   = "int(status.allocatable.pods)"
  }
}

fluent "member" {
  doc    = "The node's etcd member is healthy."
  params = { c = control_plane }
  observe "exec" {
    command = ["./etcdctl", "endpoint", "health", "--cluster", "-w", "json"]
    env     = { WORLD = var.world }
    items   = "body"
    object  = "trimSuffix(trimPrefix(endpoint, 'https://'), ':2379')"
    value   = "exit_code <= 1 && health"
  }
}

# ---- what follows from it, and what must not get worse -----------------------------------

fluent "serving" {
  doc    = "The node is Ready and takes pods."
  params = { n = node }
  derive = "ready(n) && !cordoned(n)"
}

fluent "room" {
  doc    = "The workers that serve have places for all pods."
  derive = "sum(worker, serving(#) ? places(#) : 0) >= pods"
}

fluent "quorum" {
  doc    = "etcd keeps its quorum without the members whose nodes are cordoned, any of which may reboot."
  derive = "2 * count(control_plane, member(#) && !cordoned(#)) > len(control_plane)"
}

invariant "one_out" {
  condition = "count(node, !serving(#)) <= 1"
  message   = "only one node may be out at a time"
}

invariant "room_for_all" {
  condition = "room"
  message   = "all pods must find a place on the workers that are left"
}

invariant "quorum_kept" {
  condition = "quorum"
  message   = "etcd must keep its quorum without the nodes that are cordoned"
}

# ---- what can be done ------------------------------------------------------------------------

action "cordon" {
  doc          = "Place no new pods on a node that needs a reboot; the control plane's turn comes last."
  params       = { n = node }
  precondition = ["!cordoned(n)", "!current(n)", "n in worker || all(worker, current(#))"]
  effect { add = ["cordoned(n)"] }
  risk    = "low"
  undo    = "uncordon(n)"
  locks   = ["maintenance"]
  timeout = "10s"
  run "exec" {
    command = ["./kubectl", "cordon", n]
    env     = { WORLD = var.world }
  }
}

action "drain" {
  doc          = "Evict the pods of a cordoned node, while there is room for them elsewhere."
  params       = { n = node }
  precondition = ["cordoned(n)", "room"]
  effect { add = ["empty(n)"] }
  risk    = "medium"
  locks   = ["maintenance"]
  timeout = "12s" # within a lease's time
  settle { timeout = "2m" }
  run "exec" {
    command = ["./kubectl", "drain", n, "--ignore-daemonsets", "--timeout", "10s"]
    env     = { WORLD = var.world }
  }
}

action "reboot" {
  doc          = "Reboot an empty node, and wait until it is back with the new kernel, and its etcd member with it."
  params       = { n = node }
  precondition = ["cordoned(n)", "empty(n)", "quorum"]
  effect { add = ["current(n)", "ready(n)"] }
  effect {
    forall = { c = control_plane }
    when   = "c == n"
    add    = ["member(c)"]
  }
  risk       = "high"
  reversible = false
  locks      = ["maintenance"]
  timeout    = "10s"
  settle {
    timeout  = var.boot_time
    interval = "500ms"
  }
  run "exec" {
    command = ["./rebootctl", "reboot", n]
    env     = { WORLD = var.world }
    fence {
      command = ["./rebootctl", "fence", n]
      env     = { WORLD = var.world }
      reject  = [75]
    }
  }
}

action "uncordon" {
  doc          = "Let a node that is back take pods again."
  params       = { n = node }
  precondition = ["cordoned(n)", "ready(n)"]
  effect { del = ["cordoned(n)"] }
  risk    = "low"
  locks   = ["maintenance"]
  timeout = "10s"
  run "exec" {
    command = ["./kubectl", "uncordon", n]
    env     = { WORLD = var.world }
  }
}

# ---- what is wanted, and how far a run may go ----------------------------------------------------

goal "patched" {
  doc       = "every node runs its newest kernel and takes pods, and etcd is whole"
  condition = ["all(node, current(#) && serving(#))", "all(control_plane, member(#))"]
}

goal "rebooted" {
  doc       = "this one node runs its newest kernel and takes pods"
  params    = { n = node }
  condition = ["current(n)", "serving(n)"]
}

policy {
  mode                 = "approve"
  max_rounds           = 5
  max_attempts         = 3
  max_plan_steps       = 60
  max_actions          = 60
  deadline             = "2h"
  max_wait             = "5m" # for others: a person who has the maintenance lock
  max_repeats          = 2
  same_failure_retries = 2
  no_evidence_rounds   = 2
  max_errors           = 5
}

# What incident.sh sets up, for planning without it.
state "new-kernel" {
  facts = [
    "ready(cp1)", "ready(cp2)", "ready(cp3)", "ready(w1)", "ready(w2)", "ready(w3)",
    "member(cp1)", "member(cp2)", "member(cp3)", "empty(cp1)", "empty(cp2)", "empty(cp3)",
    "current(cp3)", "current(w3)",
  ]
  values = { pods = 10, "places(w1)" = 6, "places(w2)" = 6, "places(w3)" = 6 }
}
