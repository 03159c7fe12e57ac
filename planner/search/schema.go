package search

import "github.com/fettleops/fettle/model"

// schema is what grounding knows of an action's precondition.
type schema struct {
	a      *model.Action
	atoms  []pattern // conjuncts that are looked up among what is reached
	checks []check   // conjuncts that no operator changes
	// conditions are the other conjuncts. What they keep out waits.
	conditions []check
}

// pattern is a conjunct that is one atom, or its negation. For an
// object-valued fluent the last term is the value that it must have.
type pattern struct {
	f     *model.Fluent
	neg   bool
	terms []term
}

// term is a parameter's slot, or where that is negative an object.
type term struct {
	slot int
	obj  int32
}

// check is a condition that can be decided once its slots are bound.
type check struct {
	e     *model.Expr
	slots []int
}

// maxConditions bounds the conditions of an action that grounding looks into.
const maxConditions = 16

func (g *grounder) newSchema(a *model.Action) *schema {
	s := &schema{a: a}
	if a.Precondition == nil {
		return s
	}
	for _, e := range a.Precondition.Conjuncts {
		if p, ok := asPattern(e, len(a.Params)); ok && len(s.atoms) < 64 && (!p.neg || g.fluid[p.f.ID()]) {
			s.atoms = append(s.atoms, p)
		} else if g.static(e) && len(s.checks) < 64 {
			s.checks = append(s.checks, check{e, paramSlots(e, len(a.Params))})
		} else if len(s.conditions) < maxConditions {
			s.conditions = append(s.conditions, check{e, paramSlots(e, len(a.Params))})
		}
	}
	return s
}

// asPattern reads a conjunct as an atom whose arguments are parameters and objects.
func asPattern(e *model.Expr, params int) (pattern, bool) {
	neg := e.Op == model.OpNot
	if neg {
		e = e.Args[0]
	}
	if e.Op == model.OpFluent && e.Kind == model.KindBool {
		ts, ok := asTerms(e.Args, params)
		return pattern{e.Fluent, neg, ts}, ok && e.Fluent.Derived == nil
	}
	if neg || e.Op != model.OpEq || e.Args[0].Kind != model.KindObject {
		return pattern{}, false
	}
	a, b := e.Args[0], e.Args[1]
	if a.Op != model.OpFluent {
		a, b = b, a
	}
	if a.Op != model.OpFluent || a.Fluent.Derived != nil {
		return pattern{}, false
	}
	ts, ok := asTerms(append(append([]*model.Expr(nil), a.Args...), b), params)
	return pattern{a.Fluent, false, ts}, ok
}

func asTerms(es []*model.Expr, params int) ([]term, bool) {
	ts := make([]term, len(es))
	for i, e := range es {
		switch {
		case e.Op == model.OpSlot && e.Slot < params:
			ts[i] = term{slot: e.Slot}
		case e.Op == model.OpObject:
			ts[i] = term{slot: -1, obj: e.Const.Object()}
		default:
			return nil, false
		}
	}
	return ts, true
}

// static tells whether no operator changes what the expression reads.
func (g *grounder) static(e *model.Expr) bool {
	known, ok := g.statics[e]
	if !ok {
		known = g.computeStatic(e)
		g.statics[e] = known
	}
	return known
}

func (g *grounder) computeStatic(e *model.Expr) bool {
	set := map[*model.Fluent]bool{}
	e.BaseFluents(set)
	for f := range set {
		if g.fluid[f.ID()] {
			return false
		}
	}
	return true
}

// paramSlots returns the parameters that the expression uses.
func paramSlots(e *model.Expr, params int) []int {
	var out []int
	seen := map[int]bool{}
	e.Walk(func(e *model.Expr) bool {
		if e.Op == model.OpSlot && e.Slot < params && !seen[e.Slot] {
			seen[e.Slot] = true
			out = append(out, e.Slot)
		}
		return true
	})
	return out
}

// bound tells whether all the slots have an object.
func (c check) bound(env []int32) bool {
	for _, s := range c.slots {
		if env[s] < 0 {
			return false
		}
	}
	return true
}

// value returns the term's object, negative while its slot is free.
func (t term) value(env []int32) int32 {
	if t.slot < 0 {
		return t.obj
	}
	return env[t.slot]
}
