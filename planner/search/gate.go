package search

import (
	"slices"

	"github.com/fettleops/fettle/model"
)

// Rule denies steps beyond what the model says, as a policy does. See the
// validator's.
type Rule interface {
	Check(step int, g model.Ground, before *model.State) (reason string, denied bool)
}

// Scoped is a rule that knows what its answers depend on beside the ground
// action. Of one that does not say, both are assumed.
type Scoped interface {
	Rule
	// Reads tells whether the step's number, and whether the state before it, may
	// make a difference.
	Reads() (step, state bool)
}

// Denial is a step that rules deny.
type Denial struct {
	Step   int // its number, from 1; 0 where that makes no difference
	Ground model.Ground
	Reason string // completes "denied by …"
}

// maxDenials is how many denials are told.
const maxDenials = 8

// gate holds steps against the problem's rules. A nil gate lets everything pass.
//
// Where no rule looks at the step's number, a denial depends on the state and
// the action: rules then only take edges out of the graph, and what searches
// prove of the rest is proved. Where one does, a state that was reached at one
// depth is not the same at another.
type gate struct {
	t       *task
	byStep  bool
	byState bool
	rules   []Rule
	state   *model.State // what packed says
	packed  []uint64
	denials []Denial // the first of each action and reason
	more    bool     // some were not kept
}

// newGate returns the gate of a problem, nil where there are no rules.
func newGate(p Problem) *gate {
	if len(p.Rules) == 0 {
		return nil
	}
	g := &gate{rules: p.Rules}
	for _, r := range p.Rules {
		step, state := true, true
		if s, ok := r.(Scoped); ok {
			step, state = s.Reads()
		}
		g.byStep, g.byState = g.byStep || step, g.byState || state
	}
	return g
}

// over makes a compiled problem the one whose states are asked about.
func (g *gate) over(t *task) {
	if g != nil {
		g.t, g.state, g.packed = t, t.start.Clone(), slices.Clone(t.init)
	}
}

// fixed tells that every step is denied always or never.
func (g *gate) fixed() bool { return g != nil && !g.byStep && !g.byState }

// denied tells whether any step was denied so far.
func (g *gate) denied() bool { return g != nil && len(g.denials) > 0 }

// drop takes out the operators that are denied always.
func (g *gate) drop(t *task) {
	ops := t.ops[:0]
	for i := range t.ops {
		if g.check(t.ops[i].g, t.start, 0) {
			ops = append(ops, t.ops[i])
		}
	}
	t.ops = ops
}

// lets tells whether the rules allow an operator as the step of this number, in
// a state in which it can be done.
func (g *gate) lets(op *operator, s []uint64, step int) bool {
	if g == nil || g.fixed() { // What is denied then, is not there any more.
		return true
	}
	g.decode(s)
	return g.check(op.g, g.state, step)
}

// decode makes the model's state out of a packed one, by what differs from the
// one before.
func (g *gate) decode(s []uint64) {
	for v := range g.t.vars {
		x := &g.t.vars[v]
		if code := x.get(s); code != x.get(g.packed) {
			g.state.Set(model.Atom{Fluent: x.f, Args: g.t.u.Args(x.f, x.index)}, g.t.decode(x, code))
		}
	}
	copy(g.packed, s)
}

// check asks the rules.
func (g *gate) check(gr model.Ground, before *model.State, step int) bool {
	for _, r := range g.rules {
		if reason, denied := r.Check(max(step, 1), gr, before); denied {
			g.note(Denial{Step: step, Ground: gr, Reason: reason})
			return false
		}
	}
	return true
}

func (g *gate) note(d Denial) {
	for _, old := range g.denials {
		if old.Ground.Action == d.Ground.Action && old.Reason == d.Reason {
			return
		}
	}
	if len(g.denials) == maxDenials {
		g.more = true
		return
	}
	g.denials = append(g.denials, d)
}
