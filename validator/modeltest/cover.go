package modeltest

import (
	"fmt"
	"math"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/model/load"
)

// Coverage tells what of a model its tests exercise.
type Coverage struct {
	Groups []Group
}

// Group is one kind of part. Nothing of Total is nothing to cover.
type Group struct {
	Name           string
	Covered, Total int
	Missed         []Gap // in the order of the model
}

// Gap is a part that no test exercises; What is a sentence without its stop.
type Gap struct {
	Range hcl.Range
	What  string
}

// Percent is the part that is covered, rounded down to a tenth, so that 100 is
// said of all alone; it is 100 where there is nothing to cover.
func (g Group) Percent() float64 { return percent(g.Covered, g.Total) }

func percent(part, whole int) float64 {
	if whole == 0 {
		return 100
	}
	return math.Floor(1000*float64(part)/float64(whole)) / 10
}

// exercised is what passing tests have done.
type exercised struct {
	actions   map[*model.Action]bool
	whens     map[*model.Expr][2]bool // by condition: did not hold, held
	conjuncts map[*model.Expr]bool    // that failed where a violation was expected
}

// Cover tells what the results of the suite's tests exercise. Only passing
// tests count. An action is exercised where it is carried out; a conditional
// effect where its condition held, and again where it did not; a conjunct of a
// precondition, an invariant or a goal where it fails, a violation is expected,
// and the critique names it among what is missing.
func (s *Suite) Cover(results []Result) *Coverage {
	x := exercised{map[*model.Action]bool{}, map[*model.Expr][2]bool{}, map[*model.Expr]bool{}}
	for i := range results {
		if r := &results[i]; r.report != nil && r.Passed() {
			x.steps(r)
			x.failures(r)
		}
	}
	c := covering{m: s.Loaded.Model, l: s.Loaded, p: s.Loaded.Places(), x: x, u: model.NewUniverse(s.Loaded.Model)}
	return &Coverage{[]Group{c.actions(), c.conditionalEffects(), c.preconditions(), c.invariants(), c.goals()}}
}

// steps goes through the steps that were carried out once more.
func (x *exercised) steps(r *Result) {
	s := r.Test.problem.Start.Clone()
	var d model.Delta
	for _, g := range r.steps {
		x.actions[g.Action] = true
		for i := range g.Action.Effects {
			if e := &g.Action.Effects[i]; e.When != nil {
				env := make([]int32, max(g.Action.Slots, len(g.Args)))
				copy(env, g.Args)
				x.when(s, e, env, 0)
			}
		}
		if g.Effects(s, &d) == nil { // the validator has carried it out
			d.Commit(s)
		}
	}
}

// when notes how the effect's condition came out, for every object of its
// forall from binder k on.
func (x *exercised) when(s *model.State, e *model.Effect, env []int32, k int) {
	if k < len(e.Forall) {
		for _, o := range s.Universe().Objects(e.Forall[k].Type) {
			env[e.Forall[k].Slot] = o
			x.when(s, e, env, k+1)
		}
		return
	}
	seen := x.whens[e.When]
	switch e.When.Eval(s, env) {
	case model.False:
		seen[0] = true
	case model.True:
		seen[1] = true
	}
	x.whens[e.When] = seen
}

// failures notes the conjuncts that the critique of a violation names. It was
// expected, or the test had not passed.
func (x *exercised) failures(r *Result) {
	for _, f := range r.failures() {
		for _, c := range load.Conjuncts(f.Expr) {
			x.conjuncts[c] = true
		}
	}
}

// failures are those behind the report's missing conjuncts.
func (r *Result) failures() []model.Failure {
	rep, p := r.report, r.Test.problem
	g := rep.Ground
	switch rep.Kind {
	case "goal":
		return p.Goal.Explain(rep.State, p.GoalArgs)
	case "precondition", "unknown_value":
		return g.Action.Precondition.Explain(rep.State, g.Args)
	case "invariant":
		if g.Action == nil {
			return brokenAtStart(rep.State)
		}
		s := rep.State.Clone()
		var d model.Delta
		if g.Effects(s, &d) != nil {
			return nil
		}
		d.Commit(s)
		if b := g.Worsened(s, &d); b != nil {
			return []model.Failure{b.Failure}
		}
	}
	return nil
}

// brokenAtStart is what a start state breaks of the first strict invariant
// that it breaks.
func brokenAtStart(s *model.State) []model.Failure {
	for _, inv := range s.Universe().Invariants {
		if inv.Strict {
			if broken := inv.Broken(s); len(broken) > 0 {
				return broken
			}
		}
	}
	return nil
}

// covering counts the parts of a model against what was exercised.
type covering struct {
	m *model.Model
	l *load.Loaded
	p *load.Places
	x exercised
	u *model.Universe
}

func (g *Group) count(covered bool, rng hcl.Range, what string, args ...any) {
	g.Total++
	if covered {
		g.Covered++
		return
	}
	g.Missed = append(g.Missed, Gap{rng, fmt.Sprintf(what, args...)})
}

func (c *covering) actions() Group {
	g := Group{Name: "actions"}
	for _, a := range c.m.Actions {
		g.count(c.x.actions[a], c.l.Actions[a].DeclRange, "action %s: no test carries it out", a.Name)
	}
	return g
}

func (c *covering) conditionalEffects() Group {
	g := Group{Name: "conditional effects"}
	for _, a := range c.m.Actions {
		last := -1
		for i, place := range c.p.Effects[a] {
			when := a.Effects[i].When
			if when == nil || place.Block == last {
				continue
			}
			last = place.Block
			text := when.Text(c.u, nil)
			g.count(c.x.whens[when][1], place.When, "action %s: no test has it carried out when %s", a.Name, text)
			g.count(c.x.whens[when][0], place.When, "action %s: no test has it carried out when %s does not hold", a.Name, text)
		}
	}
	return g
}

func (c *covering) preconditions() Group {
	g := Group{Name: "preconditions"}
	for _, a := range c.m.Actions {
		c.conjuncts(&g, c.p.Preconditions[a], "action "+a.Name)
	}
	return g
}

func (c *covering) invariants() Group {
	g := Group{Name: "invariants"}
	for _, inv := range c.m.Invariants {
		c.conjuncts(&g, c.p.Invariants[inv], "invariant "+inv.Name)
	}
	return g
}

func (c *covering) goals() Group {
	g := Group{Name: "goals"}
	for _, goal := range c.m.Goals {
		c.conjuncts(&g, c.p.Goals[goal], "goal "+goal.Name)
	}
	return g
}

func (c *covering) conjuncts(g *Group, all []load.Conjunct, of string) {
	for _, k := range all {
		g.count(c.x.conjuncts[k.Expr], k.Range, "%s: no test expects %s to fail", of, k.Expr.Text(c.u, nil))
	}
}
