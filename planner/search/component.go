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
	op   model.Op
	a, b *node
	own  []int32 // sorted: the variables that its value depends on
	// touch is own and what else the model may take for read by it, sorted.
	// That matters only while the violation is not known.
	touch []int32
	loose bool // touch may be more than the model's
	fuzzy bool // its violation may be unknown in some state
}

// watched are the variables whose change may make the component worse.
func (cp *component) watched() []int32 {
	if cp.fuzzy {
		return cp.touch
	}
	return cp.own
}

// maxDirect is the number of reads up to which the model looks at each.
const maxDirect = 60

// components compiles the invariants' components that an operator may touch.
func (c *compiler) components(p Problem) {
	byFluent := make(map[*model.Fluent][]int32)
	for v := range c.t.vars {
		f := c.t.vars[v].f
		byFluent[f] = append(byFluent[f], int32(v))
	}
	for _, inv := range p.U.Invariants {
		reads := map[*model.Fluent]bool{}
		for _, e := range inv.Cond.Conjuncts {
			e.BaseFluents(reads)
		}
		var all []int32
		for f := range reads {
			all = append(all, byFluent[f]...)
		}
		if slices.Sort(all); len(all) > 0 {
			for _, e := range inv.Cond.Conjuncts {
				c.split(e, nil, make([]int32, inv.Cond.Slots), all)
			}
		}
	}
}

// split takes an invariant apart as the model does: conjuncts, and what holds
// for all objects of a type by object.
func (c *compiler) split(e *model.Expr, binders []model.Binder, env, all []int32) {
	switch e.Op {
	case model.OpAnd:
		for _, a := range e.Args {
			c.split(a, binders, env, all)
		}
	case model.OpAll:
		b := append(slices.Clone(binders), model.Binder{Slot: e.Slot, Type: e.Over})
		c.split(e.Args[0], b, env, all)
	default:
		loose := isLoose(e, binders)
		c.bind(binders, env, func() {
			cp := c.component(e, slices.Clone(env))
			if cp.touch, cp.loose = cp.own, loose; loose {
				cp.touch = all
			}
			if len(cp.touch) > 0 && !(cp.truth.isConst() && cp.truth.tri == model.True) {
				c.t.components = append(c.t.components, cp)
				c.lim.use(int64(128 + 4*len(cp.own)))
			}
		})
	}
}

// isLoose tells whether the model may take more for read by a component than
// the variables that its value depends on.
func isLoose(e *model.Expr, binders []model.Binder) bool {
	reads, loose := 0, false
	e.Walk(func(e *model.Expr) bool {
		loose = loose || e.Over != nil || e.Op == model.OpIf
		if e.Op != model.OpFluent {
			return true
		}
		reads++
		loose = loose || e.Fluent.Derived != nil
		for _, a := range e.Args {
			loose = loose || a.Op != model.OpObject && !bindsSlot(a, binders)
		}
		return true
	})
	return loose || reads == 0 || reads > maxDirect
}

func bindsSlot(e *model.Expr, binders []model.Binder) bool {
	return e.Op == model.OpSlot && slices.ContainsFunc(binders, func(b model.Binder) bool { return b.Slot == e.Slot })
}

// bind calls visit for every combination of the binders' objects.
func (c *compiler) bind(binders []model.Binder, env []int32, visit func()) {
	if len(binders) == 0 {
		visit()
		return
	}
	for _, o := range c.t.u.Objects(binders[0].Type) {
		if !c.lim.ok() {
			return
		}
		env[binders[0].Slot] = o
		c.bind(binders[1:], env, visit)
	}
}

func (c *compiler) component(e *model.Expr, env []int32) component {
	cp := component{op: e.Op, truth: c.expr(e, env)}
	switch e.Op {
	case model.OpLt, model.OpLe, model.OpGt, model.OpGe, model.OpEq:
		if e.Args[0].Kind == model.KindNumber {
			cp.a, cp.b = c.expr(e.Args[0], env), c.expr(e.Args[1], env)
		}
	}
	seen := map[*node]bool{}
	for _, n := range []*node{cp.truth, cp.a, cp.b} {
		n.vars(seen, func(v int32) { cp.own = append(cp.own, v) })
	}
	slices.Sort(cp.own)
	cp.own = slices.Compact(cp.own)
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
