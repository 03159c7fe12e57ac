package prompt

import (
	"slices"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

// relevance finds, backwards from the goal, what bears on it: the facts that it
// reads; the allowed actions with an effect on such a fact; what these read in
// preconditions, in conditions and values of those effects, in costs, and in the
// invariants that they could break. Nothing is grounded: sets of ground fluents
// and actions are patterns. It is more than what matters, never less.
type relevance struct {
	u       *model.Universe
	allowed []*model.Action
	facts   map[*model.Fluent][]pattern // derived ones too
	actions map[*model.Action][]pattern
	// invariants are those that such an action could break.
	invariants map[*model.Invariant]bool
	queue      []noted // base facts whose achievers are to be found
}

// pattern stands for argument lists: an object, or anyObject, for each
// parameter.
type pattern struct {
	args  []int32
	depth int // steps back from the goal, at the least
}

type noted struct {
	f *model.Fluent
	pattern
}

const (
	anyObject = int32(-1)
	// maxPatterns is how many patterns of one fluent or action are told apart;
	// beyond that, all its instances count.
	maxPatterns = 64
)

func relevantTo(p validator.Problem) *relevance {
	r := &relevance{
		u: p.U, allowed: p.Allowed, facts: map[*model.Fluent][]pattern{},
		actions: map[*model.Action][]pattern{}, invariants: map[*model.Invariant]bool{},
	}
	if r.allowed == nil {
		r.allowed = p.U.Actions
	}
	if p.Goal == nil {
		r.everything()
		return r
	}
	r.condition(p.Goal, p.GoalArgs, 0)
	for len(r.queue) > 0 {
		n := r.queue[0]
		r.queue = r.queue[1:]
		r.achievers(n)
	}
	return r
}

// uses tells whether the action bears on the goal.
func (r *relevance) uses(a *model.Action) bool { return r.actions[a] != nil }

// reads tells whether any instance of the fluent bears on the goal.
func (r *relevance) reads(f *model.Fluent) bool { return r.facts[f] != nil }

// depth is how far from the goal the fluent is.
func (r *relevance) depth(f *model.Fluent) int {
	least := r.facts[f][0].depth
	for _, p := range r.facts[f] {
		least = min(least, p.depth)
	}
	return least
}

// everything takes in all there is, where no goal says what matters.
func (r *relevance) everything() {
	for _, f := range r.u.Fluents {
		r.facts[f] = []pattern{{args: anyObjects(len(f.Params))}}
	}
	for _, a := range r.allowed {
		r.actions[a] = []pattern{{args: anyObjects(len(a.Params))}}
	}
	for _, inv := range r.u.Invariants {
		r.invariants[inv] = true
	}
}

func anyObjects(n int) []int32 {
	args := make([]int32, n)
	for i := range args {
		args[i] = anyObject
	}
	return args
}

// environment puts arguments into the first slots; the others are any object.
func environment(slots int, args []int32) []int32 {
	env := anyObjects(max(slots, len(args)))
	copy(env, args)
	return env
}

func (r *relevance) condition(c *model.Cond, args []int32, depth int) {
	if c == nil {
		return
	}
	env := environment(c.Slots, args)
	for _, e := range c.Conjuncts {
		r.expr(e, env, depth)
	}
}

// expr notes what an expression reads.
func (r *relevance) expr(e *model.Expr, env []int32, depth int) {
	seen := map[*model.Expr]bool{}
	e.Walk(func(e *model.Expr) bool {
		if seen[e] {
			return false
		}
		seen[e] = true
		if e.Op != model.OpFluent {
			return true
		}
		args := anyObjects(len(e.Args))
		for k, a := range e.Args {
			args[k] = bound(a, env)
		}
		r.note(e.Fluent, pattern{args, depth})
		return true
	})
}

// bound returns the object that an argument stands for, or anyObject.
func bound(a *model.Expr, env []int32) int32 {
	switch {
	case a.Op == model.OpObject:
		return a.Const.Object()
	case a.Op == model.OpSlot && a.Slot < len(env):
		return env[a.Slot]
	}
	return anyObject
}

// note takes in the facts of a pattern, once.
func (r *relevance) note(f *model.Fluent, p pattern) {
	all, p, fresh := join(r.facts[f], p)
	if r.facts[f] = all; !fresh {
		return
	}
	if f.Derived != nil {
		r.expr(f.Derived, environment(f.Slots, p.args), p.depth)
		return
	}
	r.queue = append(r.queue, noted{f, p})
}

// join adds a pattern unless it is covered, and widens it where there are too
// many. Fresh tells whether it says anything new.
func join(all []pattern, p pattern) (joined []pattern, added pattern, fresh bool) {
	for _, q := range all {
		if q.covers(p.args) {
			return all, p, false
		}
	}
	if len(all) == maxPatterns {
		p = pattern{anyObjects(len(p.args)), all[0].depth}
		return []pattern{p}, p, true
	}
	return append(all, p), p, true
}

// covers tells whether the pattern stands for all that the arguments stand for.
func (p pattern) covers(args []int32) bool {
	for k, o := range p.args {
		if o != anyObject && o != args[k] {
			return false
		}
	}
	return true
}

// achievers takes in the actions that write facts of a pattern.
func (r *relevance) achievers(n noted) {
	for _, a := range r.allowed {
		for i := range a.Effects {
			e := &a.Effects[i]
			if e.Fluent != n.f {
				continue
			}
			if env, ok := r.unify(a, e, n.args); ok {
				r.action(a, env, n.depth+1)
				r.expr(e.When, env, n.depth+1)
				r.expr(e.Value, env, n.depth+1)
			}
		}
	}
}

// unify returns the action's environment for its effect to write a fact of the
// pattern; false where it cannot.
func (r *relevance) unify(a *model.Action, e *model.Effect, args []int32) ([]int32, bool) {
	env := anyObjects(max(a.Slots, len(a.Params)))
	for k, o := range args {
		x := e.Args[k]
		if o == anyObject {
			continue
		}
		switch at := bound(x, env); {
		case at == o:
		case at != anyObject, !r.u.Has(x.Type, o):
			return nil, false
		default:
			env[x.Slot] = o
		}
	}
	return env, true
}

// action takes in the ground actions of a pattern, and what they read.
func (r *relevance) action(a *model.Action, env []int32, depth int) {
	all, p, fresh := join(r.actions[a], pattern{slices.Clone(env[:len(a.Params)]), depth})
	if r.actions[a] = all; !fresh {
		return
	}
	r.condition(a.Precondition, p.args, depth)
	r.expr(a.Cost, environment(a.Slots, p.args), depth)
	for _, inv := range a.Invariants() {
		if !r.invariants[inv] {
			r.invariants[inv] = true
			r.condition(inv.Cond, nil, depth)
		}
	}
}
