package search

import (
	"slices"

	"github.com/fettleops/fettle/model"
)

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
		if m.eval(cp.truth) == model.True || !m.changed(op, cp.touch, s, next) {
			continue
		}
		_, after := m.violation(cp)
		m.load(s)
		if before, _ := m.violation(cp); after <= before {
			continue
		}
		if !cp.loose || m.changed(op, cp.own, s, next) {
			return false
		}
		// Nothing that bears on its value changed: whether the model takes the
		// component for touched, and so for possibly worse, it has to say.
		return m.modelAllows(op, s)
	}
	return true
}

// modelAllows asks the model itself whether the step makes no invariant worse.
func (m *machine) modelAllows(op *operator, s []uint64) bool {
	if m.scratch == nil {
		m.scratch = m.t.start.Clone()
	}
	for v := range m.t.vars {
		if x := &m.t.vars[v]; x.word >= 0 {
			m.scratch.Set(model.Atom{Fluent: x.f, Args: m.t.u.Args(x.f, x.index)}, m.t.decode(x, x.get(s)))
		}
	}
	if op.g.Effects(m.scratch, &m.delta) != nil {
		return false
	}
	m.delta.Commit(m.scratch)
	worse := op.g.Worsened(m.scratch, &m.delta)
	m.delta.Revert(m.scratch)
	return worse == nil
}

// changed tells whether the step changes one of the variables, which are sorted.
func (m *machine) changed(op *operator, vars []int32, s, next []uint64) bool {
	differs := func(v int32) bool {
		if _, ok := slices.BinarySearch(vars, v); !ok {
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
