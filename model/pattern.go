package model

// pattern is a read of a base fluent below binders, derived fluents expanded.
type pattern struct {
	fluent *Fluent
	args   []patternArg
}

// patternArg is an object, or else the slot of a binder, or else a variable:
// an object of a type (nil: any) that an inner quantifier ranges over.
type patternArg struct {
	object   int32 // -1: none
	slot     int   // -1: none
	variable int
	over     *Type
}

// maxPatterns bounds the reads of one expression that are looked at.
const maxPatterns = 64

// patterns returns the expression's reads if each has slots of binders and
// objects alone as arguments and names every binder, so that a changed atom
// tells which objects the binders must have; else nil.
func patterns(e *Expr, binders []Binder) []pattern {
	if len(binders) == 0 {
		return nil
	}
	return (&patternFinder{binders: binders}).find(e)
}

// allPatterns returns all of the expression's reads, nil where there are too many.
func allPatterns(e *Expr, binders []Binder) []pattern {
	return (&patternFinder{binders: binders, inner: true}).find(e)
}

type patternFinder struct {
	binders   []Binder
	inner     bool // inner quantifiers are let through
	variables int
	reads     []pattern
	failed    bool
}

type scope map[int]patternArg

func (p *patternFinder) find(e *Expr) []pattern {
	sc := scope{}
	for _, b := range p.binders {
		sc[b.Slot] = patternArg{object: -1, slot: b.Slot}
	}
	if p.expr(e, sc); p.failed {
		return nil
	}
	return p.reads
}

// expr gathers the reads of an expression; the scope gives each slot's meaning.
func (p *patternFinder) expr(e *Expr, sc scope) {
	switch {
	case p.failed:
		return
	case e.Op == OpFluent:
		p.read(e, sc)
	case e.Op == OpSlot:
		// What is no binder's is an inner variable, or a parameter.
		_, ok := sc[e.Slot]
		p.failed = !ok && !p.inner
	case e.Over != nil && e.Op != OpIsA:
		if !p.inner {
			p.failed = true
			return
		}
		in := scope{e.Slot: p.variable(e.Over)}
		for s, a := range sc {
			if s != e.Slot {
				in[s] = a
			}
		}
		p.expr(e.Args[0], in)
	default:
		for _, a := range e.Args {
			p.expr(a, sc)
		}
	}
}

func (p *patternFinder) variable(t *Type) patternArg {
	p.variables++
	return patternArg{object: -1, slot: -1, variable: p.variables - 1, over: t}
}

func (p *patternFinder) read(e *Expr, sc scope) {
	r := pattern{fluent: e.Fluent}
	for _, a := range e.Args {
		r.args = append(r.args, p.arg(a, sc))
	}
	if e.Fluent.Derived != nil {
		in := scope{}
		for i, a := range r.args {
			in[i] = a
		}
		p.expr(e.Fluent.Derived, in)
		return
	}
	for _, b := range p.binders {
		p.failed = p.failed || !p.inner && !r.names(b.Slot)
	}
	p.reads = append(p.reads, r)
	p.failed = p.failed || len(p.reads) > maxPatterns
}

func (p *patternFinder) arg(a *Expr, sc scope) patternArg {
	switch a.Op {
	case OpObject:
		return patternArg{object: a.Const.Object(), slot: -1}
	case OpSlot:
		if x, ok := sc[a.Slot]; ok {
			return x
		}
	default:
		p.expr(a, sc) // an argument that reads fluents itself
	}
	p.failed = p.failed || !p.inner
	return p.variable(nil)
}

// names tells whether the binder is among the arguments.
func (r *pattern) names(slot int) bool {
	for _, a := range r.args {
		if a.object < 0 && a.slot == slot {
			return true
		}
	}
	return false
}

// match sets the binders' slots so that the read, which has no variables,
// names the instance; false where it cannot.
func (r *pattern) match(u *Universe, index uint64, env []int32) bool {
	for _, a := range r.args {
		if a.object < 0 {
			env[a.slot] = -1
		}
	}
	for k, stride := range u.layout[r.fluent.id].stride {
		o := int32(index / stride)
		index %= stride
		switch a := r.args[k]; {
		case a.object >= 0:
			if a.object != o {
				return false
			}
		case env[a.slot] < 0:
			env[a.slot] = o
		case env[a.slot] != o:
			return false
		}
	}
	return true
}

// covers tells whether the read, with its binders' objects in env, may name
// the instance.
func (r *pattern) covers(u *Universe, index uint64, env []int32) bool {
	args := u.Args(r.fluent, index)
	for k, a := range r.args {
		switch {
		case a.object >= 0:
			if a.object != args[k] {
				return false
			}
		case a.slot >= 0:
			if env[a.slot] != args[k] {
				return false
			}
		case a.over != nil && !u.Has(a.over, args[k]):
			return false
		default:
			for j, b := range r.args[:k] {
				if b.object < 0 && b.slot < 0 && b.variable == a.variable && args[j] != args[k] {
					return false
				}
			}
		}
	}
	return true
}
