package prompt_test

import (
	"strings"
	"testing"

	"github.com/fettleops/fettle/planner/llm/prompt"
)

const rich = `
type "node" {}
type "worker" {
  parent  = node
  objects = ["w1", "w2"]
}
type "service" { objects = ["api", "db"] }
fluent "up" { params = { s = service } }
fluent "busy" { params = { n = node } }
fluent "load" {
  params = { n = node }
  type   = number
  doc    = "Requests per\nsecond"
}
fluent "mode" { type = enum("calm", "hot") }
fluent "name" { type = string }
fluent "at" {
  params = { s = service }
  type   = node
}
fluent "quiet" { derive = "none(node, busy(#)) || mode == 'calm'" }
fluent "total" {
  type   = number
  derive = "sum(node, busy(#) ? load(#) : 0) + 1"
}
action "start" {
  doc          = "Start a service"
  params       = { s = service, n = node }
  precondition = ["!up(s)", "load(n) < 3 && mode != 'hot'", "!(busy(n) && up('db'))", "name startsWith 'p' || name in ['a', 'b']"]
  cost         = "load(n) + 1"
  effect {
    add      = ["up(s)"]
    increase = { "load(n)" = 1 }
    set      = { "at(s)" = "n" }
  }
  effect {
    set  = { mode = "'hot'" }
    when = "load(n) >= 2 or quiet"
  }
}
action "rest" {
  precondition = ["any(service, up(#) && !busy(at(#)))", "one(worker, busy(#))", "max(map(node, load(#))) <= 5", "abs(total - 2) > 1"]
  effect {
    del    = ["busy(n)"]
    forall = { n = node }
    when   = "load(n) == 0"
  }
  effect {
    decrease = { "load(w)" = "len(name)" }
    forall   = { w = worker }
  }
}
action "wait" {}
action "sing" {
  params = { x = node, s = service }
  precondition = [
    "!(name in ['a']) && at(s) in worker && !(at('api') in worker) && !(name contains 'x') && name endsWith 'y'",
    "up(s) ? up('db') : !one(node, busy(#))", "(up(s) ? 1 : 2) * -total / 2 < min(map(node, load(#)))",
    "any(node, let a = #; any(node, let b = #; any(node, a != b && b != # && x != a)))", "!any(service, up(#)) == quiet",
  ]
  effect { add = ["sung"] }
}
fluent "sung" {}
invariant "bounded" {
  condition = "all(node, let q = #; load(q) <= 4 || !any(service, at(#) == q))"
  message   = "a loaded node runs nothing"
}
invariant "workers" {
  condition = "count(worker, busy(#)) < len(worker)"
  strict    = true
}
goal "g" { condition = ["sung", "quiet", "total < 3", "all(service, let s = #; any(worker, at(s) == #))", "name matches '^c'"] }
`

// TestTheModelIsToldInPlainSentences compares what is said of every construct
// of the language word for word.
func TestTheModelIsToldInPlainSentences(t *testing.T) {
	got := render(t, prompt.Input{
		Problem:  first(write(t, rich)),
		Override: prompt.Templates{"user": "{{.Model}}\n\n{{.Goal}}"},
	}).User
	got, _, _ = strings.Cut(got, "<data")
	want := `Actions
- start(s: service, n: node)
  Start a service.
  Possible only when: up(s) is false; load(n) is below 3; mode is not 'hot'; busy(n) is false or up(db) is false; name begins with 'p' or name is one of 'a', 'b'.
  Then up(s) becomes true; at(s) becomes n; load(n) goes up by 1.
  Then if load(n) is at least 2 or quiet is true before the step: mode becomes 'hot'.
  Costs (load(n) + 1).
- rest
  Possible only when: there is a service x for which up(x) is true and busy(at(x)) is false; there is exactly one worker x for which busy(x) is true; (the greatest load(x) of every node x) is at most 5; the absolute value of (total - 2) is above 1.
  Then for every node n, if load(n) is 0 before the step: busy(n) becomes false.
  Then for every worker w, load(w) goes down by the length of name.
- sing(x: node, s: service)
  Possible only when: name is none of 'a'; at(s) is of type worker; at(api) is not of type worker; it is not so that name contains 'x'; name ends with 'y'; if up(s) is true then up(db) is true, and otherwise it is not so that (there is exactly one node y for which busy(y) is true); (((1 if up(s) is true, otherwise 2) * -total) / 2) is below (the least load(y) of every node y); there is a node y for which (there is a node z for which (there is a node x2 for which y is not z and z is not x2 and x is not y)); (whether for every service y, up(y) is false) is quiet.
  Then sung becomes true.
These actions exist too, but nothing they do can bear on the goal: wait.

Facts
- up(s: service)
- busy(n: node)
- load(n: node), a number: Requests per second.
- mode, one of the words of enum("calm", "hot")
- name, a text
- at(s: service), an object of type node
- quiet: It is true exactly when (for every node x, busy(x) is false) or mode is 'calm'. It follows from other facts; no action sets it.
- total, a number: It is always ((the sum of (load(x) if busy(x) is true, otherwise 0) over every node x) + 1). It follows from other facts; no action sets it.
- sung

Invariants: no step may break one, or make worse one that is broken
- bounded: a loaded node runs nothing; that is: for every node x, (load(x) is at most 4 or (for every service y, at(y) is not x)). Whether it holds at present is not known.
- workers: (the number of objects x of type worker for which busy(x) is true) is below (the number of objects of type worker). It must hold from the start.

The goal is reached when all of these acceptance criteria hold after the last step:
1. sung is true
2. quiet is true
3. total is below 3
4. for every service x, (there is a worker y for which at(x) is y)
5. name matches the regular expression "^c"
`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
