package load

import (
	"math"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model"
)

// fractions warns of numbers compared with == or != that are sums of decimal
// fractions: 0.1 three times is not 0.3.
func (d *doubter) fractions() {
	f := fractional{drift: map[*model.Fluent]bool{}}
	m := d.l.Model
	for changed := true; changed; {
		changed = false
		for _, a := range m.Actions {
			for i := range a.Effects {
				if e := &a.Effects[i]; e.Value != nil && e.Fluent.Kind == model.KindNumber && !f.drift[e.Fluent] && f.effect(e) {
					f.drift[e.Fluent], changed = true, true
				}
			}
		}
	}
	warn := func(rng hcl.Range, e *model.Expr) {
		if x := f.compared(e); x != nil {
			d.warn(rng, "Fractions compared exactly", "%s is added up from fractions such as 0.1, which a computer rounds, so it may miss the number by a little. Compare with a range, as in abs(x - 0.3) < 0.01, or count in whole parts.", d.l.written(x))
		}
	}
	for _, a := range m.Actions {
		for _, c := range d.places.Preconditions[a] {
			warn(c.Range, c.Expr)
		}
		for i, e := range a.Effects {
			warn(d.places.Effects[a][i].When, e.When)
		}
	}
	for _, g := range m.Goals {
		for _, c := range d.places.Goals[g] {
			warn(c.Range, c.Expr)
		}
	}
	for _, inv := range m.Invariants {
		for _, c := range d.places.Invariants[inv] {
			warn(c.Range, c.Expr)
		}
	}
	for _, x := range m.Fluents {
		if x.Derived != nil {
			warn(d.attribute("fluent", x.Name, "derive"), x.Derived)
		}
	}
}

// fractional finds numbers that rounding may have made a little wrong.
type fractional struct{ drift map[*model.Fluent]bool }

func (f fractional) effect(e *model.Effect) bool {
	if e.Op == model.Set {
		return f.rounded(e.Value)
	}
	return f.part(e.Value)
}

// rounded tells whether an expression is calculated from a fraction.
func (f fractional) rounded(e *model.Expr) bool {
	switch e.Op {
	case model.OpFluent:
		return f.drift[e.Fluent] || e.Fluent.Derived != nil && f.rounded(e.Fluent.Derived)
	case model.OpAdd, model.OpSub, model.OpMul:
		if constant(e) {
			return false // it has one value, however it is rounded
		}
		return f.part(e.Args[0]) || f.part(e.Args[1])
	case model.OpNeg, model.OpAbs, model.OpMin, model.OpMax:
		return f.rounded(e.Args[0])
	case model.OpSum:
		return f.part(e.Args[0])
	case model.OpIf:
		return f.rounded(e.Args[1]) || f.rounded(e.Args[2])
	}
	return false
}

// part tells whether an operand is a fraction or calculated from one.
func (f fractional) part(e *model.Expr) bool {
	if e.Op == model.OpConst {
		n, _ := e.Const.Number()
		return inexact(n)
	}
	return f.rounded(e)
}

// inexact tells whether a number is a fraction that is not of two, such as 0.1.
// Halves down to 1/1024 add up exactly.
func inexact(n float64) bool { return math.Abs(n) < 1<<40 && n*1024 != math.Trunc(n*1024) }

// compared returns the rounded side of the first exact comparison within an
// expression.
func (f fractional) compared(e *model.Expr) *model.Expr {
	var out *model.Expr
	e.Walk(func(e *model.Expr) bool {
		if out != nil || e.Op != model.OpEq && e.Op != model.OpNe && e.Op != model.OpIn {
			return out == nil
		}
		for _, side := range e.Args {
			if side.Kind == model.KindNumber && f.rounded(side) {
				out = side
			}
		}
		return out == nil
	})
	return out
}
