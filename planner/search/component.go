package search

import (
	"slices"

	"github.com/fettleops/fettle/model"
)

// component is one condition of an invariant for fixed objects. No step that
// changes something it reads may raise its violation, see
// [model.Ground.Worsened].
type component struct {
	truth *node
	// The operands of a comparison of numbers, whose distance counts.
	op    model.Op
	a, b  *node
	touch []int32 // sorted: the variables it reads, as the model sees it
}

// components compiles the invariants' components that an operator may touch.
func (c *compiler) components(p Problem) {
	byFluent := make(map[*model.Fluent][]int32)
	for v := range c.t.vars {
		f := c.t.vars[v].f
		byFluent[f] = append(byFluent[f], int32(v))
	}
	for _, inv := range p.U.Invariants {
		for _, e := range inv.Cond.Conjuncts {
			c.split(inv, e, nil, byFluent)
		}
	}
}

// split takes an invariant apart as the model does: conjuncts, and what holds
// for all objects of a type by object.
func (c *compiler) split(inv *model.Invariant, e *model.Expr, binders []model.Binder, byFluent map[*model.Fluent][]int32) {
	switch e.Op {
	case model.OpAnd:
		for _, a := range e.Args {
			c.split(inv, a, binders, byFluent)
		}
	case model.OpAll:
		b := append(slices.Clone(binders), model.Binder{Slot: e.Slot, Type: e.Over})
		c.split(inv, e.Args[0], b, byFluent)
	default:
		set := map[*model.Fluent]bool{}
		e.BaseFluents(set)
		for f := range set {
			if len(byFluent[f]) > 0 {
				c.bindAll(inv, e, binders, make([]int32, inv.Cond.Slots), byFluent)
				return
			}
		}
	}
}

// bindAll compiles a component for every combination of its binders' objects.
func (c *compiler) bindAll(inv *model.Invariant, e *model.Expr, binders []model.Binder, env []int32, byFluent map[*model.Fluent][]int32) {
	high := 0
	for _, b := range binders {
		high = max(high, b.Slot+1)
	}
	reads := &model.Cond{Conjuncts: []*model.Expr{e}, Slots: inv.Cond.Slots}
	var rec func(int)
	rec = func(k int) {
		if k < len(binders) {
			for _, o := range c.t.u.Objects(binders[k].Type) {
				env[binders[k].Slot] = o
				rec(k + 1)
			}
			return
		}
		if !c.lim.ok() {
			return
		}
		touch := c.touched(reads.Reads(c.t.u, env[:high]), byFluent)
		if len(touch) == 0 {
			return
		}
		if cp := c.component(e, slices.Clone(env)); !cp.truth.isConst() || cp.truth.tri != model.True {
			cp.touch = touch
			c.t.components = append(c.t.components, cp)
			c.lim.use(int64(96 + 4*len(touch)))
		}
	}
	rec(0)
}

// touched returns the variables that references stand for.
func (c *compiler) touched(refs []model.Ref, byFluent map[*model.Fluent][]int32) []int32 {
	var out []int32
	for _, r := range refs {
		if r.Whole() {
			out = append(out, byFluent[r.Fluent]...)
		} else if v := c.t.find(r.Fluent, c.t.u.Index(r.Fluent, r.Args)); v >= 0 {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (c *compiler) component(e *model.Expr, env []int32) component {
	cp := component{op: e.Op, truth: c.expr(e, env)}
	switch e.Op {
	case model.OpLt, model.OpLe, model.OpGt, model.OpGe, model.OpEq:
		if e.Args[0].Kind == model.KindNumber {
			cp.a, cp.b = c.expr(e.Args[0], env), c.expr(e.Args[1], env)
		}
	}
	return cp
}

// violation is how far the component is from true in the state loaded, see the
// model's.
func (m *machine) violation(cp *component) (lo, hi float64) {
	dlo, dhi := 0.0, 0.0
	if cp.a != nil {
		dlo, dhi = m.distance(cp)
	}
	switch m.eval(cp.truth) {
	case model.True:
		return 0, 0
	case model.False:
		return 1 + dlo, 1 + dhi
	}
	return 0, 1 + dhi
}

func (m *machine) distance(cp *component) (lo, hi float64) {
	alo, ahi := m.number(cp.a)
	blo, bhi := m.number(cp.b)
	switch cp.op {
	case model.OpLt, model.OpLe:
		lo, hi = alo-bhi, ahi-blo
	case model.OpGt, model.OpGe:
		lo, hi = blo-ahi, bhi-alo
	default:
		lo, hi = max(alo-bhi, blo-ahi), max(ahi-blo, bhi-alo)
	}
	if lo != lo {
		lo = 0
	}
	if hi != hi {
		hi = posInf
	}
	return max(lo, 0), max(hi, 0)
}

// noWorse tells whether the step from s to next raises no component's violation.
func (m *machine) noWorse(op *operator, s, next []uint64) bool {
	for _, i := range op.checks {
		cp := &m.t.components[i]
		m.load(next)
		if m.eval(cp.truth) == model.True || !m.changed(op, cp, s, next) {
			continue
		}
		_, after := m.violation(cp)
		m.load(s)
		if before, _ := m.violation(cp); after > before {
			return false
		}
	}
	return true
}

// changed tells whether the step changes something that the component reads.
func (m *machine) changed(op *operator, cp *component, s, next []uint64) bool {
	differs := func(v int32) bool {
		if _, ok := slices.BinarySearch(cp.touch, v); !ok {
			return false
		}
		x := &m.t.vars[v]
		return x.get(s) != x.get(next)
	}
	for _, l := range op.set {
		if differs(l.v) {
			return true
		}
	}
	for i := range op.updates {
		if differs(op.updates[i].v) {
			return true
		}
	}
	return false
}
