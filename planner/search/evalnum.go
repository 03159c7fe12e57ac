package search

import (
	"math"

	"github.com/fettleops/fettle/model"
)

var (
	negInf = math.Inf(-1)
	posInf = math.Inf(1)
)

// number evaluates a number to the interval that it lies in, as
// [model.Expr.Number] does.
func (m *machine) number(n *node) (lo, hi float64) {
	switch n.op {
	case model.OpConst:
		return n.lo, n.hi
	case opVar:
		if f := math.Float64frombits(m.get(n.v)); f == f {
			return f, f
		}
		return negInf, posInf
	}
	if n.memo < 0 {
		return m.computeNumber(n)
	}
	if c := &m.memo[n.memo]; c.gen == m.gen {
		return c.lo, c.hi
	}
	lo, hi = m.computeNumber(n)
	c := &m.memo[n.memo]
	c.gen, c.lo, c.hi = m.gen, lo, hi
	return lo, hi
}

func (m *machine) computeNumber(n *node) (lo, hi float64) {
	switch n.op {
	case model.OpAdd, model.OpSub, model.OpMul, model.OpDiv:
		alo, ahi := m.number(n.args[0])
		blo, bhi := m.number(n.args[1])
		return model.Arith(n.op, alo, ahi, blo, bhi)
	case model.OpNeg:
		lo, hi = m.number(n.args[0])
		return -hi, -lo
	case model.OpAbs:
		return absolute(m.number(n.args[0]))
	case model.OpLen:
		t, ok := m.text(n.args[0])
		if !ok {
			return 0, posInf
		}
		return runes(t), runes(t)
	case model.OpIf:
		return m.ifNumber(n)
	case model.OpCount:
		return m.count(n)
	case model.OpSum:
		return m.sum(n)
	case opTable:
		if e := m.entry(n); e != nil {
			return m.number(e)
		}
		return negInf, posInf
	}
	return m.extreme(n)
}

func absolute(lo, hi float64) (float64, float64) {
	switch {
	case lo >= 0:
		return lo, hi
	case hi <= 0:
		return -hi, -lo
	}
	return 0, max(-lo, hi)
}

func (m *machine) ifNumber(n *node) (lo, hi float64) {
	switch m.eval(n.args[0]) {
	case model.True:
		return m.number(n.args[1])
	case model.False:
		return m.number(n.args[2])
	}
	alo, ahi := m.number(n.args[1])
	blo, bhi := m.number(n.args[2])
	return min(alo, blo), max(ahi, bhi)
}

// count adds to what the constants count the bodies that are true (lo), or not
// false (hi).
func (m *machine) count(n *node) (lo, hi float64) {
	lo, hi = n.lo, n.hi
	for _, a := range n.args {
		switch m.eval(a) {
		case model.True:
			lo++
			hi++
		case model.Unknown:
			hi++
		}
	}
	return lo, hi
}

// sum adds in the order of the objects: addition of floats is not associative.
func (m *machine) sum(n *node) (lo, hi float64) {
	if n.open {
		return negInf, posInf
	}
	for _, a := range n.args {
		l, h := m.number(a)
		lo, hi = model.Arith(model.OpAdd, lo, hi, l, h)
	}
	return lo, hi
}

func (m *machine) extreme(n *node) (lo, hi float64) {
	if len(n.args) == 0 {
		return negInf, posInf
	}
	least := n.op == model.OpMin
	first := negInf
	if least {
		first = posInf
	}
	lo, hi = first, first
	for _, a := range n.args {
		l, h := m.number(a)
		if least {
			lo, hi = min(lo, l), min(hi, h)
		} else {
			lo, hi = max(lo, l), max(hi, h)
		}
	}
	if n.open && least {
		lo = negInf
	} else if n.open {
		hi = posInf
	}
	return model.Interval(lo, hi)
}
