package model

// Invariant is a condition that no step may make worse. It is split into
// components (its conjuncts, and each conjunct over all objects of a type by
// object), each with a violation of its own.
type Invariant struct {
	Name    string
	Message string
	Cond    *Cond
	Strict  bool // must hold from the start

	components []component
	reads      map[*Fluent]bool
}

// component is one condition over the objects of its binders.
type component struct {
	binders []Binder
	expr    *Expr
	reads   []pattern // nil where a changed atom does not tell which objects the binders must have
	all     []pattern // every read; nil where there are too many
}

// AddInvariant declares an invariant.
func (m *Model) AddInvariant(inv *Invariant) {
	inv.reads = map[*Fluent]bool{}
	for _, e := range inv.Cond.Conjuncts {
		e.BaseFluents(inv.reads)
		inv.split(e, nil)
	}
	m.Invariants = append(m.Invariants, inv)
}

func (inv *Invariant) split(e *Expr, binders []Binder) {
	switch e.Op {
	case OpAnd:
		for _, a := range e.Args {
			inv.split(a, binders)
		}
	case OpAll:
		b := append(append([]Binder(nil), binders...), Binder{e.Slot, e.Over, e.Name})
		inv.split(e.Args[0], b)
	default:
		inv.components = append(inv.components, component{binders, e, patterns(e, binders), allPatterns(e, binders)})
	}
}

// Breach is an invariant that is violated, or that a step made worse.
type Breach struct {
	Invariant *Invariant
	Failure   Failure
}

// Broken returns the components of the invariant that are not true.
func (inv *Invariant) Broken(s *State) []Failure { return inv.Cond.Explain(s, nil) }

// Worsened returns the first component of an invariant that the committed
// delta made worse, or nil: where a step changes something that a component
// reads, the component must be known true afterwards, or known no worse.
//
// Whether a step changes something that a component reads is told by the atoms
// written and the atoms that the component may read, not by values. A component
// that is unknown afterwards is therefore worsened also where its value could
// not have depended on what was written: of up(host(s)), with host(s) = h1 and
// up(h1) unknown, a step that writes up(h2). That is sound, not complete.
func (g Ground) Worsened(s *State, d *Delta) *Breach {
	for _, inv := range g.Action.invariant {
		for i := range inv.components {
			if f := inv.components[i].worsened(inv, s, d); f != nil {
				return &Breach{inv, *f}
			}
		}
	}
	return nil
}

func (c *component) worsened(inv *Invariant, s *State, d *Delta) *Failure {
	for len(d.bound) < inv.Cond.Slots {
		d.bound = append(d.bound, 0)
	}
	env := d.bound[:inv.Cond.Slots]
	if c.reads == nil {
		return c.each(inv, s, d, env, 0)
	}
	for i := range d.Writes {
		w := &d.Writes[i]
		if !w.Changed() {
			continue
		}
		for k := range c.reads {
			r := &c.reads[k]
			if r.fluent != w.Fluent || !r.match(s.u, w.Index, env) || !c.ranges(s.u, env) {
				continue
			}
			if f := c.check(inv, s, d, env); f != nil {
				return f
			}
		}
	}
	return nil
}

// ranges tells whether each binder's slot holds an object of its type.
func (c *component) ranges(u *Universe, env []int32) bool {
	for _, b := range c.binders {
		if !u.Has(b.Type, env[b.Slot]) {
			return false
		}
	}
	return true
}

func (c *component) each(inv *Invariant, s *State, d *Delta, env []int32, k int) *Failure {
	if k == len(c.binders) {
		return c.check(inv, s, d, env)
	}
	for _, o := range s.u.members[c.binders[k].Type.id] {
		env[c.binders[k].Slot] = o
		if f := c.each(inv, s, d, env, k+1); f != nil {
			return f
		}
	}
	return nil
}

// check compares the component's violation before and after the delta.
func (c *component) check(inv *Invariant, s *State, d *Delta, env []int32) *Failure {
	truth := c.expr.Eval(s, env)
	if truth == True || !c.touched(inv, s, d, env) {
		return nil
	}
	_, after := c.expr.violation(s, env)
	d.Revert(s)
	before, _ := c.expr.violation(s, env)
	d.Commit(s)
	if after <= before {
		return nil
	}
	f := c.expr.failure(s, env, truth)
	return &f
}

// touched tells whether the delta changes something that the component reads.
func (c *component) touched(inv *Invariant, s *State, d *Delta, env []int32) bool {
	for i := range d.Writes {
		w := &d.Writes[i]
		if !w.Changed() || !inv.reads[w.Fluent] {
			continue
		}
		if c.all == nil {
			return true
		}
		for k := range c.all {
			if c.all[k].fluent == w.Fluent && c.all[k].covers(s.u, w.Index, env) {
				return true
			}
		}
	}
	return false
}

// violation is how far the expression is from true, as an interval: 0 where it
// is true; where it is false 1, plus for a comparison of numbers the distance
// from its bound.
func (e *Expr) violation(s *State, env []int32) (lo, hi float64) {
	dlo, dhi := 0.0, 0.0
	switch e.Op {
	case OpLt, OpLe, OpGt, OpGe, OpEq:
		if e.Args[0].Kind == KindNumber {
			dlo, dhi = e.distance(s, env)
		}
	}
	switch e.Eval(s, env) {
	case True:
		return 0, 0
	case False:
		return 1 + dlo, 1 + dhi
	}
	return 0, 1 + dhi
}

func (e *Expr) distance(s *State, env []int32) (lo, hi float64) {
	alo, ahi := e.Args[0].Number(s, env)
	blo, bhi := e.Args[1].Number(s, env)
	switch e.Op {
	case OpLt, OpLe:
		lo, hi = alo-bhi, ahi-blo
	case OpGt, OpGe:
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
