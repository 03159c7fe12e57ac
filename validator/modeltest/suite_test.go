package modeltest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model/load"
	"github.com/fettleops/fettle/planner/search"
	"github.com/fettleops/fettle/validator"
)

// rich is a model with every kind of effect, and what only some of it needs.
const rich = `
type "service" { objects = ["api", "db"] }
type "node" {
  discover "exec" { command = ["nodes"] }
}
fluent "up" { params = { s = service } }
fluent "busy" { params = { s = service } }
fluent "warm" {}
fluent "mode" { type = enum("calm", "hot") }
fluent "load" { type = number }
fluent "spare" { params = { n = node } }
fluent "at" {
  params = { s = service }
  type   = node
}
fluent "name" { type = string }
fluent "all_up" { derive = "all(service, up(#))" }
action "start" {
  params       = { s = service }
  precondition = ["!up(s)", "load < 3 && mode != 'hot'"]
  cost         = "load + 1"
  effect {
    add      = ["up(s)"]
    increase = { "load" = 1 }
  }
  effect {
    set  = { mode = "'hot'" }
    when = "load >= 1"
  }
}
action "rest" {
  precondition = ["all(service, up(#) && !busy(#))"]
  effect {
    del    = ["busy(s)"]
    forall = { s = service }
    when   = "warm"
  }
  effect {
    set      = { mode = "'calm'", "at(api)" = "at(db)" }
    decrease = { "load" = 2 }
  }
}
action "move" {
  params       = { s = service, n = node }
  precondition = ["spare(n)"]
  effect {
    set = { "at(s)" = "n" }
    del = ["spare(n)"]
  }
}
action "lose" {
  effect { set = { "at(db)" = "at(api)" } }
}
invariant "bounded" {
  condition = "load <= 2 && !(mode == 'hot' && warm)"
  message   = "too much at once"
}
invariant "from_the_start" {
  condition = "name != 'bad'"
  strict    = true
}
state "off" { values = { load = 0, mode = "calm", name = "good" } }
goal "running" { condition = ["all_up", "load <= 2"] }
goal "one_up" {
  params    = { s = service }
  condition = ["up(s)"]
  actions   = ["rest"]
}
`

// suiteOf loads the tests of a model, both as text.
func suiteOf(t testing.TB, m, tests string) *Suite {
	t.Helper()
	s, diags := newFrom(t, m, tests)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return s
}

func newFrom(t testing.TB, m, tests string) (*Suite, hcl.Diagnostics) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"m.fettle.hcl": m, "m.fettletest.hcl": tests} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, diags := load.Model(dir, load.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return New(l)
}

// find searches with the built-in search.
func find(ctx context.Context, p validator.Problem) (Answer, error) {
	res, err := search.Search(ctx, search.Problem{U: p.U, Start: p.Start, Goal: p.Goal, GoalArgs: p.GoalArgs, Allowed: p.Allowed}, search.Options{MaxNodes: 10000})
	a := Answer{Verdict: Verdict(res.Status), Reason: res.Reason}
	switch res.Status {
	case search.Solved:
		a.Verdict = Found
		for _, g := range res.Plan {
			a.Steps = append(a.Steps, p.U.Step(g))
		}
	case search.Exhausted:
		a.Verdict = Undecided
	}
	return a, err
}

// results runs every test.
func (s *Suite) results(t testing.TB) []Result {
	t.Helper()
	var out []Result
	for _, test := range s.Tests {
		r, err := test.Run(t.Context(), find)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// told writes a result in one line a row, what is wrong marked with an x.
func told(r *Result) string {
	var b strings.Builder
	for _, row := range r.Rows {
		mark := "  "
		if !row.OK {
			mark = "x "
		}
		b.WriteString(mark + row.What + ": " + row.Want + " | " + row.Got + "\n")
	}
	return b.String()
}
