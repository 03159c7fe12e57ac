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
			if cp.touch, cp.loose = all, loose; !loose {
				cp.touch = c.direct(e, env)
			}
			if len(cp.touch) > 0 && (!cp.truth.isConst() || cp.truth.tri != model.True) {
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

// direct returns the variables that the reads of a component name, whose
// arguments are objects and binders: those too that its value does not depend on.
func (c *compiler) direct(e *model.Expr, env []int32) []int32 {
	var out []int32
	e.Walk(func(e *model.Expr) bool {
		if e.Op != model.OpFluent {
			return true
		}
		args := make([]int32, len(e.Args))
		for k, a := range e.Args {
			if args[k] = a.Const.Object(); a.Op == model.OpSlot {
				args[k] = env[a.Slot]
			}
		}
		if v := c.t.find(e.Fluent, c.t.u.Index(e.Fluent, args)); v >= 0 {
			out = append(out, v)
		}
		return false
	})
	slices.Sort(out)
	return slices.Compact(out)
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
