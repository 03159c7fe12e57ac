package prompt_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner/llm/prompt"
	"github.com/fettleops/fettle/planner/search"
	"github.com/fettleops/fettle/validator"
)

// TestWhatIsNotToldDoesNotMatter: without the actions and the facts that a
// question leaves out, the search solves the same problems.
func TestWhatIsNotToldDoesNotMatter(t *testing.T) {
	solved, left := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		p := random(rt)
		told := mustRender(rt, prompt.Input{Problem: p}).User
		whole := solvable(rt, p)
		for _, e := range p.Goal.Conjuncts {
			if !strings.Contains(told, `"condition": "`+e.Text(p.U, nil)+`"`) {
				rt.Errorf("the goal's %s is not told:\n%s", e.Text(p.U, nil), told)
			}
		}
		less := p
		less.Start = p.Start.Clone()
		less.Allowed = []*model.Action{}
		for _, a := range p.U.Actions {
			if strings.Contains(told, "- "+a.Name+"(o: t, p: t)\n") {
				less.Allowed = append(less.Allowed, a)
			}
		}
		facts := toldFacts(rt, told)
		for _, f := range p.U.Fluents {
			for a := range p.U.Atoms(f) {
				if f.Derived == nil && !facts[p.U.Text(a)] {
					left++
					less.Start.Set(a, model.Value{})
				}
			}
		}
		if whole {
			solved++
		}
		if got := solvable(rt, less); got != whole {
			rt.Errorf("solvable %v, of what is told %v:\n%s", whole, got, told)
		}
	})
	if solved == 0 || left == 0 {
		t.Errorf("%d problems could be solved, %d facts were left out: nothing is shown", solved, left)
	}
}

func solvable(t *rapid.T, p validator.Problem) bool {
	res, err := search.Search(t.Context(), search.Problem{U: p.U, Start: p.Start, Goal: p.Goal, Allowed: p.Allowed}, search.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res.Status == search.Solved
}

// toldFacts reads the state's data section; few objects are never told together.
func toldFacts(t *rapid.T, told string) map[string]bool {
	_, section, _ := strings.Cut(told, "<data name=\"state\">\n")
	section, _, _ = strings.Cut(section, "\n</data>")
	out := map[string]bool{}
	for _, line := range strings.Split(section, "\n") {
		var facts map[string]any
		if line == "" {
			continue
		}
		if err := json.Unmarshal([]byte(line), &facts); err != nil {
			t.Fatal(err)
		}
		for name := range facts {
			out[name] = true
		}
	}
	return out
}

// random draws a problem over two objects: actions of two parameters with
// negation, conditional and universal effects, a derived fluent, an invariant.
func random(t *rapid.T) validator.Problem {
	m := model.New()
	typ := m.AddType("t", nil)
	for i := range 2 {
		typ.AddObject(fmt.Sprint("o", i))
	}
	d := drawer{T: t, typ: typ}
	for i := range 6 {
		f := &model.Fluent{Name: fmt.Sprint("f", i), Kind: model.KindBool, Params: []model.Param{{Name: "o", Type: typ}}}
		if i == 5 {
			f.Derived, f.Slots = d.condition(1), 3
		}
		m.AddFluent(f)
		d.fluents = append(d.fluents, f)
	}
	for i := range rapid.IntRange(2, 5).Draw(t, "actions") {
		a := &model.Action{Name: fmt.Sprint("a", i), Params: []model.Param{{Name: "o", Type: typ}, {Name: "p", Type: typ}}, Slots: 4}
		a.Precondition = model.NewCond(4, d.condition(2), d.condition(2))
		for range rapid.IntRange(1, 2).Draw(t, "effects") {
			a.Effects = append(a.Effects, d.effect())
		}
		m.AddAction(a)
	}
	if rapid.Bool().Draw(t, "invariant") {
		m.AddInvariant(&model.Invariant{Name: "i", Cond: model.NewCond(3, d.condition(0))})
	}
	m.Link()
	p := first(m)
	p.Goal = model.NewCond(3, d.condition(0), d.condition(0))
	for _, f := range d.fluents[:5] {
		for a := range p.U.Atoms(f) {
			p.Start.Set(a, model.BoolValue(rapid.Bool().Draw(t, "fact")))
		}
	}
	return p
}

type drawer struct {
	*rapid.T
	typ     *model.Type
	fluents []*model.Fluent
}

// condition draws a literal over the first slots, or quantified over the next.
func (d *drawer) condition(slots int) *model.Expr {
	e := d.atom(slots)
	q := rapid.IntRange(0, 5).Draw(d.T, "quantifier")
	if q < 2 {
		e = d.atom(slots + 1)
		e.Args = []*model.Expr{d.slot(slots)}
	}
	if rapid.Bool().Draw(d.T, "negated") {
		e = &model.Expr{Op: model.OpNot, Kind: model.KindBool, Args: []*model.Expr{e}}
	}
	if q < 2 {
		op := []model.Op{model.OpAll, model.OpAny}[q]
		e = &model.Expr{Op: op, Kind: model.KindBool, Over: d.typ, Slot: slots, Name: "#", Args: []*model.Expr{e}}
	}
	return e
}

func (d *drawer) atom(slots int) *model.Expr {
	f := rapid.SampledFrom(d.fluents).Draw(d.T, "fluent")
	return &model.Expr{Op: model.OpFluent, Kind: model.KindBool, Fluent: f, Args: []*model.Expr{d.argument(slots)}}
}

func (d *drawer) argument(slots int) *model.Expr {
	if i := rapid.IntRange(-1, slots-1).Draw(d.T, "slot"); i >= 0 {
		return d.slot(i)
	}
	return &model.Expr{Op: model.OpObject, Kind: model.KindObject, Type: d.typ, Const: model.ObjectValue(int32(rapid.IntRange(0, 1).Draw(d.T, "object")))}
}

func (d *drawer) slot(i int) *model.Expr {
	return &model.Expr{Op: model.OpSlot, Kind: model.KindObject, Type: d.typ, Slot: i, Name: fmt.Sprint("s", i)}
}

func (d *drawer) effect() model.Effect {
	e := model.Effect{Op: model.Add, Fluent: rapid.SampledFrom(d.fluents[:5]).Draw(d.T, "changed")}
	if rapid.Bool().Draw(d.T, "deletes") {
		e.Op = model.Del
	}
	e.Args = []*model.Expr{d.argument(2)}
	if rapid.IntRange(0, 3).Draw(d.T, "when") == 0 {
		e.When = d.condition(2)
	}
	if rapid.IntRange(0, 3).Draw(d.T, "forall") == 0 {
		e.Forall = []model.Binder{{Slot: 3, Type: d.typ, Name: "s3"}}
		e.Args = []*model.Expr{d.slot(3)}
	}
	return e
}

// TestWhatAnInvariantReadsBearsOnTheGoal where an action towards the goal could
// break it; another invariant is not told, unless it must hold from the start.
func TestWhatAnInvariantReadsBearsOnTheGoal(t *testing.T) {
	got := render(t, prompt.Input{Problem: first(write(t, `
fluent "lit" {}
fluent "guarded" {}
fluent "idle" {}
fluent "sound" {}
action "light" {
  effect { add = ["lit"] }
}
action "guard" {
  effect { add = ["guarded"] }
}
action "rest" {
  effect { add = ["idle"] }
}
invariant "watched" { condition = "!lit || guarded" }
invariant "busy" { condition = "!idle" }
invariant "whole" {
  condition = "!sound"
  strict    = true
}
goal "g" { condition = ["lit"] }
`))}).User
	contains(t, got, "- guard\n", `{"guarded": false}`, "- watched: lit is false or guarded is true.", "- whole: ", "bear on the goal: rest.")
	lacks(t, got, "- busy", `"idle"`, "- rest\n")
}

// TestAGoalOfManyFactsIsToldWhole, though so many are not told apart.
func TestAGoalOfManyFactsIsToldWhole(t *testing.T) {
	in := fleet(t, 100, "every")
	up := in.Problem.U.Fluent("up")
	var all []*model.Expr
	var objects []int32
	for _, o := range in.Problem.U.Objects(up.Params[0].Type)[:80] {
		objects = append(objects, o)
		all = append(all, &model.Expr{Op: model.OpFluent, Kind: model.KindBool, Fluent: up, Args: []*model.Expr{
			{Op: model.OpObject, Kind: model.KindObject, Type: up.Params[0].Type, Const: model.ObjectValue(o)},
		}})
	}
	in.Problem.Goal = model.NewCond(0, all...)
	for _, o := range objects[70:] {
		in.Problem.Start.Set(model.Atom{Fluent: up, Args: []int32{o}}, model.BoolValue(false))
	}
	got := render(t, in).User
	for _, o := range objects[70:] {
		contains(t, got, `"`+in.Problem.U.Text(model.Atom{Fluent: up, Args: []int32{o}})+`": false`)
	}
}
