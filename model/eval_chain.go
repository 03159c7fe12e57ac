package model

import "math/bits"

// maxChain is how many quantifiers a chain has at most: they are numbered in a
// word's bits.
const maxChain = 64

// minChain is the least number of quantifiers for which another order pays.
const minChain = 2

// chain is how a quantifier is evaluated whose body is another of its kind, as
// in any(a, any(b, p(a) && q(a, b) && r(b))). Written so, the conjunction is
// looked at for each combination of objects. The chain looks at a conjunct as
// soon as the variables that it names are bound, and at those that share none
// apart from each other, which gives the same truth value: the conjunction is a
// minimum, the quantifier a maximum, and what does not depend on the variable
// can be taken out of the maximum.
//
// A chain of all is that of any over the negated body, negated. As an
// [aggregate] does, a chain knows its expression by its address.
type chain struct {
	expr   *Expr
	all    bool
	levels []*Expr // the quantifiers, outermost first
	parts  []part  // the conjuncts, in the order written
	plan   stage   // of no variable
}

// part is a conjunct, or the negation of what is written.
type part struct {
	expr *Expr
	neg  bool
	vars uint64 // the levels whose variables it names
}

// stage is a variable with what is looked at once it is bound.
type stage struct {
	level *Expr
	tests []part
	below []stage // they have no variable in common
}

// findChains gives every quantifier of the model its chain, where it has one.
func (m *Model) findChains() {
	m.exprs(func(e *Expr) {
		e.Walk(func(e *Expr) bool {
			if (e.Op == OpAll || e.Op == OpAny) && !e.chained() {
				if c := newChain(e); c != nil {
					e.chain = c
				}
			}
			return true
		})
	})
}

// chained tells whether the expression has a chain of its own.
func (e *Expr) chained() bool { return e.chain != nil && e.chain.expr == e }

func newChain(e *Expr) *chain {
	c := &chain{expr: e, all: e.Op == OpAll}
	body, neg := c.descend(e, c.all)
	if len(c.levels) < minChain {
		return nil
	}
	c.split(body, neg)
	c.plan.tests, c.plan.below = c.arrange(1<<len(c.levels)-1, c.parts)
	return c
}

// descend gathers the quantifiers down to the first expression that is none, or
// that is negated where it is taken for a conjunct.
func (c *chain) descend(e *Expr, neg bool) (body *Expr, negated bool) {
	for {
		switch {
		case e.Op == OpNot:
			neg = !neg
		case (e.Op == OpAny && !neg || e.Op == OpAll && neg) && c.free(e):
			c.levels = append(c.levels, e)
		default:
			return e, neg
		}
		e = e.Args[0]
	}
}

// free tells whether the quantifier can be another level.
func (c *chain) free(e *Expr) bool {
	return len(c.levels) < maxChain && c.level(e.Slot) < 0
}

// level returns which level binds the slot, or -1.
func (c *chain) level(slot int) int {
	for i, l := range c.levels {
		if l.Slot == slot {
			return i
		}
	}
	return -1
}

// split takes the body apart.
func (c *chain) split(e *Expr, neg bool) {
	switch {
	case e.Op == OpNot:
		c.split(e.Args[0], !neg)
	case e.Op == OpAnd && !neg, e.Op == OpOr && neg:
		for _, a := range e.Args {
			c.split(a, neg)
		}
	default:
		c.parts = append(c.parts, part{e, neg, c.named(e)})
	}
}

func (c *chain) named(e *Expr) (vars uint64) {
	e.Walk(func(e *Expr) bool {
		if e.Op == OpSlot {
			if i := c.level(e.Slot); i >= 0 {
				vars |= 1 << i
			}
		}
		return true
	})
	return vars
}

// arrange returns the parts that need none of the unbound variables, and a
// stage for each group of variables that other parts join.
func (c *chain) arrange(unbound uint64, parts []part) (tests []part, below []stage) {
	var rest []part
	for _, p := range parts {
		if p.vars&unbound == 0 {
			tests = append(tests, p)
		} else {
			rest = append(rest, p)
		}
	}
	for unbound != 0 {
		group, joined := together(unbound, rest)
		first := choose(group, joined)
		st := stage{level: c.levels[first]}
		st.tests, st.below = c.arrange(group&^(1<<first), joined)
		below = append(below, st)
		unbound &^= group
	}
	return tests, below
}

// together returns the first unbound variable with those that parts join to it,
// and these parts.
func together(unbound uint64, parts []part) (group uint64, joined []part) {
	group = unbound & -unbound
	for before := uint64(0); before != group; {
		before = group
		for _, p := range parts {
			if p.vars&group != 0 {
				group |= p.vars & unbound
			}
		}
	}
	for _, p := range parts {
		if p.vars&group != 0 {
			joined = append(joined, p)
		}
	}
	return group, joined
}

// choose returns the variable to bind first: that with which most parts can be
// looked at; of such, the one that most parts name.
func choose(group uint64, parts []part) int {
	best, score := 0, -1
	for vars := group; vars != 0; vars &= vars - 1 {
		bit, n := vars&-vars, 0
		for _, p := range parts {
			switch p.vars & group {
			case bit:
				n += len(parts) + 1
			default:
				n += bits.OnesCount64(p.vars & bit)
			}
		}
		if n > score {
			best, score = bits.TrailingZeros64(bit), n
		}
	}
	return best
}

// eval evaluates the chain's expression.
func (c *chain) eval(s *State, env []int32) Tri {
	t := c.plan.inside(s, env, False)
	if t == False && c.mayHaveMore(s.u) {
		t = Unknown
	}
	if c.all {
		return t.Not()
	}
	return t
}

// mayHaveMore tells whether a level is reached whose type may have objects that
// are not known, of which any or all is unknown.
func (c *chain) mayHaveMore(u *Universe) bool {
	for _, l := range c.levels {
		if u.open[l.Over.id] {
			return true
		}
		if len(u.members[l.Over.id]) == 0 {
			return false
		}
	}
	return false
}

// inside evaluates what is in stage for the variables that are bound. What is
// not above known decides nothing and may be told too low.
func (st *stage) inside(s *State, env []int32, known Tri) Tri {
	t := True
	for i := range st.tests {
		if t = t.And(st.tests[i].eval(s, env)); t <= known {
			return t
		}
	}
	for i := range st.below {
		if t = t.And(st.below[i].some(s, env, known, t)); t <= known {
			return t
		}
	}
	return t
}

// some evaluates the stage for any object, until that is enough.
func (st *stage) some(s *State, env []int32, known, enough Tri) Tri {
	best := False
	for _, o := range s.u.members[st.level.Over.id] {
		env[st.level.Slot] = o
		if best = best.Or(st.inside(s, env, max(best, known))); best >= enough {
			break
		}
	}
	return best
}

func (p *part) eval(s *State, env []int32) Tri {
	t := p.expr.Eval(s, env)
	if p.neg {
		return t.Not()
	}
	return t
}

// empty tells whether some level has no object.
func (c *chain) empty(u *Universe) bool {
	for _, l := range c.levels {
		if len(u.members[l.Over.id]) == 0 {
			return true
		}
	}
	return false
}
