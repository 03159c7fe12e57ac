package search

import "github.com/fettleops/fettle/model"

// extend binds the free parameters of an action in every way that agrees with
// what is reached. done and passed are the atoms and checks known to hold.
func (g *grounder) extend(s *schema, env []int32, done, passed uint64) {
	if !g.lim.ok() {
		return
	}
	for i, p := range s.atoms {
		if done&(1<<i) != 0 || !bound(p.terms, env) {
			continue
		}
		if !g.reached(p, env) {
			return
		}
		done |= 1 << i
	}
	for i, c := range s.checks {
		if passed&(1<<i) != 0 || !c.bound(env) {
			continue
		}
		if !g.holds(s, c, env) {
			return
		}
		passed |= 1 << i
	}
	if g.waits(s, env) {
		g.suspended = append(g.suspended, suspended{s, env, done, passed})
		g.lim.use(groundBytes)
		return
	}
	g.branch(s, env, done, passed)
}

func bound(terms []term, env []int32) bool {
	for _, t := range terms {
		if t.value(env) < 0 {
			return false
		}
	}
	return true
}

// holds decides a check on the start, where its fluents stay as they are.
func (g *grounder) holds(s *schema, c check, env []int32) bool {
	full := make([]int32, max(s.a.Slots, len(env)))
	copy(full, env)
	return g.possibly(c.e.Eval(g.start, full))
}

// reached tells whether a bound atom may hold in some state.
func (g *grounder) reached(p pattern, env []int32) bool {
	tuple := make([]int32, len(p.terms), 8)
	for k, t := range p.terms {
		tuple[k] = t.value(env)
	}
	args := tuple[:len(p.f.Params)]
	if p.neg {
		if g.possibly(g.start.Get(model.Atom{Fluent: p.f, Args: args}).Tri().Not()) {
			return true
		}
		v := g.vars.find(p.f, g.u.Index(p.f, args))
		return v >= 0 && g.vars.vars[v].canFalse
	}
	r := g.relationOf(p.f)
	if r.has(tuple) {
		return true
	}
	if r.listed {
		return false
	}
	v := g.start.Get(model.Atom{Fluent: p.f, Args: args})
	if p.f.Kind == model.KindBool {
		return g.possibly(v.Tri())
	}
	return v.Object() == tuple[len(args)] || g.optimistic && !v.Known()
}

// branch binds one more parameter, or all those of an atom, by whatever leaves
// the fewest choices.
func (g *grounder) branch(s *schema, env []int32, done, passed uint64) {
	slot, best := -1, 0
	for i, o := range env {
		if n := len(g.u.Objects(s.a.Params[i].Type)); o < 0 && (slot < 0 || n < best) {
			slot, best = i, n
		}
	}
	if slot < 0 {
		g.emit(s, env)
		return
	}
	atom, tuples := -1, []int32(nil)
	for i, p := range s.atoms {
		if done&(1<<i) != 0 || p.neg || !g.relationOf(p.f).listed {
			continue
		}
		if m := g.candidates(p, env); atom < 0 && len(m) <= best || len(m) < best {
			atom, tuples, best = i, m, len(m)
		}
	}
	if atom < 0 {
		for _, o := range g.u.Objects(s.a.Params[slot].Type) {
			next := append([]int32(nil), env...)
			next[slot] = o
			g.extend(s, next, done, passed)
		}
		return
	}
	p := s.atoms[atom]
	r := g.relationOf(p.f)
	for _, i := range tuples {
		next := append([]int32(nil), env...)
		if g.bind(s, p.terms, r.tuple(i), next) {
			g.extend(s, next, done|1<<atom, passed)
		}
	}
}

// candidates returns the tuples that may agree with the atom's bound terms.
func (g *grounder) candidates(p pattern, env []int32) []int32 {
	var probe [32]int32
	mask := uint32(0)
	n := min(len(p.terms), len(probe))
	for k, t := range p.terms[:n] {
		if o := t.value(env); o >= 0 {
			probe[k] = o
			mask |= 1 << k
		}
	}
	return g.relationOf(p.f).matches(probe[:n], mask)
}

// bind unifies terms with a tuple and tells whether they agree.
func (g *grounder) bind(s *schema, terms []term, tuple []int32, env []int32) bool {
	for k, t := range terms {
		o := tuple[k]
		if have := t.value(env); have >= 0 {
			if have != o {
				return false
			}
			continue
		}
		if !g.u.Has(s.a.Params[t.slot].Type, o) {
			return false
		}
		env[t.slot] = o
	}
	return true
}
