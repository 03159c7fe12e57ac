package prompt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner/llm/prompt"
)

const nodes = `
type "node" {
  discover "exec" { command = ["nodes"] }
}
type "border" {
  parent  = node
  objects = ["edge"]
}
type "rack" { objects = ["r1"] }
fluent "up" { params = { n = node } }
fluent "load" {
  params = { n = node }
  type   = number
}
fluent "fine" {
  params = { n = node }
  derive = "up(n) && load(n) < 5"
}
fluent "link" { params = { a = node, b = node } }
fluent "cold" { params = { r = rack } }
action "start" {
  params       = { n = node }
  precondition = ["any(node, link(#, n))"]
  effect {
    add = ["up(n)"]
    set = { "load(n)" = "0" }
  }
}
action "cool" {
  params = { r = rack }
  effect { add = ["cold(r)"] }
}
goal "one" {
  params    = { n = node }
  condition = ["fine(n)"]
}
goal "every" {
  condition = ["all(node, fine(#))"]
}
`

// fleet has so many nodes, all up with load 1.
func fleet(t *testing.T, n int, goal string) prompt.Input {
	m := write(t, nodes)
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("node-%03d", i+1))
	}
	p := first(m, model.Discovery{Type: m.Type("node"), Objects: names})
	for a := range p.U.Atoms(m.Fluent("up")) {
		p.Start.Set(a, model.BoolValue(true))
		p.Start.Set(model.Atom{Fluent: m.Fluent("load"), Args: a.Args}, model.NumberValue(1))
	}
	g := m.Goal(goal)
	if p.Goal, p.GoalName = g.Cond, goal; len(g.Params) > 0 {
		p.GoalArgs = []int32{2}
	}
	return prompt.Input{Problem: p, Override: prompt.Templates{"user": "{{.Objects}}\n{{.State}}"}}
}

// TestOnlyWhatBearsOnTheGoalIsTold: of a goal about one node, its facts alone,
// and those that its actions read.
func TestOnlyWhatBearsOnTheGoalIsTold(t *testing.T) {
	in := fleet(t, 3, "one")
	in.Override = prompt.Templates{"user": "{{.State}}"}
	want := `<data name="state">
{"up(node-002)": true}
{"load(node-002)": 1}
{"fine(node-002)": true}
{"link(edge, node-002)": false, "link(node-001, node-002)": false, "link(node-002, node-002)": false, "link(node-003, node-002)": false}
</data>`
	if got := render(t, in).User; got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// TestManyObjectsAreToldCompactly: numbered names as a range, a common value
// once, and what differs one by one.
func TestManyObjectsAreToldCompactly(t *testing.T) {
	in := fleet(t, 150, "every")
	p := in.Problem
	at := func(fluent string, n int32) model.Atom {
		return model.Atom{Fluent: p.U.Fluent(fluent), Args: []int32{n}}
	}
	p.Start.Set(at("up", 7), model.BoolValue(false))
	p.Start.Set(at("load", 9), model.Value{})
	p.Start.Set(at("load", 10), model.NumberValue(7.5))
	in.Problem.Why = func(a model.Atom) string {
		if a.Fluent.Name == "load" {
			return "node-009: no route to host"
		}
		return ""
	}
	want := `<data name="objects">
{"type": "node", "objects": [{"from": "node-001", "to": "node-150"}], "and_those_of": ["border"]}
{"type": "border", "objects": ["edge"]}
{"type": "rack", "objects": ["r1"]}
</data>
"name(*)" stands for every fact of that name that bears on the goal and is not listed.
<data name="state">
{"up(*)": true, "up(node-007)": false}
{"load(*)": 1, "load(node-009)": null, "load(node-010)": 7.5}
{"fine(*)": true, "fine(node-007)": false, "fine(node-009)": null, "fine(node-010)": false}
{"link(*)": false}
</data>
These facts are unknown:
<data name="unknown">
{"unknown": "load(node-009)", "why": "node-009: no route to host"}
</data>`
	if got := render(t, in).User; got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// TestAHugeModelIsTold in a text of moderate size, and what could not be looked
// at is said.
func TestAHugeModelIsTold(t *testing.T) {
	in := fleet(t, 3000, "every")
	in.Override = nil
	got := render(t, in).User
	contains(t, got, `{"from": "node-001", "to": "node-3000"}`, `"up(*)": true`, "more facts of link: there are too many")
	if len(got) > 8000 {
		t.Errorf("it takes %d bytes", len(got))
	}
}

// TestNamesNumberedOtherwiseAreListed one by one.
func TestNamesNumberedOtherwiseAreListed(t *testing.T) {
	m := write(t, nodes)
	names := []string{"a1", "a2", "a3", "a4", "b9", "b10", "b11", "b12", "b13", "c01x", "c02x", "c03x", "c04x", "c05x", "c7x"}
	p := first(m, model.Discovery{Type: m.Type("node"), Objects: names})
	got := render(t, prompt.Input{Problem: p, Override: prompt.Templates{"user": "{{.Objects}}"}}).User
	contains(t, got, `["a1", "a2", "a3", "a4", {"from": "b9", "to": "b13"}, {"from": "c01x", "to": "c05x"}, "c7x"]`)
}

// TestUnknownObjectsAreSaidToBePossible where discovery failed.
func TestUnknownObjectsAreSaidToBePossible(t *testing.T) {
	m := write(t, nodes)
	p := first(m, model.Discovery{Type: m.Type("node"), Objects: []string{"n"}, Failed: true})
	got := render(t, prompt.Input{Problem: p}).User
	contains(t, got, `{"type": "node", "objects": ["n"], "and_those_of": ["border"], "there_may_be_more": true}`)
}

// TestWithoutAGoalEverythingIsTold, as any step may matter.
func TestWithoutAGoalEverythingIsTold(t *testing.T) {
	m := write(t, nodes)
	m.Goals = nil
	got := render(t, prompt.Input{Problem: first(m)}).User
	contains(t, got, "- start(n: node)", "- cool(r: rack)", `{"cold(r1)": false}`, "every step of the plan must be possible")
	if strings.Contains(got, "acceptance criteria hold") {
		t.Errorf("there are none:\n%s", got)
	}
}
