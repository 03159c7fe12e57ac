package search

import (
	"slices"

	"github.com/fettleops/fettle/model"
)

// maxInline is the number of conjuncts of a derived fluent up to which they
// are put in its place.
const maxInline = 4

// ground compiles a ground action, unless it can never be applicable.
func (c *compiler) ground(g model.Ground) {
	env := make([]int32, max(g.Action.Slots, len(g.Args)))
	copy(env, g.Args)
	op := operator{g: g}
	if g.Action.Precondition != nil {
		env := make([]int32, max(g.Action.Precondition.Slots, len(env)))
		copy(env, g.Args)
		for _, e := range g.Action.Precondition.Conjuncts {
			if !c.precondition(&op, c.expr(e, env)) {
				return
			}
		}
	}
	if !op.normalise() {
		return
	}
	w := writes{at: map[int32]int{}}
	for i := range g.Action.Effects {
		c.effect(&w, &g.Action.Effects[i], env, 0)
	}
	for _, u := range w.updates {
		c.t.place(&op, u)
	}
	c.cost(&op, env)
	c.t.ops = append(c.t.ops, op)
	c.lim.use(int64(200 + 16*(len(op.pre)+len(op.set)) + 64*len(op.updates)))
}

// precondition adds a conjunct; false where it can never hold.
func (c *compiler) precondition(op *operator, n *node) bool {
	switch l, ok := c.t.literal(n); {
	case n.isConst():
		return n.tri == model.True || c.optimistic && n.tri == model.Unknown
	case ok:
		op.pre = append(op.pre, l)
	case n.op == model.OpAnd && (n.memo < 0 || len(n.args) <= maxInline):
		for _, a := range n.args {
			if !c.precondition(op, a) {
				return false
			}
		}
	default:
		op.rest = append(op.rest, n)
	}
	return true
}

// literal reads a node as a value of a variable: a bool or its negation, an
// object equal to a constant.
func (t *task) literal(n *node) (lit, bool) {
	if n.op == opLit {
		return lit{n.v, n.code}, true
	}
	if n.op == model.OpNot && n.args[0].op == opLit && t.vars[n.args[0].v].f.Kind == model.KindBool {
		return lit{n.args[0].v, codeFalse}, true
	}
	return lit{}, false
}

// normalise sorts the literals and drops repeated ones; false where two contradict.
func (op *operator) normalise() bool {
	slices.SortFunc(op.pre, func(a, b lit) int { return int(a.v) - int(b.v) })
	op.pre = slices.Compact(op.pre)
	for i, l := range op.pre {
		if l.code == never || i > 0 && op.pre[i-1].v == l.v {
			return false
		}
	}
	return true
}

// writes gathers an action's effects by variable, in the order first written.
type writes struct {
	updates []update
	at      map[int32]int
}

func (c *compiler) effect(w *writes, e *model.Effect, env []int32, k int) {
	if k < len(e.Forall) {
		for _, o := range c.t.u.Objects(e.Forall[k].Type) {
			env[e.Forall[k].Slot] = o
			c.effect(w, e, env, k+1)
		}
		return
	}
	p := part{op: e.Op}
	if e.When != nil {
		switch n := c.expr(e.When, env); {
		case !n.isConst():
			p.when = n
		case n.tri == model.False:
			return
		case n.tri == model.Unknown:
			p.when = n
		}
	}
	if e.Value != nil {
		p.value = c.expr(e.Value, env)
	}
	v := c.t.find(e.Fluent, c.t.u.Index(e.Fluent, headArgs(e, env)))
	if v < 0 {
		return // its condition cannot hold
	}
	i, ok := w.at[v]
	if !ok {
		i = len(w.updates)
		w.at[v] = i
		w.updates = append(w.updates, update{v: v})
	}
	w.updates[i].parts = append(w.updates[i].parts, p)
}

// place puts an update among the operator's constants where it is one.
func (t *task) place(op *operator, u update) {
	if code, ok := t.constantUpdate(u); ok {
		op.set = append(op.set, lit{u.v, code})
		return
	}
	op.updates = append(op.updates, u)
}

func (t *task) constantUpdate(u update) (uint64, bool) {
	x := &t.vars[u.v]
	if len(u.parts) == 1 && u.parts[0].when == nil && u.parts[0].op == model.Set {
		if n := u.parts[0].value; n.isConst() {
			return t.encode(x, n.value()), true
		}
		return 0, false
	}
	code := uint64(never)
	for _, p := range u.parts {
		switch {
		case p.when != nil || p.op > model.Del:
			return 0, false
		case p.op == model.Add:
			code = codeTrue
		case code != codeTrue:
			code = codeFalse
		}
	}
	return code, true
}

// value returns the value of a constant.
func (n *node) value() model.Value {
	switch n.kind {
	case model.KindBool:
		return model.TriValue(n.tri)
	case model.KindNumber:
		if n.lo == n.hi {
			return model.NumberValue(n.lo)
		}
	case model.KindObject:
		if n.obj >= 0 {
			return model.ObjectValue(n.obj)
		}
	case model.KindString:
		if n.known {
			return model.StringValue(n.str)
		}
	}
	return model.Value{}
}

// cost compiles what the operator costs: a constant, or a lower bound and the
// expression. An unknown or negative cost counts as one.
func (c *compiler) cost(op *operator, env []int32) {
	op.cost = 1
	if op.g.Action.Cost == nil {
		return
	}
	if n := c.expr(op.g.Action.Cost, env); n.isConst() && n.lo == n.hi && n.lo >= 0 && n.lo < posInf {
		op.cost = n.lo
	} else {
		op.cost, op.price = 0, n
	}
}
