package model

// Cond is a conjunction in negation normal form, split so that an explanation
// can name each conjunct that fails. The zero value and nil hold always.
type Cond struct {
	Conjuncts []*Expr // in the order written
	Slots     int     // environment size needed
}

// NewCond normalises and splits the expressions, which use fewer than slots slots.
func NewCond(slots int, exprs ...*Expr) *Cond {
	c := &Cond{Slots: slots}
	for _, e := range exprs {
		if e = e.NNF(); e.Op == OpAnd {
			c.Conjuncts = append(c.Conjuncts, e.Args...)
		} else {
			c.Conjuncts = append(c.Conjuncts, e)
		}
	}
	return c
}

// Eval evaluates the conjunction with these objects in the first slots.
func (c *Cond) Eval(s *State, args []int32) Tri {
	if c == nil {
		return True
	}
	return c.eval(s, c.env(args))
}

func (c *Cond) env(args []int32) []int32 {
	env := make([]int32, max(c.Slots, len(args)))
	copy(env, args)
	return env
}

func (c *Cond) eval(s *State, env []int32) Tri {
	t := True
	for _, e := range c.Conjuncts {
		if t = t.And(e.Eval(s, env)); t == False {
			return False
		}
	}
	return t
}

// Leaf is a base atom whose value bears on a condition's failure. Want is the
// truth value that would help, Unknown where the fluent is no bool.
type Leaf struct {
	Atom  Atom
	Value Value
	Want  Tri
}

// Failure is a conjunct that does not hold. A conjunct over all objects of a
// type is split, so that each object for which it fails is a failure of its own.
type Failure struct {
	Text   string // the conjunct with its parameters replaced: in_lb(db)
	Truth  Tri    // False or Unknown
	Leaves []Leaf
	Expr   *Expr
	Env    []int32 // of its own; Expr can be evaluated in it
}

// Explain returns the conjuncts that are not true, in the order written.
func (c *Cond) Explain(s *State, args []int32) []Failure {
	if c == nil {
		return nil
	}
	x := explainer{s: s}
	for _, e := range c.Conjuncts {
		x.conjunct(e, c.env(args))
	}
	return x.failures
}

type explainer struct {
	s        *State
	failures []Failure
}

func (x *explainer) conjunct(e *Expr, env []int32) {
	t := e.Eval(x.s, env)
	if t == True {
		return
	}
	switch {
	case e.Op == OpAnd:
		for _, a := range e.Args {
			x.conjunct(a, env)
		}
		return
	case e.Op == OpAll && (t == False || !x.s.u.open[e.Over.id]):
		for _, o := range x.s.u.members[e.Over.id] {
			env[e.Slot] = o
			x.conjunct(e.Args[0], env)
		}
		return
	}
	x.failures = append(x.failures, e.failure(x.s, env, t))
}

// failure explains why the expression has this truth value, which is not true.
func (e *Expr) failure(s *State, env []int32, t Tri) Failure {
	own := append([]int32(nil), env...)
	f := Failure{Text: e.Text(s.u, own), Truth: t, Expr: e, Env: own}
	env = append([]int32(nil), env...)
	e.leaves(s, env, True, &f.Leaves, map[leafKey]bool{})
	if len(f.Leaves) == 0 { // no fact alone stands in the way: show what is read
		e.leaves(s, env, Unknown, &f.Leaves, map[leafKey]bool{})
	}
	return f
}

type leafKey struct {
	f *Fluent
	i uint64
}

// leaves collects the base atoms that keep a bool expression from the wanted
// truth value; with Unknown wanted, all that it reads.
func (e *Expr) leaves(s *State, env []int32, want Tri, out *[]Leaf, seen map[leafKey]bool) {
	if want != Unknown && e.Kind == KindBool && e.Eval(s, env) == want {
		return
	}
	switch e.Op {
	case OpNot:
		e.Args[0].leaves(s, env, want.Not(), out, seen)
	case OpAll, OpAny, OpOne, OpCount, OpSum, OpMin, OpMax:
		for _, o := range s.u.members[e.Over.id] {
			env[e.Slot] = o
			e.Args[0].leaves(s, env, e.wantBelow(want), out, seen)
		}
	case OpFluent:
		e.fluentLeaf(s, env, want, out, seen)
	case OpAnd, OpOr:
		for _, a := range e.Args {
			a.leaves(s, env, want, out, seen)
		}
	case OpLt, OpLe, OpGt, OpGe:
		for i, a := range e.Args {
			a.leaves(s, env, countWant(e.Op, i, want), out, seen)
		}
	default:
		for _, a := range e.Args {
			a.leaves(s, env, Unknown, out, seen)
		}
	}
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

func (e *Expr) fluentLeaf(s *State, env []int32, want Tri, out *[]Leaf, seen map[leafKey]bool) {
	args := make([]int32, len(e.Args))
	for k, a := range e.Args {
		if a.Op == OpFluent {
			a.fluentLeaf(s, env, Unknown, out, seen)
		}
		if args[k] = a.object(s, env); args[k] < 0 {
			return
		}
	}
	if e.Fluent.Derived != nil {
		inner := make([]int32, max(e.Fluent.Slots, len(args)))
		copy(inner, args)
		e.Fluent.Derived.NNF().leaves(s, inner, want, out, seen)
		return
	}
	key := leafKey{e.Fluent, s.u.Index(e.Fluent, args)}
	if seen[key] {
		return
	}
	seen[key] = true
	if e.Fluent.Kind != KindBool {
		want = Unknown
	}
	*out = append(*out, Leaf{Atom: Atom{e.Fluent, args}, Value: s.get(key.f, key.i), Want: want})
}

// Part is one conjunct of a condition, for one choice of the objects that the
// condition quantifies over at its top.
type Part struct {
	Text  string
	Expr  *Expr
	Env   []int32
	bound int
}

// Parts splits the condition into its conjuncts, those over all objects of a
// type by object.
func (c *Cond) Parts(u *Universe, args []int32) []Part {
	if c == nil {
		return nil
	}
	var parts []Part
	for _, e := range c.Conjuncts {
		parts = split(u, e, c.env(args), len(args), parts)
	}
	return parts
}

func split(u *Universe, e *Expr, env []int32, bound int, parts []Part) []Part {
	switch {
	case e.Op == OpAnd:
		for _, a := range e.Args {
			parts = split(u, a, env, bound, parts)
		}
	case e.Op == OpAll && !u.open[e.Over.id]:
		for _, o := range u.members[e.Over.id] {
			env[e.Slot] = o
			parts = split(u, e.Args[0], env, max(bound, e.Slot+1), parts)
		}
	default:
		own := append([]int32(nil), env...)
		parts = append(parts, Part{Text: e.Text(u, own), Expr: e, Env: own, bound: bound})
	}
	return parts
}

// Eval evaluates the conjunct.
func (p Part) Eval(s *State) Tri { return p.Expr.Eval(s, append([]int32(nil), p.Env...)) }

// Reads returns the base fluents' instances that the conjunct reads, and
// whether it reads a derived fluent.
func (p Part) Reads(u *Universe) (refs []Ref, derived bool) {
	r := newReader(u, p.Env, p.bound)
	r.expr(p.Expr)
	p.Expr.Walk(func(e *Expr) bool {
		derived = derived || e.Op == OpFluent && e.Fluent.Derived != nil
		return true
	})
	return r.refs, derived
}
