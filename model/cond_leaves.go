package model

import "math/bits"

// maxLooks bounds how many expressions are looked at to explain one failure:
// nested quantifiers have a combination of objects for each.
const maxLooks = 1 << 18

// Leaf is a base atom whose value bears on a condition's failure. Want is the
// truth value that would help, Unknown where the fluent is no bool.
type Leaf struct {
	Atom  Atom
	Value Value
	Want  Tri
}

type leafKey struct {
	f *Fluent
	i uint64
}

// leafReader gathers the base atoms that keep an expression from a truth value.
type leafReader struct {
	s      *State
	leaves []Leaf
	seen   map[leafKey]bool
	looks  int
}

// leavesOf returns the atoms that keep a bool expression, which is not true,
// from being true; where no fact alone stands in the way, all that it reads.
func leavesOf(e *Expr, s *State, env []int32) []Leaf {
	for _, want := range []Tri{True, Unknown} {
		r := leafReader{s: s, seen: map[leafKey]bool{}}
		if r.expr(e, append([]int32(nil), env...), want); len(r.leaves) > 0 {
			return r.leaves
		}
	}
	return nil
}

// expr gathers the base atoms that keep a bool expression from the wanted truth
// value; with Unknown wanted, all that it reads.
func (r *leafReader) expr(e *Expr, env []int32, want Tri) {
	if r.looks++; r.looks > maxLooks || want != Unknown && e.Kind == KindBool && e.Eval(r.s, env) == want {
		return
	}
	switch e.Op {
	case OpNot:
		r.expr(e.Args[0], env, want.Not())
	case OpAll, OpAny, OpOne, OpCount, OpSum, OpMin, OpMax:
		r.quantified(e, env, want)
	case OpFluent:
		r.fluent(e, env, want)
	case OpAnd, OpOr:
		for _, a := range e.Args {
			r.expr(a, env, want)
		}
	case OpLt, OpLe, OpGt, OpGe:
		for i, a := range e.Args {
			r.expr(a, env, countWant(e.Op, i, want))
		}
	default:
		for _, a := range e.Args {
			r.expr(a, env, Unknown)
		}
	}
}

func (r *leafReader) quantified(e *Expr, env []int32, want Tri) {
	if e.chained() {
		r.chain(e.chain, env, want)
		return
	}
	for _, o := range r.s.u.members[e.Over.id] {
		if r.looks > maxLooks {
			return
		}
		env[e.Slot] = o
		r.expr(e.Args[0], env, e.wantBelow(want))
	}
}

// chain gathers from the conjuncts of a chain: where some combination of objects
// is wanted, none is as wanted, and each conjunct is looked at for the objects
// that it names itself.
func (r *leafReader) chain(c *chain, env []int32, want Tri) {
	switch {
	case c.empty(r.s.u):
	case want == Bool(c.all):
		r.stage(&c.plan, env)
	default:
		for _, p := range c.parts {
			r.part(c, p, env, p.want(want, True))
		}
	}
}

// stage gathers from the conjuncts of those combinations of objects that may be
// true where none is wanted.
func (r *leafReader) stage(st *stage, env []int32) {
	if r.looks++; r.looks > maxLooks || st.inside(r.s, env, False) == False {
		return
	}
	for _, p := range st.tests {
		r.expr(p.expr, env, p.want(False, False))
	}
	for i := range st.below {
		for _, o := range r.s.u.members[st.below[i].level.Over.id] {
			env[st.below[i].level.Slot] = o
			r.stage(&st.below[i], env)
		}
	}
}

// want is what the written conjunct should be for the part to become as wanted;
// with Unknown wanted, all is read.
func (p part) want(all, wanted Tri) Tri {
	switch {
	case all == Unknown:
		return Unknown
	case p.neg:
		return wanted.Not()
	}
	return wanted
}

func (r *leafReader) part(c *chain, p part, env []int32, want Tri) {
	if p.vars == 0 {
		r.expr(p.expr, env, want)
		return
	}
	l := c.levels[bits.TrailingZeros64(p.vars)]
	p.vars &= p.vars - 1
	for _, o := range r.s.u.members[l.Over.id] {
		if r.looks > maxLooks {
			return
		}
		env[l.Slot] = o
		r.part(c, p, env, want)
	}
}

func (r *leafReader) fluent(e *Expr, env []int32, want Tri) {
	args := make([]int32, len(e.Args))
	for k, a := range e.Args {
		if a.Op == OpFluent {
			r.fluent(a, env, Unknown)
		}
		if args[k] = a.object(r.s, env); args[k] < 0 {
			return
		}
	}
	if e.Fluent.Derived != nil {
		inner := make([]int32, max(e.Fluent.Slots, len(args)))
		copy(inner, args)
		r.expr(e.Fluent.Derived, inner, want)
		return
	}
	key := leafKey{e.Fluent, r.s.u.Index(e.Fluent, args)}
	if r.seen[key] {
		return
	}
	r.seen[key] = true
	if e.Fluent.Kind != KindBool {
		want = Unknown
	}
	r.leaves = append(r.leaves, Leaf{Atom: Atom{e.Fluent, args}, Value: r.s.get(key.f, key.i), Want: want})
}

// wantBelow is what a quantifier's body should become for the quantifier to
// become as wanted. For a count, want says whether it should grow (True) or
// shrink (False).
func (e *Expr) wantBelow(want Tri) Tri {
	switch e.Op {
	case OpAll, OpAny, OpCount:
		return want
	}
	return Unknown
}

// countWant says whether operand i of a comparison should grow (True) or
// shrink (False) for the comparison to become as wanted.
func countWant(op Op, i int, want Tri) Tri {
	if want == Unknown {
		return Unknown
	}
	grow := (op == OpGt || op == OpGe) == (i == 0)
	if want == False {
		grow = !grow
	}
	return Bool(grow)
}
