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

// Failure is a conjunct that does not hold. A conjunct over all objects of a
// type is split, so that each object for which it fails is a failure of its own.
type Failure struct {
	Text   string // the conjunct with its parameters replaced: in_lb(db)
	Truth  Tri    // False or Unknown
	Leaves []Leaf
	Expr   *Expr
	Env    []int32 // of its own; Expr can be evaluated in it
}

// maxFailures is how many failures a conjunct over all objects is split into, or
// few more.
const maxFailures = 1 << 12

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
	case e.Op == OpAll && len(x.failures) < maxFailures && (t == False || !x.s.u.open[e.Over.id]):
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
	return Failure{Text: e.Text(s.u, own), Truth: t, Expr: e, Env: own, Leaves: leavesOf(e, s, env)}
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
