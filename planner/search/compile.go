package search

import (
	"encoding/binary"

	"github.com/fettleops/fettle/model"
)

// compiler turns expressions into nodes. Equal nodes are one.
type compiler struct {
	t       *task
	lim     *limiter
	nodes   []*node
	cons    map[string]*node
	derived map[fluentKey]*node
	key     []byte
	// optimistic keeps what depends on an unknown fact of the start.
	optimistic bool
}

type fluentKey struct {
	f *model.Fluent
	i uint64
}

func newCompiler(t *task, lim *limiter) *compiler {
	return &compiler{t: t, lim: lim, cons: map[string]*node{}, derived: map[fluentKey]*node{}}
}

// nodeBytes is about what a node costs.
const nodeBytes = 256

// add returns the node equal to n, or n itself where it is new.
func (c *compiler) add(n node) *node {
	c.key = append(c.key[:0], byte(n.op), byte(n.kind), byte(n.tri))
	for _, x := range [...]uint64{uint64(uint32(n.v)), n.code, numberCode(n.lo), numberCode(n.hi), uint64(uint32(n.obj))} {
		c.key = binary.LittleEndian.AppendUint64(c.key, x)
	}
	if n.hi == posInf || n.open {
		c.key = append(c.key, 'o')
	}
	for _, a := range n.args {
		c.key = binary.LittleEndian.AppendUint32(c.key, uint32(a.id))
	}
	if n.over != nil || n.fluent != nil || n.pattern != nil || n.str != "" || n.known {
		return c.fresh(n)
	}
	if old := c.cons[string(c.key)]; old != nil {
		return old
	}
	p := c.fresh(n)
	c.cons[string(c.key)] = p
	return p
}

func (c *compiler) fresh(n node) *node {
	n.id, n.memo = int32(len(c.nodes)), -1
	p := &n
	c.nodes = append(c.nodes, p)
	c.lim.use(nodeBytes + int64(len(n.args))*8)
	return p
}

func (c *compiler) bool(t model.Tri) *node {
	return c.add(node{op: model.OpConst, kind: model.KindBool, tri: t, obj: -1})
}

func (c *compiler) lit(v int32, code uint64) *node {
	return c.add(node{op: opLit, kind: model.KindBool, v: v, code: code})
}

// constant returns the node of a value that the state does not change.
func (c *compiler) constant(k model.Kind, v model.Value) *node {
	n := node{op: model.OpConst, kind: k, obj: -1}
	switch k {
	case model.KindBool:
		n.tri = v.Tri()
	case model.KindNumber:
		n.lo, n.hi = negInf, posInf
		if f, ok := v.Number(); ok {
			n.lo, n.hi = f, f
		}
	case model.KindObject:
		n.obj = v.Object()
	default:
		n.str, n.known = v.Text()
	}
	return c.add(n)
}

// expr compiles an expression in an environment, whose slots of quantifiers it
// overwrites.
func (c *compiler) expr(e *model.Expr, env []int32) *node {
	switch e.Op {
	case model.OpConst:
		return c.constant(e.Kind, e.Const)
	case model.OpObject:
		return c.constant(model.KindObject, e.Const)
	case model.OpSlot:
		return c.constant(model.KindObject, model.ObjectValue(env[e.Slot]))
	case model.OpFluent:
		return c.read(e, env)
	case model.OpAll, model.OpAny, model.OpOne, model.OpCount, model.OpSum, model.OpMin, model.OpMax:
		return c.quantified(e, env)
	}
	args := make([]*node, len(e.Args))
	for i, a := range e.Args {
		args[i] = c.expr(a, env)
	}
	return c.operator(e, args)
}

// operator builds the node of an operator over compiled operands.
func (c *compiler) operator(e *model.Expr, args []*node) *node {
	switch e.Op {
	case model.OpNot:
		return c.not(args[0])
	case model.OpAnd:
		return c.and(args)
	case model.OpOr:
		return c.or(args)
	case model.OpEq:
		return c.equal(args[0], args[1])
	case model.OpNe:
		return c.not(c.equal(args[0], args[1]))
	case model.OpLt, model.OpLe:
		return c.fold(node{op: e.Op, kind: model.KindBool, args: args})
	case model.OpGt:
		return c.fold(node{op: model.OpLt, kind: model.KindBool, args: []*node{args[1], args[0]}})
	case model.OpGe:
		return c.fold(node{op: model.OpLe, kind: model.KindBool, args: []*node{args[1], args[0]}})
	case model.OpIn:
		return c.in(args)
	}
	n := node{op: e.Op, kind: e.Kind, args: args}
	switch e.Op {
	case model.OpIf:
		if args[0].isConst() && args[0].tri != model.Unknown {
			return args[2-int(args[0].tri)/2]
		}
	case model.OpIsA:
		n.over, n.open, n.own = e.Over, c.t.u.Open(e.Over), e.Args[0].Type.IsA(e.Over)
	case model.OpMatches:
		n.pattern = e.Pattern
	}
	return c.fold(n)
}

// in is a disjunction of equalities.
func (c *compiler) in(args []*node) *node {
	var eqs []*node
	for _, a := range args[1:] {
		eqs = append(eqs, c.equal(args[0], a))
	}
	return c.or(eqs)
}

func (c *compiler) quantified(e *model.Expr, env []int32) *node {
	var args []*node
	for _, o := range c.t.u.Objects(e.Over) {
		if c.lim.reason != "" {
			break
		}
		env[e.Slot] = o
		args = append(args, c.expr(e.Args[0], env))
	}
	open := c.t.u.Open(e.Over)
	switch e.Op {
	case model.OpAll, model.OpAny:
		if open {
			args = append(args, c.bool(model.Unknown))
		}
		if e.Op == model.OpAll {
			return c.and(args)
		}
		return c.or(args)
	case model.OpOne, model.OpCount:
		return c.count(e, args, open)
	}
	return c.fold(node{op: e.Op, kind: model.KindNumber, args: args, open: open})
}

// count folds the bodies that are constant into the bounds.
func (c *compiler) count(e *model.Expr, args []*node, open bool) *node {
	n := node{op: e.Op, kind: e.Kind}
	for _, a := range args {
		switch {
		case !a.isConst():
			n.args = append(n.args, a)
		case a.tri == model.True:
			n.lo++
			n.hi++
		case a.tri == model.Unknown:
			n.hi++
		}
	}
	if open {
		n.hi = posInf
	}
	return c.fold(n)
}

// fold returns the node, or its value where all operands are constant.
func (c *compiler) fold(n node) *node {
	for _, a := range n.args {
		if !a.isConst() {
			return c.add(n)
		}
	}
	m := machine{t: c.t}
	n.memo = -1
	r := node{op: model.OpConst, kind: n.kind, obj: -1}
	switch n.kind {
	case model.KindBool:
		r.tri = m.eval(&n)
	case model.KindNumber:
		r.lo, r.hi = m.number(&n)
	case model.KindObject:
		r.obj = m.object(&n)
	default:
		r.str, r.known = m.text(&n)
	}
	return c.add(r)
}
