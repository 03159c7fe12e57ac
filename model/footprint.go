package model

// Footprint is what a ground action reads and writes, derived fluents expanded
// to base fluents: the resources of its leases.
type Footprint struct {
	Read  []Ref // preconditions, conditions and values of effects, cost, invariants it could break
	Write []Ref
}

// Footprint computes the ground action's footprint. It does not depend on the
// state: a quantified read, or an argument that depends on the state, takes
// the whole fluent. Each reference stands once.
func (g Ground) Footprint(u *Universe) Footprint {
	a := g.Action
	env := make([]int32, max(a.Slots, len(g.Args)))
	copy(env, g.Args)
	r := newReader(u, env, len(g.Args))
	if a.Precondition != nil {
		for _, e := range a.Precondition.Conjuncts {
			r.expr(e)
		}
	}
	w := newReader(u, env, len(g.Args))
	for i := range a.Effects {
		e := &a.Effects[i]
		r.expr(e.When)
		r.expr(e.Value)
		w.ref(e.Fluent, e.Args)
	}
	r.expr(a.Cost)
	for _, inv := range a.invariant {
		for i := range inv.components {
			inv.components[i].footprint(inv, r, w.refs)
		}
	}
	return Footprint{Read: r.refs, Write: w.refs}
}

// footprint adds what checking the component after these writes reads: its
// instances that the writes touch, where they tell which; else all of it.
func (c *component) footprint(inv *Invariant, r *reader, writes []Ref) {
	env := make([]int32, inv.Cond.Slots)
	whole := c.reads == nil
	for _, w := range writes {
		whole = whole || w.Whole() && inv.reads[w.Fluent]
	}
	if whole {
		r.bound = 0
		r.expr(c.expr)
		return
	}
	for _, w := range writes {
		for i := range c.reads {
			p := &c.reads[i]
			if p.fluent != w.Fluent || !p.match(r.u, r.u.Index(w.Fluent, w.Args), env) || !c.ranges(r.u, env) {
				continue
			}
			for k := range c.reads {
				r.add(c.reads[k].fluent, c.reads[k].ground(env))
			}
		}
	}
}

// ground returns the arguments with the binders' objects in env.
func (p *pattern) ground(env []int32) []int32 {
	args := make([]int32, len(p.args))
	for i, a := range p.args {
		if args[i] = a.object; a.object < 0 {
			args[i] = env[a.slot]
		}
	}
	return args
}

// Reads returns the base fluents' instances that the condition reads with
// these objects in its first slots.
func (c *Cond) Reads(u *Universe, args []int32) []Ref {
	if c == nil {
		return nil
	}
	r := newReader(u, c.env(args), len(args))
	for _, e := range c.Conjuncts {
		r.expr(e)
	}
	return r.refs
}

// reader gathers references; slots below bound hold objects, the others are
// quantified.
type reader struct {
	u     *Universe
	env   []int32
	bound int
	seen  map[leafKey]bool
	whole map[*Fluent]bool
	refs  []Ref
}

func newReader(u *Universe, env []int32, bound int) *reader {
	return &reader{u: u, env: env, bound: bound, seen: map[leafKey]bool{}, whole: map[*Fluent]bool{}}
}

func (r *reader) expr(e *Expr) {
	if e == nil {
		return
	}
	for _, a := range e.Args {
		r.expr(a)
	}
	if e.Op == OpFluent {
		r.ref(e.Fluent, e.Args)
	}
}

func (r *reader) ref(f *Fluent, args []*Expr) {
	ground := make([]int32, len(args))
	fixed := 0
	for k, a := range args {
		switch {
		case a.Op == OpObject:
			ground[k] = a.Const.Object()
		case a.Op == OpSlot && a.Slot < r.bound:
			ground[k] = r.env[a.Slot]
		default:
			continue
		}
		fixed++
	}
	if f.Derived != nil {
		r.derived(f, ground, fixed == len(args))
		return
	}
	if fixed < len(args) {
		if !r.whole[f] {
			r.whole[f] = true
			r.refs = append(r.refs, Ref{Fluent: f})
		}
		return
	}
	r.add(f, ground)
}

// add notes one instance, once.
func (r *reader) add(f *Fluent, ground []int32) {
	key := leafKey{f, r.u.Index(f, ground)}
	if !r.seen[key] {
		r.seen[key] = true
		r.refs = append(r.refs, Ref{f, ground})
	}
}

// derived expands a derived fluent's definition, with its parameters bound
// where they are known.
func (r *reader) derived(f *Fluent, args []int32, known bool) {
	env, bound := r.env, r.bound
	r.env, r.bound = args, 0
	if known {
		r.bound = len(args)
	}
	r.expr(f.Derived)
	r.env, r.bound = env, bound
}
