package prompt

import (
	"context"
	"slices"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/validator"
)

// Example is a small task of the same model, solved.
type Example struct {
	Start *model.State
	Goal  string // as the model's language has it
	Steps []model.Step
}

const (
	minExample = 2 // steps
	maxExample = 4
	// maxSearches is how many sub-tasks are tried. Each is a search.
	maxSearches = 14
	// maxPairs is how many facts that one step reaches are looked at in pairs.
	maxPairs = 3
	// maxObjects is how many instances of one fluent are considered.
	maxObjects = 64
)

// MakeExample looks for a sub-task of the problem that two to four steps solve:
// one fact to be changed, else two of them. Facts that the goal misses are the
// last choice, so that the example does not give the answer away. It is nil
// where the search solves no such task within its limits, or gives one up. The
// same problem and a search that always answers alike give the same example.
func MakeExample(ctx context.Context, p validator.Problem, search planner.Proposer) *Example {
	if search == nil {
		return nil
	}
	m := &maker{ctx: ctx, p: p, search: search}
	m.p.Trace = nil
	free, missing := m.facts()
	if ex := m.first(free); ex != nil {
		return ex
	}
	if ex := m.first(m.pairs()); ex != nil {
		return ex
	}
	return m.first(missing)
}

// maker tries sub-tasks.
type maker struct {
	ctx    context.Context
	p      validator.Problem
	search planner.Proposer
	tried  int
	ended  bool          // the search failed, or gave up
	single []*model.Expr // what one step reaches
}

// first returns the first sub-task with a plan of the right length.
func (m *maker) first(goals []*model.Expr) *Example {
	for _, e := range goals {
		if m.ended || m.tried == maxSearches {
			return nil
		}
		m.tried++
		steps := m.solve(e)
		switch n := len(steps); {
		case n >= minExample && n <= maxExample:
			return &Example{Start: m.p.Start, Goal: e.Text(m.p.U, nil), Steps: steps}
		case n == 1:
			m.single = append(m.single, e)
		}
	}
	return nil
}

// solve returns a valid plan, or nil.
func (m *maker) solve(e *model.Expr) []model.Step {
	p := m.p
	p.Goal, p.GoalArgs, p.GoalName = model.NewCond(0, e), nil, "example"
	found, err := m.search.Propose(m.ctx, planner.Request{Problem: p, Budget: planner.Unlimited{}})
	if err != nil || found.Verdict == planner.GaveUp {
		m.ended = true
		return nil
	}
	if found.Verdict != planner.HasPlan || !validator.Validate(p, plan(found.Steps)).Valid {
		return nil
	}
	return found.Steps
}

func plan(steps []model.Step) func(func(model.Step, error) bool) {
	return func(yield func(model.Step, error) bool) {
		for _, st := range steps {
			if !yield(st, nil) {
				return
			}
		}
	}
}

// pairs joins facts that one step reaches.
func (m *maker) pairs() []*model.Expr {
	var out []*model.Expr
	single := m.single[:min(len(m.single), maxPairs)]
	for i, a := range single {
		for _, b := range single[i+1:] {
			out = append(out, model.And(a, b))
		}
	}
	return out
}

// facts returns changed facts as goals: one of each fluent that an action
// changes so, of objects that the real goal does not miss anything of where
// there are such; and apart those that it misses.
func (m *maker) facts() (free, missing []*model.Expr) {
	wanted, concerned := m.missing()
	for _, f := range m.p.U.Fluents {
		if f.Kind != model.KindBool || f.Derived != nil {
			continue
		}
		var first, best *model.Expr
		looked := 0
		for args := range m.p.U.Instances(f.Params) {
			if looked++; looked > maxObjects {
				break
			}
			a := model.Atom{Fluent: f, Args: slices.Clone(args)}
			e := m.change(a)
			if e == nil {
				continue
			}
			if wanted[m.p.U.Text(a)] {
				missing = append(missing, e)
				continue
			}
			if first == nil {
				first = e
			}
			if best == nil && !concerns(a, concerned) {
				best = e
			}
		}
		if best == nil {
			best = first
		}
		if best != nil {
			free = append(free, best)
		}
	}
	return free, missing
}

// missing returns the facts that keep the goal from holding, by text, and the
// objects that they are about.
func (m *maker) missing() (facts map[string]bool, objects map[member]bool) {
	facts, objects = map[string]bool{}, map[member]bool{}
	for _, failure := range m.p.Goal.Explain(m.p.Start, m.p.GoalArgs) {
		for _, l := range failure.Leaves {
			facts[m.p.U.Text(l.Atom)] = true
			for i, o := range l.Atom.Args {
				objects[member{l.Atom.Fluent.Params[i].Type.Root(), o}] = true
			}
		}
	}
	return facts, objects
}

func concerns(a model.Atom, objects map[member]bool) bool {
	for i, o := range a.Args {
		if objects[member{a.Fluent.Params[i].Type.Root(), o}] {
			return true
		}
	}
	return false
}

// change returns the opposite of a fact as a goal, nil where no action that may
// be used has such an effect.
func (m *maker) change(a model.Atom) *model.Expr {
	e := &model.Expr{Op: model.OpFluent, Kind: model.KindBool, Fluent: a.Fluent}
	for i, o := range a.Args {
		e.Args = append(e.Args, &model.Expr{Op: model.OpObject, Kind: model.KindObject, Type: a.Fluent.Params[i].Type, Const: model.ObjectValue(o)})
	}
	op := model.Add
	switch m.p.Start.Get(a).Tri() {
	case model.True:
		op = model.Del
		e = &model.Expr{Op: model.OpNot, Kind: model.KindBool, Args: []*model.Expr{e}}
	case model.Unknown:
		return nil
	}
	for _, act := range m.p.U.Actions {
		if m.p.Allowed != nil && !slices.Contains(m.p.Allowed, act) {
			continue
		}
		for i := range act.Effects {
			if act.Effects[i].Fluent == a.Fluent && act.Effects[i].Op == op {
				return e
			}
		}
	}
	return nil
}
