package validator_test

import (
	"fmt"
	"math"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

// twin is a naive validator: it grounds everything, copies the state at every
// step and evaluates every condition anew. It shares no evaluation with package
// model.
type twin struct {
	u     *model.Universe
	state map[string]model.Value // by the text of a base atom
}

// span is a number of which only bounds may be known.
type span struct{ lo, hi float64 }

type env map[int]int32

func (e env) with(slot int, o int32) env {
	n := env{slot: o}
	for k, v := range e {
		if k != slot {
			n[k] = v
		}
	}
	return n
}

func newTwin(u *model.Universe, s *model.State) *twin {
	t := &twin{u, map[string]model.Value{}}
	for _, f := range u.Fluents {
		if f.Derived != nil {
			continue
		}
		for a := range u.Atoms(f) {
			t.state[u.Text(a)] = s.Get(a)
		}
	}
	return t
}

func (t *twin) copy() *twin {
	n := &twin{t.u, map[string]model.Value{}}
	for k, v := range t.state {
		n.state[k] = v
	}
	return n
}

// key names the base atom that a read stands for.
func (t *twin) key(f *model.Fluent, args []*model.Expr, e env) string {
	a := model.Atom{Fluent: f}
	for _, x := range args {
		a.Args = append(a.Args, t.object(x, e))
	}
	return t.u.Text(a)
}

func (t *twin) object(x *model.Expr, e env) int32 {
	if x.Op == model.OpSlot {
		return e[x.Slot]
	}
	return x.Const.Object()
}

func (t *twin) inner(x *model.Expr, e env) env {
	n := env{}
	for i, a := range x.Args {
		n[i] = t.object(a, e)
	}
	return n
}

// truth is 0 for false, 0.5 for unknown, 1 for true.
func (t *twin) truth(x *model.Expr, e env) float64 {
	switch x.Op {
	case model.OpConst:
		return half(x.Const)
	case model.OpFluent:
		if x.Fluent.Derived != nil {
			return t.truth(x.Fluent.Derived, t.inner(x, e))
		}
		return half(t.state[t.key(x.Fluent, x.Args, e)])
	case model.OpNot:
		return 1 - t.truth(x.Args[0], e)
	case model.OpAnd:
		v := 1.0
		for _, a := range x.Args {
			v = math.Min(v, t.truth(a, e))
		}
		return v
	case model.OpOr:
		v := 0.0
		for _, a := range x.Args {
			v = math.Max(v, t.truth(a, e))
		}
		return v
	case model.OpAll, model.OpAny:
		v := 1.0
		if x.Op == model.OpAny {
			v = 0
		}
		for _, o := range t.u.Objects(x.Over) {
			b := t.truth(x.Args[0], e.with(x.Slot, o))
			if x.Op == model.OpAll {
				v = math.Min(v, b)
			} else {
				v = math.Max(v, b)
			}
		}
		return v
	}
	a, b := t.number(x.Args[0], e), t.number(x.Args[1], e)
	switch x.Op {
	case model.OpLe:
		return tri(a.hi <= b.lo, a.lo > b.hi)
	case model.OpGt:
		return tri(a.lo > b.hi, a.hi <= b.lo)
	case model.OpEq:
		return tri(a.lo == a.hi && a == b, a.hi < b.lo || b.hi < a.lo)
	case model.OpNe:
		return 1 - tri(a.lo == a.hi && a == b, a.hi < b.lo || b.hi < a.lo)
	case model.OpLt:
		return tri(a.hi < b.lo, a.lo >= b.hi)
	case model.OpGe:
		return tri(a.lo >= b.hi, a.hi < b.lo)
	}
	panic(x.Op)
}

func tri(yes, no bool) float64 {
	switch {
	case yes:
		return 1
	case no:
		return 0
	}
	return 0.5
}

func half(v model.Value) float64 {
	return map[model.Tri]float64{model.True: 1, model.Unknown: 0.5}[v.Tri()]
}

func (t *twin) number(x *model.Expr, e env) span {
	switch x.Op {
	case model.OpConst:
		n, _ := x.Const.Number()
		return span{n, n}
	case model.OpFluent:
		if n, ok := t.state[t.key(x.Fluent, x.Args, e)].Number(); ok {
			return span{n, n}
		}
		return span{math.Inf(-1), math.Inf(1)}
	case model.OpAdd:
		a, b := t.number(x.Args[0], e), t.number(x.Args[1], e)
		return span{a.lo + b.lo, a.hi + b.hi}
	case model.OpCount:
		var s span
		for _, o := range t.u.Objects(x.Over) {
			v := t.truth(x.Args[0], e.with(x.Slot, o))
			s.lo += math.Floor(v)
			s.hi += math.Ceil(v)
		}
		return s
	}
	panic(x.Op)
}

// cond evaluates the conjunction.
func (t *twin) cond(c *model.Cond, e env) float64 {
	v := 1.0
	if c != nil {
		for _, x := range c.Conjuncts {
			v = math.Min(v, t.truth(x, e))
		}
	}
	return v
}

// change is what a step's effects say of one atom.
type change struct {
	fluent   *model.Fluent
	add, del float64
	sets     []model.Value
	whens    []float64
	inc      *span
}

// apply returns the state after the action; false where its effects conflict.
func (t *twin) apply(a *model.Action, e env) (*twin, bool) {
	changes := map[string]*change{}
	for i := range a.Effects {
		t.effect(&a.Effects[i], 0, e, changes)
	}
	n := t.copy()
	for key, c := range changes {
		v, ok := c.value(t.state[key])
		if !ok {
			return nil, false
		}
		n.state[key] = v
	}
	return n, true
}

func (t *twin) effect(f *model.Effect, k int, e env, changes map[string]*change) {
	if k < len(f.Forall) {
		for _, o := range t.u.Objects(f.Forall[k].Type) {
			t.effect(f, k+1, e.with(f.Forall[k].Slot, o), changes)
		}
		return
	}
	when := 1.0
	if f.When != nil {
		when = t.truth(f.When, e)
	}
	if when == 0 {
		return
	}
	key := t.key(f.Fluent, f.Args, e)
	c := changes[key]
	if c == nil {
		c = &change{fluent: f.Fluent}
		changes[key] = c
	}
	switch f.Op {
	case model.Add:
		c.add = math.Max(c.add, when)
	case model.Del:
		c.del = math.Max(c.del, when)
	case model.Set:
		v := model.Value{}
		if s := t.number(f.Value, e); s.lo == s.hi {
			v = model.NumberValue(s.lo)
		}
		c.sets, c.whens = append(c.sets, v), append(c.whens, when)
	default:
		s := t.number(f.Value, e)
		if f.Op == model.Decrease {
			s = span{-s.hi, -s.lo}
		}
		if when == 0.5 {
			s = span{math.Min(0, s.lo), math.Max(0, s.hi)}
		}
		if c.inc == nil {
			c.inc = &span{}
		}
		c.inc.lo, c.inc.hi = c.inc.lo+s.lo, c.inc.hi+s.hi
	}
}

// value is the new value; false for a conflict.
func (c *change) value(old model.Value) (model.Value, bool) {
	n, known := old.Number()
	switch {
	case c.fluent.Kind == model.KindBool:
		v := math.Max(c.add, math.Min(half(old), 1-c.del))
		return map[float64]model.Value{0: model.BoolValue(false), 1: model.BoolValue(true)}[v], true
	case len(c.sets) > 0 && c.inc != nil:
		return model.Value{}, false
	case len(c.sets) > 0:
		return c.set(old)
	case known && c.inc.lo == c.inc.hi:
		return model.NumberValue(n + c.inc.lo), true
	}
	return model.Value{}, true
}

func (c *change) set(old model.Value) (model.Value, bool) {
	var certain []model.Value // known values that are surely set
	same, sure := true, false
	for i, v := range c.sets {
		if c.whens[i] == 1 {
			sure = true
			if v.Known() {
				certain = append(certain, v)
			}
		}
		same = same && v == c.sets[0] && v.Known()
	}
	for _, v := range certain {
		if v != certain[0] {
			return model.Value{}, false
		}
	}
	switch {
	case same && (sure || c.sets[0] == old):
		return c.sets[0], true
	}
	return model.Value{}, true
}

// violations returns each ground component's violation, by its text.
func (t *twin) violations(inv *model.Invariant) map[string]span {
	out := map[string]span{}
	for _, x := range inv.Cond.Conjuncts {
		t.components(x, env{}, out)
	}
	return out
}

func (t *twin) components(x *model.Expr, e env, out map[string]span) {
	switch x.Op {
	case model.OpAnd:
		for _, a := range x.Args {
			t.components(a, e, out)
		}
		return
	case model.OpAll:
		for _, o := range t.u.Objects(x.Over) {
			t.components(x.Args[0], e.with(x.Slot, o), out)
		}
		return
	}
	v, d := span{}, t.distance(x, e)
	switch t.truth(x, e) {
	case 0:
		v = span{1 + d.lo, 1 + d.hi}
	case 0.5:
		v = span{0, 1 + d.hi}
	}
	out[fmt.Sprintf("%p %v", x, e)] = v
}

// distance is how far a comparison is from its bound.
func (t *twin) distance(x *model.Expr, e env) span {
	over := func(a, b span) span { return span{math.Max(0, a.lo-b.hi), math.Max(0, a.hi-b.lo)} }
	switch x.Op {
	case model.OpLe, model.OpLt:
		return over(t.number(x.Args[0], e), t.number(x.Args[1], e))
	case model.OpGt, model.OpGe:
		return over(t.number(x.Args[1], e), t.number(x.Args[0], e))
	case model.OpEq:
		a, b := t.number(x.Args[0], e), t.number(x.Args[1], e)
		x, y := over(a, b), over(b, a)
		return span{math.Max(x.lo, y.lo), math.Max(x.hi, y.hi)}
	}
	return span{}
}

// reads returns the atoms that a component reads, by the component's text.
func (t *twin) reads(x *model.Expr, e env, key string, out map[string]map[string]bool) {
	if key == "" {
		switch x.Op {
		case model.OpAnd:
			for _, a := range x.Args {
				t.reads(a, e, "", out)
			}
			return
		case model.OpAll:
			for _, o := range t.u.Objects(x.Over) {
				t.reads(x.Args[0], e.with(x.Slot, o), "", out)
			}
			return
		}
		key = fmt.Sprintf("%p %v", x, e)
		out[key] = map[string]bool{}
	}
	switch {
	case x.Op == model.OpFluent && x.Fluent.Derived != nil:
		t.reads(x.Fluent.Derived, t.inner(x, e), key, out)
	case x.Op == model.OpFluent:
		out[key][t.key(x.Fluent, x.Args, e)] = true
	case x.Over != nil:
		for _, o := range t.u.Objects(x.Over) {
			t.reads(x.Args[0], e.with(x.Slot, o), key, out)
		}
	default:
		for _, a := range x.Args {
			t.reads(a, e, key, out)
		}
	}
}

// worsens tells whether the step from t to n makes a component of an invariant worse.
func (t *twin) worsens(n *twin, inv *model.Invariant) bool {
	before, after := t.violations(inv), n.violations(inv)
	reads := map[string]map[string]bool{}
	for _, x := range inv.Cond.Conjuncts {
		t.reads(x, env{}, "", reads)
	}
	for c, atoms := range reads {
		touched := false
		for a := range atoms {
			touched = touched || t.state[a] != n.state[a]
		}
		if touched && after[c].hi > before[c].lo {
			return true
		}
	}
	return false
}

// validate answers with the step and kind of the first violation.
func (t *twin) validate(p validator.Problem, steps []model.Ground) (int, validator.Kind, *twin) {
	for i, g := range steps {
		e := env{}
		for k, o := range g.Args {
			e[k] = o
		}
		switch t.cond(g.Action.Precondition, e) {
		case 0:
			return i + 1, validator.Precondition, t
		case 0.5:
			return i + 1, validator.UnknownValue, t
		}
		n, ok := t.apply(g.Action, e)
		if !ok {
			return i + 1, validator.EffectConflict, t
		}
		for _, inv := range p.U.Invariants {
			if t.worsens(n, inv) {
				return i + 1, validator.Invariant, t
			}
		}
		t = n
	}
	if t.cond(p.Goal, env{}) != 1 {
		return 0, validator.Goal, t
	}
	return 0, "", t
}
