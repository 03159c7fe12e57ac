package policy

import (
	"maps"
	"math"
	"slices"

	"github.com/fettleops/fettle/model"
)

// StepOf returns the facts of a step, the nth from 1, that is carried out in the
// state. What the model does not tell is taken from more: labels, risk, whether
// it is fenced and has a way back.
//
// Nothing is looser for what is unknown: an atom whose new value is unknown is
// among those that it adds and those that it deletes, as far as it could change
// so, and among the unsure; a cost that is unknown is above every bound.
func StepOf(u *model.Universe, g model.Ground, before *model.State, n int, more StepFacts) StepFacts {
	s := more
	s.Step, s.Action, s.Ground = n, g.Action.Name, u.StepText(g)
	s.Args = map[string]string{}
	for i, p := range g.Action.Params {
		s.Args[p.Name] = u.Name(p.Type, g.Args[i])
	}
	var d model.Delta
	var known bool
	if s.Cost, known = g.Cost(before, &d); !known {
		s.Cost = math.MaxFloat64
	}
	s.Adds, s.Deletes, s.Unsure, s.Sets = nil, nil, nil, map[string]any{}
	// Effects that conflict make a step that the validator does not let pass; what
	// was computed before is told.
	_ = g.Effects(before, &d)
	for _, w := range d.Writes {
		s.write(u, w)
	}
	slices.Sort(s.Adds)
	slices.Sort(s.Deletes)
	slices.Sort(s.Unsure)
	return s
}

func (s *StepFacts) write(u *model.Universe, w model.Write) {
	atom := u.Text(model.Atom{Fluent: w.Fluent, Args: u.Args(w.Fluent, w.Index)})
	if w.Fluent.Kind != model.KindBool {
		s.Sets[atom] = u.Plain(w.Fluent, w.New)
		return
	}
	before, after := w.Old.Tri(), w.New.Tri()
	if after != model.False && before != model.True {
		s.Adds = append(s.Adds, atom)
	}
	if after != model.True && before != model.False {
		s.Deletes = append(s.Deletes, atom)
	}
	if before == model.Unknown || after == model.Unknown {
		s.Unsure = append(s.Unsure, atom)
	}
}

// objects are those that the step names, once each.
func (s *StepFacts) objects() []string {
	return slices.Compact(slices.Sorted(maps.Values(s.Args)))
}

// PlanOf returns the facts of a plan. Its cost and what is unprotected or has no
// way back, as ground actions, are told.
func PlanOf(u *model.Universe, steps []model.Ground, cost float64, unprotected, irreversible []string) PlanFacts {
	p := PlanFacts{Length: len(steps), Cost: cost, Unprotected: unprotected, Irreversible: irreversible}
	if math.IsNaN(cost) || math.IsInf(cost, 0) {
		p.Cost = math.MaxFloat64
	}
	for _, g := range steps {
		p.Actions = append(p.Actions, g.Action.Name)
		p.Objects = append(p.Objects, u.Names(g.Action.Params, g.Args)...)
	}
	slices.Sort(p.Actions)
	slices.Sort(p.Objects)
	p.Actions, p.Objects = slices.Compact(p.Actions), slices.Compact(p.Objects)
	return p
}
