package search

import "github.com/fettleops/fettle/model"

// applicable tells whether the operator's precondition holds in the state loaded.
func (m *machine) applicable(op *operator) bool {
	for _, l := range op.pre {
		if m.get(l.v) != l.code {
			return false
		}
	}
	return m.all(op.rest)
}

// all tells whether all conditions are true.
func (m *machine) all(ns []*node) bool {
	for _, n := range ns {
		if m.eval(n) != model.True {
			return false
		}
	}
	return true
}

// failing counts the conditions that are not true.
func (m *machine) failing(ns []*node) int {
	n := 0
	for _, c := range ns {
		if m.eval(c) != model.True {
			n++
		}
	}
	return n
}

// costOf returns what the operator costs in the state loaded.
func (m *machine) costOf(op *operator) float64 {
	if op.price == nil {
		return op.cost
	}
	lo, hi := m.number(op.price)
	if lo != hi || lo < 0 || hi == posInf {
		m.unpriced = true
		return 1
	}
	return lo
}

// apply computes into next what the operator makes of the state, which it
// loads. False where effects conflict or an invariant would be worse.
func (m *machine) apply(op *operator, s, next []uint64) bool {
	copy(next, s)
	for _, l := range op.set {
		m.t.vars[l.v].put(next, l.code)
	}
	if len(op.updates) > 0 {
		m.load(s)
		for i := range op.updates {
			u := &op.updates[i]
			x := &m.t.vars[u.v]
			code, ok := m.update(x, u.parts)
			if !ok {
				return false
			}
			x.put(next, code)
		}
	}
	return len(op.checks) == 0 || m.noWorse(op, s, next)
}

// effects is everything that an update's parts say, as the model gathers it.
type effects struct {
	add, del model.Tri
	set, inc model.Tri
	code     uint64 // of the first value set
	sure     uint64 // of a known value surely set, never where there is none
	maybe    bool
	lo, hi   float64
}

// update computes a variable's new value; false where effects conflict.
func (m *machine) update(x *variable, parts []part) (uint64, bool) {
	a := effects{sure: never}
	for i := range parts {
		p := &parts[i]
		when := model.True
		if p.when != nil {
			if when = m.eval(p.when); when == model.False {
				continue
			}
		}
		switch p.op {
		case model.Add:
			a.add = a.add.Or(when)
		case model.Del:
			a.del = a.del.Or(when)
		case model.Set:
			if code, unknown := m.valueCode(x, p.value); !a.assign(code, unknown, when) {
				return 0, false
			}
		default:
			a.shift(m, p, when)
		}
	}
	return a.resolve(x, x.get(m.s))
}

// assign joins one more set effect; false where two surely differ.
func (a *effects) assign(code uint64, unknown bool, when model.Tri) bool {
	if when == model.True && !unknown {
		if a.sure != never && a.sure != code {
			return false
		}
		a.sure = code
	}
	if a.set == model.False {
		a.code = code
	}
	a.maybe = a.maybe || code != a.code || unknown
	a.set = a.set.Or(when)
	return true
}

func (a *effects) shift(m *machine, p *part, when model.Tri) {
	lo, hi := m.number(p.value)
	if p.op == model.Decrease {
		lo, hi = -hi, -lo
	}
	if when == model.Unknown {
		lo, hi = min(lo, 0), max(hi, 0)
	}
	a.inc = model.True
	a.lo, a.hi = model.Arith(model.OpAdd, a.lo, a.hi, lo, hi)
}

func (a *effects) resolve(x *variable, old uint64) (uint64, bool) {
	switch {
	case a.set != model.False && a.inc != model.False:
		return 0, false
	case a.set != model.False && (a.add != model.False || a.del != model.False):
		return a.mixed(old)
	case a.set == model.True && !a.maybe:
		return a.code, true
	case a.set == model.Unknown && !a.maybe && a.code == old:
		return old, true
	case a.set != model.False:
		return x.unknown, true
	case a.inc != model.False:
		v := number(old)
		if v != v || a.lo != a.hi {
			return nan, true
		}
		return numberCode(v + a.lo), true
	case x.f.Kind != model.KindBool:
		return old, true
	}
	return triCode(a.add.Or(codeTri(old).And(a.del.Not()))), true
}

// mixed resolves a bool that is set and added or deleted too.
func (a *effects) mixed(old uint64) (uint64, bool) {
	v := triCode(a.add.Or(codeTri(old).And(a.del.Not())))
	switch {
	case !a.maybe && v == a.code:
		return v, true
	case a.sure != never && v != codeUnknown && v != a.sure && (a.add == model.True || a.del == model.True):
		return 0, false
	}
	return codeUnknown, true
}

// valueCode evaluates what is set, and tells whether it is unknown.
func (m *machine) valueCode(x *variable, n *node) (uint64, bool) {
	switch x.f.Kind {
	case model.KindBool:
		t := m.eval(n)
		return triCode(t), t == model.Unknown
	case model.KindNumber:
		if lo, hi := m.number(n); lo == hi {
			c := numberCode(lo)
			return c, c == nan
		}
		return nan, true
	case model.KindObject:
		if o := m.object(n); o >= 0 {
			return x.code(o), false
		}
		return x.unknown, true
	}
	s, ok := m.text(n)
	if !ok {
		return 0, true
	}
	return m.t.strings.code(s), false
}

func triCode(t model.Tri) uint64 {
	switch t {
	case model.True:
		return codeTrue
	case model.False:
		return codeFalse
	}
	return codeUnknown
}

func codeTri(c uint64) model.Tri {
	switch c {
	case codeTrue:
		return model.True
	case codeFalse:
		return model.False
	}
	return model.Unknown
}
