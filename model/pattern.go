package model

// pattern is a read of a base fluent below binders, derived fluents expanded:
// an instance that matches tells which object each binder has.
type pattern struct {
	fluent *Fluent
	args   []patternArg
}

// patternArg is an object, or the slot of a binder where object is negative.
type patternArg struct {
	object int32
	slot   int
}

// maxPatterns bounds the reads of one expression that are looked at.
const maxPatterns = 64

// patterns returns the expression's reads if each has slots of binders and
// objects alone as arguments and names every binder, else nil.
func patterns(e *Expr, binders []Binder) []pattern {
	p := &patternFinder{binders: binders, ok: len(binders) > 0}
	scope := map[int]patternArg{}
	for _, b := range binders {
		scope[b.Slot] = patternArg{-1, b.Slot}
	}
	if p.expr(e, scope); !p.ok {
		return nil
	}
	return p.reads
}

type patternFinder struct {
	binders []Binder
	reads   []pattern
	ok      bool
}

// expr gathers the reads of an expression; scope gives each slot's meaning.
func (p *patternFinder) expr(e *Expr, scope map[int]patternArg) {
	switch {
	case !p.ok:
	case e.Op == OpFluent:
		p.read(e, scope)
	case e.Over != nil && e.Op != OpIsA:
		p.ok = false
	case e.Op == OpSlot:
		// An object of no binder: an inner variable or a parameter.
		_, p.ok = scope[e.Slot]
	default:
		for _, a := range e.Args {
			p.expr(a, scope)
		}
	}
}

func (p *patternFinder) read(e *Expr, scope map[int]patternArg) {
	r := pattern{fluent: e.Fluent}
	for _, a := range e.Args {
		arg, ok := scope[a.Slot]
		switch a.Op {
		case OpSlot:
			p.ok = p.ok && ok
		case OpObject:
			arg = patternArg{object: a.Const.Object()}
		default:
			p.ok = false
		}
		r.args = append(r.args, arg)
	}
	if p.ok && e.Fluent.Derived != nil {
		inner := map[int]patternArg{}
		for i, a := range r.args {
			inner[i] = a
		}
		p.expr(e.Fluent.Derived, inner)
		return
	}
	for _, b := range p.binders {
		p.ok = p.ok && r.names(b.Slot)
	}
	p.reads = append(p.reads, r)
	p.ok = p.ok && len(p.reads) <= maxPatterns
}

// names tells whether the binder is among the arguments.
func (r pattern) names(slot int) bool {
	for _, a := range r.args {
		if a.object < 0 && a.slot == slot {
			return true
		}
	}
	return false
}

// match sets the binders' slots so that the read names the instance; false
// where it cannot.
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
