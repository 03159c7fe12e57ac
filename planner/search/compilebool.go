package search

import "github.com/fettleops/fettle/model"

func (c *compiler) not(a *node) *node {
	switch {
	case a.isConst():
		return c.bool(a.tri.Not())
	case a.op == model.OpNot:
		return a.args[0]
	}
	return c.add(node{op: model.OpNot, kind: model.KindBool, args: []*node{a}})
}

func (c *compiler) and(args []*node) *node { return c.nary(model.OpAnd, args, model.True) }

func (c *compiler) or(args []*node) *node { return c.nary(model.OpOr, args, model.False) }

// nary builds a conjunction or disjunction, whose neutral value is given.
func (c *compiler) nary(op model.Op, args []*node, neutral model.Tri) *node {
	var flat []*node
	unknown := false
	for _, a := range args {
		switch {
		case a.isConst() && a.tri == neutral.Not():
			return a
		case a.isConst() && a.tri == neutral:
		case a.isConst():
			unknown = true
		case a.op == op && a.memo < 0:
			flat = append(flat, a.args...)
		default:
			flat = append(flat, a)
		}
	}
	if unknown {
		flat = append(flat, c.bool(model.Unknown))
	}
	switch len(flat) {
	case 0:
		return c.bool(neutral)
	case 1:
		return flat[0]
	}
	return c.add(node{op: op, kind: model.KindBool, args: flat})
}

// equal compares two operands of one kind.
func (c *compiler) equal(a, b *node) *node {
	if a.isConst() && !b.isConst() {
		a, b = b, a
	}
	switch {
	case a.kind == model.KindObject && a.op == opVar && b.isConst() && b.obj >= 0:
		return c.lit(a.v, c.t.vars[a.v].code(b.obj))
	case a.kind == model.KindBool && b.isConst() && b.tri != model.Unknown:
		if b.tri == model.True {
			return a
		}
		return c.not(a)
	}
	return c.fold(node{op: model.OpEq, kind: model.KindBool, args: []*node{a, b}})
}

// read compiles a fluent's read: an atom where the arguments are constant, a
// table otherwise.
func (c *compiler) read(e *model.Expr, env []int32) *node {
	args := make([]*node, len(e.Args))
	ground := make([]int32, len(e.Args))
	fixed := true
	for k, a := range e.Args {
		if a.Op == model.OpSlot {
			ground[k] = env[a.Slot]
			continue
		}
		args[k] = c.expr(a, env)
		if !args[k].isConst() {
			fixed = false
		} else if ground[k] = args[k].obj; ground[k] < 0 {
			return c.constant(e.Fluent.Kind, model.Value{})
		}
	}
	if fixed {
		return c.atom(e.Fluent, ground)
	}
	for k := range args {
		if args[k] == nil {
			args[k] = c.constant(model.KindObject, model.ObjectValue(ground[k]))
		}
	}
	return c.tableOf(e.Fluent, args)
}

// tableOf compiles a read whose arguments depend on the state: one entry for
// each combination of values that they may have.
func (c *compiler) tableOf(f *model.Fluent, args []*node) *node {
	n := node{op: opTable, kind: f.Kind, args: args, fluent: f, table: map[uint64]*node{}}
	domains := make([][]int32, len(args))
	for k, a := range args {
		domains[k] = c.domain(a)
	}
	row := make([]int32, len(args))
	var rec func(int)
	rec = func(k int) {
		if k == len(args) {
			i := c.t.u.Index(f, row)
			n.table[i] = c.atom(f, append([]int32(nil), row...))
			n.keys = append(n.keys, i)
			return
		}
		for _, o := range domains[k] {
			if c.lim.reason != "" {
				return
			}
			row[k] = o
			rec(k + 1)
		}
	}
	rec(0)
	return c.fresh(n)
}

// domain returns the objects that a node may be worth.
func (c *compiler) domain(n *node) []int32 {
	switch n.op {
	case model.OpConst:
		if n.obj < 0 {
			return nil
		}
		return []int32{n.obj}
	case opVar:
		return c.t.vars[n.v].vals
	case opTable:
		var out []int32
		for _, k := range n.keys {
			out = union(out, c.domain(n.table[k]))
		}
		return out
	}
	return union(c.domain(n.args[1]), c.domain(n.args[2])) // OpIf
}

func union(a, b []int32) []int32 {
	seen := make(map[int32]bool, len(a))
	out := append([]int32(nil), a...)
	for _, o := range a {
		seen[o] = true
	}
	for _, o := range b {
		if !seen[o] {
			seen[o] = true
			out = append(out, o)
		}
	}
	return out
}

// atom compiles a ground fluent.
func (c *compiler) atom(f *model.Fluent, args []int32) *node {
	i := c.t.u.Index(f, args)
	if f.Derived != nil {
		return c.derivedAtom(f, args, i)
	}
	v := c.t.find(f, i)
	switch {
	case v < 0:
		return c.constant(f.Kind, c.t.start.Get(model.Atom{Fluent: f, Args: args}))
	case f.Kind == model.KindBool:
		return c.lit(v, codeTrue)
	}
	return c.add(node{op: opVar, kind: f.Kind, v: v})
}

// derivedAtom compiles a derived fluent's definition once for each instance;
// its value is kept while the state does not change.
func (c *compiler) derivedAtom(f *model.Fluent, args []int32, i uint64) *node {
	key := fluentKey{f, i}
	if n := c.derived[key]; n != nil {
		return n
	}
	env := make([]int32, max(f.Slots, len(args)))
	copy(env, args)
	n := c.expr(f.Derived, env)
	if len(n.args) > 0 && n.memo < 0 && (n.kind == model.KindBool || n.kind == model.KindNumber) {
		n.memo = c.t.memos
		c.t.memos++
	}
	c.derived[key] = n
	return n
}
