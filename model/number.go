package model

import "math"

// The interval of a number of which nothing is known.
var (
	negInf = math.Inf(-1)
	posInf = math.Inf(1)
)

// Number evaluates a numeric expression to the closed interval in which its
// value lies: lo == hi where it is known, (-Inf, +Inf) where nothing is. What
// has no value (division by zero, overflow, the least of nothing) is unknown.
func (e *Expr) Number(s *State, env []int32) (lo, hi float64) {
	switch e.Op {
	case OpConst:
		return e.Const.num, e.Const.num
	case OpFluent:
		return e.readNumber(s, env)
	case OpAdd, OpSub, OpMul, OpDiv:
		alo, ahi := e.Args[0].Number(s, env)
		blo, bhi := e.Args[1].Number(s, env)
		return Arith(e.Op, alo, ahi, blo, bhi)
	case OpNeg:
		lo, hi = e.Args[0].Number(s, env)
		return -hi, -lo
	case OpAbs:
		lo, hi = e.Args[0].Number(s, env)
		switch {
		case lo >= 0:
			return lo, hi
		case hi <= 0:
			return -hi, -lo
		}
		return 0, max(-lo, hi)
	case OpLen:
		t, ok := e.Args[0].text(s, env)
		if !ok {
			return 0, posInf
		}
		return runes(t), runes(t)
	case OpIf:
		return e.ifNumber(s, env)
	case OpCount:
		return e.count(s, env)
	case OpSum:
		return e.sum(s, env)
	default:
		return e.extreme(s, env)
	}
}

func (e *Expr) readNumber(s *State, env []int32) (lo, hi float64) {
	if e.Fluent.Derived != nil {
		var buf [inlineSlots]int32
		inner := e.Fluent.environment(buf[:])
		if !e.bind(s, env, inner) {
			return negInf, posInf
		}
		return e.Fluent.Derived.Number(s, inner)
	}
	i, ok := e.index(s, env)
	if !ok {
		return negInf, posInf
	}
	var v float64
	if st := s.f[e.Fluent.id]; st.num != nil {
		if v = st.num[i]; v != v {
			return negInf, posInf
		}
		return v, v
	}
	if v, ok = s.get(e.Fluent, i).Number(); !ok {
		return negInf, posInf
	}
	return v, v
}

// Arith applies +, -, * or / to two intervals: the interval in which the result
// lies. An operation on known numbers that overflows, or divides by what may be
// zero, has no known value.
func Arith(op Op, alo, ahi, blo, bhi float64) (lo, hi float64) {
	switch op {
	case OpAdd:
		lo, hi = alo+blo, ahi+bhi
	case OpSub:
		lo, hi = alo-bhi, ahi-blo
	case OpMul:
		lo, hi = hull(times(alo, blo), times(alo, bhi), times(ahi, blo), times(ahi, bhi))
	default:
		if blo <= 0 && bhi >= 0 {
			return negInf, posInf
		}
		lo, hi = hull(alo/blo, alo/bhi, ahi/blo, ahi/bhi)
	}
	return Interval(lo, hi)
}

// times multiplies the bounds of intervals: nothing times whatever is nothing.
func times(x, y float64) float64 {
	if x == 0 || y == 0 {
		return 0
	}
	return x * y
}

// Interval returns the interval, or the unknown one where lo and hi are none:
// not numbers, or beyond all numbers.
func Interval(lo, hi float64) (float64, float64) {
	if lo != lo || hi != hi || lo == posInf || hi == negInf {
		return negInf, posInf
	}
	return lo, hi
}

func hull(a, b, c, d float64) (lo, hi float64) {
	if a != a || b != b || c != c || d != d {
		return negInf, posInf
	}
	return min(a, b, c, d), max(a, b, c, d)
}

func (e *Expr) ifNumber(s *State, env []int32) (lo, hi float64) {
	switch e.Args[0].Eval(s, env) {
	case True:
		return e.Args[1].Number(s, env)
	case False:
		return e.Args[2].Number(s, env)
	}
	alo, ahi := e.Args[1].Number(s, env)
	blo, bhi := e.Args[2].Number(s, env)
	return min(alo, blo), max(ahi, bhi)
}

// count counts the objects for which the body is true (lo), or not false (hi).
func (e *Expr) count(s *State, env []int32) (lo, hi float64) {
	if n := s.tallied(e); n != nil {
		lo, hi = float64(n[True]), float64(n[True]+n[Unknown])
		if s.u.open[e.Over.id] {
			hi = posInf
		}
		return lo, hi
	}
	for _, o := range s.u.members[e.Over.id] {
		env[e.Slot] = o
		switch e.Args[0].Eval(s, env) {
		case True:
			lo++
			hi++
		case Unknown:
			hi++
		}
	}
	if s.u.open[e.Over.id] {
		hi = posInf
	}
	return lo, hi
}

func (e *Expr) sum(s *State, env []int32) (lo, hi float64) {
	if s.u.open[e.Over.id] {
		return negInf, posInf
	}
	for _, o := range s.u.members[e.Over.id] {
		env[e.Slot] = o
		l, h := e.Args[0].Number(s, env)
		lo, hi = Arith(OpAdd, lo, hi, l, h)
	}
	return lo, hi
}

// extreme is the least (OpMin) or greatest (OpMax) over the objects.
func (e *Expr) extreme(s *State, env []int32) (lo, hi float64) {
	objects := s.u.members[e.Over.id]
	if len(objects) == 0 {
		return negInf, posInf
	}
	first := negInf
	if e.Op == OpMin {
		first = posInf
	}
	lo, hi = first, first
	for _, o := range objects {
		env[e.Slot] = o
		l, h := e.Args[0].Number(s, env)
		if e.Op == OpMin {
			lo, hi = min(lo, l), min(hi, h)
		} else {
			lo, hi = max(lo, l), max(hi, h)
		}
	}
	if s.u.open[e.Over.id] {
		if e.Op == OpMin {
			lo = negInf
		} else {
			hi = posInf
		}
	}
	return Interval(lo, hi)
}
