package load

import (
	"fmt"
	"math"
	"slices"

	"github.com/fettleops/fettle/model"
)

// chances returns the truth values that a condition may ever have. Where it is
// not sure it says both.
func (r *reach) chances(e *model.Expr) chances {
	both := chances{true, true}
	switch e.Op {
	case model.OpConst:
		return chances{e.Const.Tri() == model.True, e.Const.Tri() == model.False}
	case model.OpFluent:
		return r.fluent(e.Fluent)
	case model.OpNot:
		c := r.chances(e.Args[0])
		return chances{c.no, c.yes}
	case model.OpAnd, model.OpOr:
		return r.junction(e)
	case model.OpAll, model.OpAny:
		c := r.chances(e.Args[0])
		if empty := r.mayBeEmpty(e.Over); empty {
			c.yes, c.no = c.yes || e.Op == model.OpAll, c.no || e.Op == model.OpAny
		}
		return c
	case model.OpOne:
		return chances{r.chances(e.Args[0]).yes, true}
	case model.OpIf:
		c, a, b := r.chances(e.Args[0]), r.chances(e.Args[1]), r.chances(e.Args[2])
		return chances{a.yes && b.yes || c.yes && a.yes || c.no && b.yes, a.no && b.no || c.yes && a.no || c.no && b.no}
	case model.OpEq, model.OpNe:
		c := r.equal(e.Args[0], e.Args[1])
		if e.Op == model.OpNe {
			c.yes, c.no = c.no, c.yes
		}
		return c
	case model.OpIn:
		in := chances{no: true}
		for _, x := range e.Args[1:] {
			in.yes = in.yes || r.equal(e.Args[0], x).yes
		}
		return in
	case model.OpLt, model.OpLe, model.OpGt, model.OpGe:
		if r.valuesOf(e.Args[0]).empty() || r.valuesOf(e.Args[1]).empty() {
			return chances{}
		}
		return r.ordered(e)
	}
	return both
}

func (r *reach) fluent(f *model.Fluent) chances {
	if f.Derived != nil {
		if c, done := r.derived[f]; done {
			return c
		}
		c := r.chances(f.Derived)
		if r.derived != nil {
			r.derived[f] = c
		}
		return c
	}
	d := r.domains[f]
	return chances{d.any || d.values[model.BoolValue(true)], d.any || d.values[model.BoolValue(false)]}
}

func (r *reach) junction(e *model.Expr) chances {
	all, some := chances{true, true}, chances{}
	for _, a := range e.Args {
		c := r.chances(a)
		all = chances{all.yes && c.yes, all.no && c.no}
		some = chances{some.yes || c.yes, some.no || c.no}
	}
	if e.Op == model.OpAnd {
		return chances{all.yes, some.no}
	}
	return chances{some.yes, all.no}
}

func (r *reach) mayBeEmpty(t *model.Type) bool { return r.declared(t) == 0 }

func (r *reach) declared(t *model.Type) int {
	n, ok := r.sizes[t]
	if !ok {
		n = len(r.l.Model.Declared(t))
		r.sizes[t] = n
	}
	return n
}

func (r *reach) equal(a, b *model.Expr) chances {
	x, y := r.valuesOf(a), r.valuesOf(b)
	switch {
	case x.empty() || y.empty():
		return chances{}
	case x.any || y.any:
		return chances{true, true}
	}
	var c chances
	for v := range x.values {
		c.yes = c.yes || y.values[v]
		c.no = c.no || len(y.values) > 1 || !y.values[v]
	}
	return c
}

// ordered returns the chances of a comparison by the bounds of its sides.
func (r *reach) ordered(e *model.Expr) chances {
	alo, ahi := r.bounds(e.Args[0])
	blo, bhi := r.bounds(e.Args[1])
	switch e.Op {
	case model.OpLt:
		return chances{alo < bhi, ahi >= blo}
	case model.OpLe:
		return chances{alo <= bhi, ahi > blo}
	case model.OpGt:
		return chances{ahi > blo, alo <= bhi}
	}
	return chances{ahi >= blo, alo < bhi}
}

// bounds returns between which numbers the value of an expression lies: that of
// a count over a type of which every object is declared.
func (r *reach) bounds(e *model.Expr) (lo, hi float64) {
	switch e.Op {
	case model.OpConst:
		n, _ := e.Const.Number()
		return n, n
	case model.OpCount:
		hi = float64(r.declared(e.Over))
		c := r.chances(e.Args[0])
		switch {
		case r.discovered(e.Over):
			return 0, math.Inf(1)
		case !c.yes && c.no:
			return 0, 0
		case c.yes && !c.no:
			return hi, hi
		}
		return 0, hi
	}
	return math.Inf(-1), math.Inf(1)
}

// why says what keeps a condition that can never be true from it.
func (r *reach) why(e *model.Expr) string {
	leaf, want := r.blocking(e, true)
	if leaf == nil {
		return "It holds in no state, whatever is done."
	}
	if leaf.Op != model.OpFluent {
		return r.whyValue(leaf)
	}
	name := leaf.Fluent.Name
	var idle []string
	for _, a := range r.l.Model.Actions {
		for i := range a.Effects {
			if x := &a.Effects[i]; x.Fluent == leaf.Fluent && makes(x, want) && !slices.Contains(idle, a.Name) {
				idle = append(idle, a.Name)
			}
		}
	}
	switch {
	case len(idle) == 1:
		return fmt.Sprintf("Only %s makes %s %t, and it can never do so either.", idle[0], name, want)
	case len(idle) > 1:
		return fmt.Sprintf("Only %s make %s %t, and they can never do so either.", listed(idle), name, want)
	}
	return fmt.Sprintf("Nothing makes %s %t: it is not observed, no effect does it, and no state, test or initial value has it so.", name, want)
}

// whyValue is why for a comparison.
func (r *reach) whyValue(e *model.Expr) string {
	for _, x := range e.Args {
		if x.Op == model.OpCount && !r.discovered(x.Over) {
			_, most := r.bounds(x)
			return fmt.Sprintf("%s is at most %g: %s has %d objects. Ask for what can be, or declare more.", r.l.written(x), most, x.Over, r.declared(x.Over))
		}
		if x.Op == model.OpFluent && x.Fluent.Derived == nil && !r.domains[x.Fluent].any {
			if r.domains[x.Fluent].empty() {
				return fmt.Sprintf("Nothing gives %s a value: it is not observed, no effect sets it, and no state, test or initial value has one.", x.Fluent.Name)
			}
			return fmt.Sprintf("Nothing gives %s a value for which this holds: it is not observed, no effect sets such a value, and no state, test or initial value has one.", x.Fluent.Name)
		}
	}
	return "It holds in no state, whatever is done."
}

// makes tells whether an effect is one that gives a bool this value.
func makes(e *model.Effect, want bool) bool {
	switch e.Op {
	case model.Add, model.Del:
		return want == (e.Op == model.Add)
	}
	return e.Op == model.Set
}

// blocking returns the first base fluent, or comparison, that keeps a condition
// from a truth value, and the value that it would need.
func (r *reach) blocking(e *model.Expr, want bool) (*model.Expr, bool) {
	switch e.Op {
	case model.OpFluent:
		if e.Fluent.Derived != nil {
			return r.blocking(e.Fluent.Derived, want)
		}
		return e, want
	case model.OpNot:
		return r.blocking(e.Args[0], !want)
	case model.OpAll, model.OpAny, model.OpOne:
		return r.blocking(e.Args[0], want)
	case model.OpAnd, model.OpOr:
		for _, a := range e.Args {
			if c := r.chances(a); want && !c.yes || !want && !c.no {
				if leaf, w := r.blocking(a, want); leaf != nil {
					return leaf, w
				}
			}
		}
	case model.OpEq, model.OpNe, model.OpIn, model.OpLt, model.OpLe, model.OpGt, model.OpGe:
		return e, want
	}
	return nil, want
}
