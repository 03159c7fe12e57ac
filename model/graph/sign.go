package graph

import (
	"math"

	"github.com/fettleops/fettle/model"
)

// amounts are the number fluents that are taken not to fall below nothing: no
// action changes them, and no state of the model says otherwise.
type amounts map[*model.Fluent]bool

func newAmounts(m *model.Model) amounts {
	known := amounts{}
	for _, f := range m.Fluents {
		known[f] = f.Kind == model.KindNumber && f.Derived == nil
	}
	for _, a := range m.Actions {
		for _, e := range a.Effects {
			known[e.Fluent] = false
		}
	}
	for _, s := range m.States {
		for _, v := range s.Values {
			if n, ok := v.Value.Number(); ok && n < 0 {
				known[v.Atom.Fluent] = false
			}
		}
	}
	return known
}

// bounds returns between which numbers the expression lies in every state.
func (k amounts) bounds(e *model.Expr) (lo, hi float64) {
	inf := math.Inf(1)
	switch e.Op {
	case model.OpConst:
		if n, ok := e.Const.Number(); ok {
			return n, n
		}
	case model.OpFluent:
		if k[e.Fluent] {
			return 0, inf
		}
	case model.OpCount, model.OpLen, model.OpAbs:
		return 0, inf
	case model.OpNeg:
		lo, hi = k.bounds(e.Args[0])
		return -hi, -lo
	case model.OpAdd, model.OpSub, model.OpMul, model.OpDiv:
		alo, ahi := k.bounds(e.Args[0])
		blo, bhi := k.bounds(e.Args[1])
		return model.Arith(e.Op, alo, ahi, blo, bhi)
	case model.OpIf:
		alo, ahi := k.bounds(e.Args[1])
		blo, bhi := k.bounds(e.Args[2])
		return min(alo, blo), max(ahi, bhi)
	case model.OpMin, model.OpMax:
		return k.bounds(e.Args[0])
	case model.OpSum:
		if lo, hi = k.bounds(e.Args[0]); lo >= 0 {
			return 0, inf
		} else if hi <= 0 {
			return -inf, 0
		}
	}
	return -inf, inf
}

// along returns the direction for a factor that stands beside another: that of
// the product, or the contrary where the other is below nothing.
func (r *readingList) along(mono change, other *model.Expr) change {
	switch lo, hi := r.amounts.bounds(other); {
	case lo >= 0:
		return mono
	case hi <= 0:
		return mono.flip()
	}
	return both
}

// product gathers the operands of a multiplication or a division. What grows a
// divisor may do both.
func (r *readingList) product(e *model.Expr, env []term, mono change) {
	r.expr(e.Args[0], env, r.along(mono, e.Args[1]))
	if e.Op == model.OpMul {
		r.expr(e.Args[1], env, r.along(mono, e.Args[0]))
	} else {
		r.expr(e.Args[1], env, both)
	}
}

// chosen returns the direction for the condition of a choice: up where the first
// branch is never below the second, down where it is never above.
func (r *readingList) chosen(e *model.Expr, mono change) change {
	then, otherwise := e.Args[1], e.Args[2]
	alo, ahi := r.amounts.bounds(then)
	blo, bhi := r.amounts.bounds(otherwise)
	if e.Kind == model.KindBool {
		alo, ahi = truths(then)
		blo, bhi = truths(otherwise)
	}
	switch {
	case e.Kind != model.KindNumber && e.Kind != model.KindBool:
		return both
	case alo >= bhi:
		return mono
	case ahi <= blo:
		return mono.flip()
	}
	return both
}

// truths are the bounds of a bool, of which false is 0 and true is 1.
func truths(e *model.Expr) (lo, hi float64) {
	switch e.Const.Tri() {
	case model.True:
		return 1, 1
	case model.False:
		return 0, 0
	}
	return 0, 1
}
