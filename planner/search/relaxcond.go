package search

import (
	"slices"

	"github.com/fettleops/fettle/model"
)

// maxSplit is the number of combinations up to which a condition on object
// values is taken apart; beyond, it is opaque.
const maxSplit = 4096

// fact returns the fact that stands for the condition being true, or with neg
// being false.
func (r *relaxation) fact(n *node, neg bool) int32 {
	switch {
	case n.isConst():
		if n.tri == model.True && !neg || n.tri == model.False && neg {
			return always
		}
		return nowise
	case n.op == model.OpNot:
		return r.fact(n.args[0], !neg)
	case n.op == opLit && !neg:
		return r.t.vars[n.v].factOf(n.code)
	case n.op == opLit && r.t.vars[n.v].f.Kind == model.KindBool:
		return r.t.vars[n.v].factOf(codeFalse)
	}
	key := factKey{n, neg}
	if f, ok := r.factOf[key]; ok {
		return f
	}
	f := r.condition(n, neg)
	r.factOf[key] = f
	return f
}

func (r *relaxation) condition(n *node, neg bool) int32 {
	switch n.op {
	case opLit:
		return r.otherValue(n)
	case model.OpAnd, model.OpOr:
		fs := make([]int32, len(n.args))
		for i, a := range n.args {
			fs[i] = r.fact(a, neg)
		}
		if (n.op == model.OpAnd) != neg {
			return r.conjunction(fs)
		}
		return r.disjunction(fs)
	case model.OpIf:
		c, d := r.fact(n.args[0], false), r.fact(n.args[0], true)
		x, y := r.fact(n.args[1], neg), r.fact(n.args[2], neg)
		return r.disjunction([]int32{r.conjunction([]int32{c, x}), r.conjunction([]int32{d, y}), r.conjunction([]int32{x, y})})
	case model.OpOne:
		return r.exactly(n, neg)
	case model.OpLt, model.OpLe:
		return r.comparison(n, neg)
	case model.OpEq:
		return r.equality(n, neg)
	case opTable:
		return r.lookup(n, neg)
	}
	return r.opaque(n, neg)
}

// conjunction returns a fact that holds where all do.
func (r *relaxation) conjunction(fs []int32) int32 {
	var pre []int32
	for _, f := range fs {
		switch f {
		case nowise:
			return nowise
		case always:
		default:
			pre = append(pre, f)
		}
	}
	slices.Sort(pre)
	switch pre = slices.Compact(pre); len(pre) {
	case 0:
		return always
	case 1:
		return pre[0]
	}
	f := r.newFact()
	r.axiom(f, pre)
	return f
}

// disjunction returns a fact that holds where one does.
func (r *relaxation) disjunction(fs []int32) int32 {
	var alt []int32
	for _, f := range fs {
		switch f {
		case always:
			return always
		case nowise:
		default:
			alt = append(alt, f)
		}
	}
	slices.Sort(alt)
	switch alt = slices.Compact(alt); len(alt) {
	case 0:
		return nowise
	case 1:
		return alt[0]
	}
	f := r.newFact()
	for _, a := range alt {
		r.axiom(f, []int32{a})
	}
	return f
}

// otherValue stands for an object variable having a known value that is not this one.
func (r *relaxation) otherValue(n *node) int32 {
	x := &r.t.vars[n.v]
	var fs []int32
	for c := range x.vals {
		if uint64(c) != n.code {
			fs = append(fs, x.factOf(uint64(c)))
		}
	}
	return r.disjunction(fs)
}

// atLeast returns a fact that holds where need of the facts do.
func (r *relaxation) atLeast(need int, fs []int32) int32 {
	var pre []int32
	for _, f := range fs {
		if f == always {
			need--
		} else if f != nowise {
			pre = append(pre, f)
		}
	}
	switch {
	case need <= 0:
		return always
	case need > len(pre):
		return nowise
	case need == len(pre):
		return r.conjunction(pre)
	case need == 1:
		return r.disjunction(pre)
	}
	f := r.newFact()
	r.rules = append(r.rules, rule{op: -1, pre: pre, need: int32(need), add: []int32{f}})
	return f
}

// counted is the fact that at least (or with most, at most) k of a count's
// bodies are true.
func (r *relaxation) counted(n *node, most bool, k int) int32 {
	fs := make([]int32, len(n.args))
	for i, a := range n.args {
		fs[i] = r.fact(a, most)
	}
	if !most {
		return r.atLeast(k-int(n.lo), fs)
	}
	if n.hi == posInf {
		return nowise
	}
	return r.atLeast(len(n.args)+int(n.hi)-k, fs)
}

func (r *relaxation) exactly(n *node, neg bool) int32 {
	if neg {
		return r.disjunction([]int32{r.counted(n, false, 2), r.counted(n, true, 0)})
	}
	return r.conjunction([]int32{r.counted(n, false, 1), r.counted(n, true, 1)})
}

// joinValue adds the condition that an object expression has a value.
func (r *relaxation) joinValue(pre []int32, n *node, o int32) []int32 {
	switch f := r.valueFact(n, o); f {
	case always:
		return pre
	case nowise:
		return []int32{nowise}
	default:
		return append(slices.Clone(pre), f)
	}
}

// valueFact stands for an object expression being known to have a value.
func (r *relaxation) valueFact(n *node, o int32) int32 {
	key := valueKey{n, o}
	f, ok := r.valueOf[key]
	if !ok {
		f = r.value(n, o)
		r.valueOf[key] = f
	}
	return f
}

func (r *relaxation) value(n *node, o int32) int32 {
	switch n.op {
	case model.OpConst:
		if n.obj == o {
			return always
		}
		return nowise
	case opVar:
		return r.t.vars[n.v].factOf(r.t.vars[n.v].code(o))
	case model.OpIf:
		c, d := r.fact(n.args[0], false), r.fact(n.args[0], true)
		x, y := r.valueFact(n.args[1], o), r.valueFact(n.args[2], o)
		return r.disjunction([]int32{r.conjunction([]int32{c, x}), r.conjunction([]int32{d, y}), r.conjunction([]int32{x, y})})
	}
	if len(n.keys) > maxSplit {
		return always
	}
	return r.entries(n, func(e *node) int32 { return r.valueFact(e, o) })
}

// entries is a disjunction over a table: the arguments name an entry, and it
// is as wanted.
func (r *relaxation) entries(n *node, want func(*node) int32) int32 {
	var fs []int32
	for _, k := range n.keys {
		row := r.t.u.Args(n.fluent, k)
		and := []int32{want(n.table[k])}
		for i, a := range n.args {
			and = append(and, r.valueFact(a, row[i]))
		}
		fs = append(fs, r.conjunction(and))
	}
	return r.disjunction(fs)
}

func (r *relaxation) lookup(n *node, neg bool) int32 {
	if len(n.keys) > maxSplit {
		return r.opaque(n, neg)
	}
	return r.entries(n, func(e *node) int32 { return r.fact(e, neg) })
}

// equality takes apart comparisons of objects and bools; of numbers it makes
// two bounds.
func (r *relaxation) equality(n *node, neg bool) int32 {
	a, b := n.args[0], n.args[1]
	switch a.kind {
	case model.KindBool:
		t := r.conjunction([]int32{r.fact(a, false), r.fact(b, neg)})
		f := r.conjunction([]int32{r.fact(a, true), r.fact(b, !neg)})
		return r.disjunction([]int32{t, f})
	case model.KindObject:
		return r.sameObject(n, neg)
	case model.KindNumber:
		return r.numbersEqual(n, neg)
	}
	return r.opaque(n, neg)
}

func (r *relaxation) sameObject(n *node, neg bool) int32 {
	c := compiler{t: r.t}
	da, db := c.domain(n.args[0]), c.domain(n.args[1])
	if len(da)*len(db) > maxSplit {
		return r.opaque(n, neg)
	}
	var fs []int32
	for _, x := range da {
		var other []int32
		for _, y := range db {
			if (x == y) != neg {
				other = append(other, r.valueFact(n.args[1], y))
			}
		}
		fs = append(fs, r.conjunction([]int32{r.valueFact(n.args[0], x), r.disjunction(other)}))
	}
	return r.disjunction(fs)
}
