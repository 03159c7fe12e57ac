package model

import (
	"math"
	"strings"
	"unicode/utf8"
)

// Eval evaluates a bool expression over a state and an environment, which must
// have a slot for every slot that the expression uses; slots of quantifiers
// are overwritten.
func (e *Expr) Eval(s *State, env []int32) Tri {
	switch e.Op {
	case OpFluent:
		f := e.Fluent
		if f.Derived != nil {
			return e.derived(s, env)
		}
		i, ok := e.index(s, env)
		if !ok {
			return Unknown
		}
		if st := s.f[f.id]; st.tri != nil {
			return st.tri[i]
		}
		return s.get(f, i).Tri()
	case OpNot:
		return e.Args[0].Eval(s, env).Not()
	case OpAnd:
		t := True
		for _, a := range e.Args {
			if t = t.And(a.Eval(s, env)); t == False {
				return False
			}
		}
		return t
	case OpOr:
		t := False
		for _, a := range e.Args {
			if t = t.Or(a.Eval(s, env)); t == True {
				return True
			}
		}
		return t
	case OpEq:
		return equal(e.Args[0], e.Args[1], s, env)
	case OpNe:
		return equal(e.Args[0], e.Args[1], s, env).Not()
	case OpLt, OpLe, OpGt, OpGe:
		return e.compare(s, env)
	case OpConst:
		return e.Const.Tri()
	case OpIf:
		return e.ifBool(s, env)
	case OpIn:
		t := False
		for _, a := range e.Args[1:] {
			if t = t.Or(equal(e.Args[0], a, s, env)); t == True {
				break
			}
		}
		return t
	case OpIsA:
		o := e.Args[0].object(s, env)
		switch {
		case o < 0:
			return decide(e.Args[0].Type.IsA(e.Over), false) // of its own type it is, whichever it is
		case s.u.Has(e.Over, o):
			return True
		case s.u.open[e.Over.id]:
			return Unknown
		}
		return False
	case OpAll, OpAny, OpOne:
		return e.quantified(s, env)
	default:
		return e.textual(s, env)
	}
}

// index returns the position of the fluent's instance that a read names, or
// false where an argument is unknown.
func (e *Expr) index(s *State, env []int32) (uint64, bool) {
	var i uint64
	stride := s.u.layout[e.Fluent.id].stride
	for k, a := range e.Args {
		var o int32
		switch a.Op {
		case OpSlot:
			o = env[a.Slot]
		case OpObject:
			o = a.Const.Object()
		default:
			if o = a.object(s, env); o < 0 {
				return 0, false
			}
		}
		i += uint64(o) * stride[k]
	}
	return i, true
}

// inlineSlots is the size of a derived fluent's environment that is kept on
// the stack.
const inlineSlots = 12

// derived evaluates a derived bool's definition in an environment of its own.
func (e *Expr) derived(s *State, env []int32) Tri {
	var buf [inlineSlots]int32
	inner := e.Fluent.environment(buf[:])
	if !e.bind(s, env, inner) {
		return Unknown
	}
	return e.Fluent.Derived.Eval(s, inner)
}

// environment returns an environment for the definition of a derived fluent:
// buf, or a larger one where that is too small.
func (f *Fluent) environment(buf []int32) []int32 {
	if n := max(f.Slots, len(f.Params)); n > len(buf) {
		return make([]int32, n)
	}
	return buf
}

// bind puts a read's arguments into the first slots of inner; false where one
// is unknown.
func (e *Expr) bind(s *State, env, inner []int32) bool {
	for k, a := range e.Args {
		if inner[k] = a.object(s, env); inner[k] < 0 {
			return false
		}
	}
	return true
}

func (e *Expr) compare(s *State, env []int32) Tri {
	alo, ahi := e.Args[0].Number(s, env)
	blo, bhi := e.Args[1].Number(s, env)
	switch e.Op {
	case OpGt:
		alo, ahi, blo, bhi = blo, bhi, alo, ahi
		fallthrough
	case OpLt:
		return decide(ahi < blo, alo >= bhi)
	case OpGe:
		alo, ahi, blo, bhi = blo, bhi, alo, ahi
	}
	return decide(ahi <= blo, alo > bhi)
}

func decide(yes, no bool) Tri {
	switch {
	case yes:
		return True
	case no:
		return False
	}
	return Unknown
}

func equal(a, b *Expr, s *State, env []int32) Tri {
	switch a.Kind {
	case KindNumber:
		alo, ahi := a.Number(s, env)
		blo, bhi := b.Number(s, env)
		return decide(alo == ahi && blo == bhi && alo == blo && !math.IsInf(alo, 0), ahi < blo || bhi < alo)
	case KindObject:
		x, y := a.object(s, env), b.object(s, env)
		if x < 0 || y < 0 {
			return Unknown
		}
		return Bool(x == y)
	case KindString:
		x, ok := a.text(s, env)
		y, ok2 := b.text(s, env)
		if !ok || !ok2 {
			return Unknown
		}
		return Bool(x == y)
	default:
		x, y := a.Eval(s, env), b.Eval(s, env)
		if x == Unknown || y == Unknown {
			return Unknown
		}
		return Bool(x == y)
	}
}

func (e *Expr) ifBool(s *State, env []int32) Tri {
	switch e.Args[0].Eval(s, env) {
	case True:
		return e.Args[1].Eval(s, env)
	case False:
		return e.Args[2].Eval(s, env)
	}
	x, y := e.Args[1].Eval(s, env), e.Args[2].Eval(s, env)
	if x != y {
		return Unknown
	}
	return x
}

func (e *Expr) quantified(s *State, env []int32) Tri {
	open := s.u.open[e.Over.id]
	if n := s.tallied(e); n != nil {
		return e.fromTally(n, open)
	}
	if e.chained() {
		return e.chain.eval(s, env)
	}
	body := e.Args[0]
	switch e.Op {
	case OpAll:
		t := decide(!open, false)
		for _, o := range s.u.members[e.Over.id] {
			env[e.Slot] = o
			if t = t.And(body.Eval(s, env)); t == False {
				return False
			}
		}
		return t
	case OpAny:
		t := decide(false, !open)
		for _, o := range s.u.members[e.Over.id] {
			env[e.Slot] = o
			if t = t.Or(body.Eval(s, env)); t == True {
				return True
			}
		}
		return t
	}
	lo, hi := e.count(s, env)
	return decide(lo == 1 && hi == 1, lo > 1 || hi < 1)
}

// textual evaluates the operators on strings.
func (e *Expr) textual(s *State, env []int32) Tri {
	x, ok := e.Args[0].text(s, env)
	if !ok {
		return Unknown
	}
	if e.Op == OpMatches {
		return Bool(e.Pattern.MatchString(x))
	}
	y, ok := e.Args[1].text(s, env)
	if !ok {
		return Unknown
	}
	switch e.Op {
	case OpContains:
		return Bool(strings.Contains(x, y))
	case OpPrefix:
		return Bool(strings.HasPrefix(x, y))
	default:
		return Bool(strings.HasSuffix(x, y))
	}
}

// object evaluates an object-valued expression: an index, or -1 for unknown.
func (e *Expr) object(s *State, env []int32) int32 {
	switch e.Op {
	case OpSlot:
		return env[e.Slot]
	case OpObject:
		return e.Const.Object()
	case OpFluent:
		if e.Fluent.Derived != nil {
			var buf [inlineSlots]int32
			inner := e.Fluent.environment(buf[:])
			if !e.bind(s, env, inner) {
				return -1
			}
			return e.Fluent.Derived.object(s, inner)
		}
		i, ok := e.index(s, env)
		if !ok {
			return -1
		}
		return s.get(e.Fluent, i).Object()
	}
	c := e.Args[0].Eval(s, env) // OpIf
	x, y := int32(-1), int32(-1)
	if c != False {
		x = e.Args[1].object(s, env)
	}
	if c != True {
		y = e.Args[2].object(s, env)
	}
	switch {
	case c == True || x == y:
		return x
	case c == False:
		return y
	}
	return -1
}

// text evaluates a string expression.
func (e *Expr) text(s *State, env []int32) (string, bool) {
	switch e.Op {
	case OpConst:
		return e.Const.Text()
	case OpFluent:
		if e.Fluent.Derived != nil {
			var buf [inlineSlots]int32
			inner := e.Fluent.environment(buf[:])
			if !e.bind(s, env, inner) {
				return "", false
			}
			return e.Fluent.Derived.text(s, inner)
		}
		i, ok := e.index(s, env)
		if !ok {
			return "", false
		}
		return s.get(e.Fluent, i).Text()
	}
	c := e.Args[0].Eval(s, env) // OpIf
	if c == False {
		return e.Args[2].text(s, env)
	}
	x, ok := e.Args[1].text(s, env)
	if c == True || !ok {
		return x, ok
	}
	y, ok := e.Args[2].text(s, env)
	return x, ok && x == y
}

// Value evaluates an expression of any kind; a number that is not known
// exactly is unknown.
func (e *Expr) Value(s *State, env []int32) Value {
	switch e.Kind {
	case KindBool:
		return TriValue(e.Eval(s, env))
	case KindNumber:
		if lo, hi := e.Number(s, env); lo == hi {
			return NumberValue(lo)
		}
	case KindObject:
		if o := e.object(s, env); o >= 0 {
			return ObjectValue(o)
		}
	case KindString:
		if t, ok := e.text(s, env); ok {
			return StringValue(t)
		}
	}
	return Value{}
}

// runes counts characters as expr's len does.
func runes(s string) float64 { return float64(utf8.RuneCountInString(s)) }
