package model

import "fmt"

// Write is what a step does to one ground fluent.
type Write struct {
	Fluent   *Fluent
	Index    uint64 // see [Universe.Index]
	Old, New Value
}

// Changed tells whether the write changes the value.
func (w Write) Changed() bool { return w.Old != w.New }

// Delta is what one step writes, computed on the state before it. It is a
// buffer: reuse one for many steps. The zero value is ready.
type Delta struct {
	Writes []Write

	acc   []effects
	where map[leafKey]int // into acc, once there are many
	env   []int32         // of the action
	bound []int32         // of invariants
}

// effects gathers everything that a step's effects say of one ground fluent.
type effects struct {
	f        *Fluent
	i        uint64
	add, del Tri
	set      Tri     // under which condition Value is set, over all set effects
	value    Value   // of the first
	sure     Value   // a known value that is surely set
	maybe    bool    // a set under an unknown condition, or several that may differ
	inc      Tri     // whether it is increased or decreased
	lo, hi   float64 // by how much
}

// manyWrites is the number of ground fluents above which a step's effects are
// found through a map.
const manyWrites = 16

// env returns a reused environment for the ground action.
func (d *Delta) environment(g Ground) []int32 {
	n := max(g.Action.Slots, len(g.Args))
	if cap(d.env) < n {
		d.env = make([]int32, n)
	}
	env := d.env[:n]
	copy(env, g.Args)
	return env
}

// Applicable evaluates the precondition; scratch may be nil.
func (g Ground) Applicable(s *State, scratch *Delta) Tri {
	if g.Action.Precondition == nil {
		return True
	}
	if scratch == nil {
		scratch = &Delta{}
	}
	return g.Action.Precondition.eval(s, scratch.environment(g))
}

// Cost evaluates the action's cost; false where it is unknown or negative.
// Scratch may be nil.
func (g Ground) Cost(s *State, scratch *Delta) (float64, bool) {
	if g.Action.Cost == nil {
		return 1, true
	}
	if scratch == nil {
		scratch = &Delta{}
	}
	lo, hi := g.Action.Cost.Number(s, scratch.environment(g))
	return lo, lo == hi && lo >= 0
}

// Effects computes into d what the step writes, all effects on the state
// before it, whether or not the step is applicable. For a bool with A and D
// the conditions under which it is added and deleted, new = A ∨ (old ∧ ¬D).
func (g Ground) Effects(s *State, d *Delta) *Fault {
	d.Writes, d.acc = d.Writes[:0], d.acc[:0]
	clear(d.where)
	env := d.environment(g)
	for i := range g.Action.Effects {
		if f := g.effect(s, d, &g.Action.Effects[i], env, 0); f != nil {
			return f
		}
	}
	for i := range d.acc {
		a := &d.acc[i]
		old := s.get(a.f, a.i)
		w := Write{Fluent: a.f, Index: a.i, Old: old}
		var f *Fault
		if w.New, f = g.resolve(s, a, old); f != nil {
			return f
		}
		d.Writes = append(d.Writes, w)
	}
	return nil
}

// effect evaluates one effect for every object of its forall from binder k on.
func (g Ground) effect(s *State, d *Delta, e *Effect, env []int32, k int) *Fault {
	if k < len(e.Forall) {
		for _, o := range s.u.members[e.Forall[k].Type.id] {
			env[e.Forall[k].Slot] = o
			if f := g.effect(s, d, e, env, k+1); f != nil {
				return f
			}
		}
		return nil
	}
	when := True
	if e.When != nil {
		if when = e.When.Eval(s, env); when == False {
			return nil
		}
	}
	a := d.at(e.Fluent, e.index(s, env))
	switch e.Op {
	case Add:
		a.add = a.add.Or(when)
	case Del:
		a.del = a.del.Or(when)
	case Set:
		return g.set(s, a, e, env, when)
	default:
		lo, hi := e.Value.Number(s, env)
		if e.Op == Decrease {
			lo, hi = -hi, -lo
		}
		if when == Unknown {
			lo, hi = min(lo, 0), max(hi, 0)
		}
		a.inc = True
		a.lo, a.hi = Arith(OpAdd, a.lo, a.hi, lo, hi)
	}
	return nil
}

func (e *Effect) index(s *State, env []int32) uint64 {
	var i uint64
	stride := s.u.layout[e.Fluent.id].stride
	for k, a := range e.Args {
		if a.Op == OpSlot {
			i += uint64(env[a.Slot]) * stride[k]
		} else {
			i += uint64(a.Const.Object()) * stride[k]
		}
	}
	return i
}

func (d *Delta) at(f *Fluent, i uint64) *effects {
	if len(d.acc) < manyWrites {
		for k := range d.acc {
			if d.acc[k].f == f && d.acc[k].i == i {
				return &d.acc[k]
			}
		}
	} else {
		if len(d.where) == 0 {
			d.where = make(map[leafKey]int, 4*manyWrites)
			for k := range d.acc {
				d.where[leafKey{d.acc[k].f, d.acc[k].i}] = k
			}
		}
		if k, ok := d.where[leafKey{f, i}]; ok {
			return &d.acc[k]
		}
		d.where[leafKey{f, i}] = len(d.acc)
	}
	d.acc = append(d.acc, effects{f: f, i: i})
	return &d.acc[len(d.acc)-1]
}

// set joins one more set effect: two that surely apply with values surely
// different are a conflict, what may differ leaves the fluent unknown.
func (g Ground) set(s *State, a *effects, e *Effect, env []int32, when Tri) *Fault {
	v := e.Value.Value(s, env)
	if when == True && v.Known() {
		if a.sure.Known() && a.sure != v {
			return g.conflict(s, a, fmt.Sprintf("to both %s and %s", s.u.ValueText(a.f, a.sure), s.u.ValueText(a.f, v)))
		}
		a.sure = v
	}
	if a.set == False {
		a.value = v
	}
	a.maybe = a.maybe || v != a.value || !v.Known()
	a.set = a.set.Or(when)
	return nil
}

func (g Ground) conflict(s *State, a *effects, how string) *Fault {
	atom := s.u.Text(Atom{a.f, s.u.Args(a.f, a.i)})
	return &Fault{EffectConflict, fmt.Sprintf("%s sets %s %s", s.u.StepText(g), atom, how)}
}

// resolve computes the new value from everything the effects say.
func (g Ground) resolve(s *State, a *effects, old Value) (Value, *Fault) {
	switch {
	case a.set != False && a.inc != False:
		return Value{}, g.conflict(s, a, "and increases or decreases it too")
	case a.set != False && (a.add != False || a.del != False):
		return g.mixed(s, a, old)
	case a.set == True && !a.maybe:
		return a.value, nil
	case a.set == Unknown && !a.maybe && a.value == old:
		return old, nil
	case a.set != False:
		return Value{}, nil
	case a.inc != False:
		v, ok := old.Number()
		if !ok || a.lo != a.hi {
			return Value{}, nil
		}
		return NumberValue(v + a.lo), nil
	}
	return TriValue(a.add.Or(old.Tri().And(a.del.Not()))), nil
}

// mixed resolves a bool that is set and added or deleted too.
func (g Ground) mixed(s *State, a *effects, old Value) (Value, *Fault) {
	v := TriValue(a.add.Or(old.Tri().And(a.del.Not())))
	switch {
	case !a.maybe && v == a.value:
		return v, nil
	case a.sure.Known() && v.Known() && v != a.sure && (a.add == True || a.del == True):
		return Value{}, g.conflict(s, a, fmt.Sprintf("to both %s and %s", s.u.ValueText(a.f, a.sure), s.u.ValueText(a.f, v)))
	}
	return Value{}, nil
}

// Commit puts the written values into the state.
func (d *Delta) Commit(s *State) {
	for i := range d.Writes {
		s.set(d.Writes[i].Fluent, d.Writes[i].Index, d.Writes[i].New)
	}
}

// Revert takes a committed delta back.
func (d *Delta) Revert(s *State) {
	for i := range d.Writes {
		s.set(d.Writes[i].Fluent, d.Writes[i].Index, d.Writes[i].Old)
	}
}
