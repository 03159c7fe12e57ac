package search

import (
	"slices"

	"github.com/fettleops/fettle/model"
)

// Facts that are no facts: what always holds, and what never does.
const (
	always int32 = -1
	nowise int32 = -2
)

// relaxation is the problem without deletes. A fact is a known value of a
// variable, an auxiliary one for a condition inside another, or an opaque one:
// a condition (on numbers, mostly) that is evaluated in the state, and that any
// operator which writes one of its variables may make true.
//
// It takes more for reachable than is, never less: a goal that it cannot reach
// cannot be reached.
type relaxation struct {
	t       *task
	facts   int
	rules   []rule
	goal    []int32
	opaques []opaque
	isGoal  []bool // by fact
	never   bool   // the goal has a conjunct that cannot hold

	factOf  map[factKey]int32
	valueOf map[valueKey]int32
	readers [][]int32 // by variable: opaques that read it
	touches []touch
	uses    index // by fact: rules that have it as a condition
}

// rule makes its facts true where enough of its conditions are: all of them, or
// of a counting one only need.
type rule struct {
	op   int32 // the operator, -1 for an auxiliary rule without cost
	pre  []int32
	need int32
	add  []int32
	gain float64 // by how much it closes the gap of the opaque fact it adds, 0 where not known
}

type valueKey struct {
	n *node
	o int32
}

type factKey struct {
	n   *node
	neg bool
}

// opaque is a condition evaluated in the state; want is the truth value.
type opaque struct {
	fact int32
	n    *node
	neg  bool
	lin  *linear // of a comparison of linear numbers, else nil
	by   []int32 // rules that add it and count repetitions
}

// index lists numbers by a key, flat.
type index struct{ from, list []int32 }

func (x *index) at(i int32) []int32 { return x.list[x.from[i]:x.from[i+1]] }

func newIndex(n int, each func(yield func(key, value int32))) index {
	x := index{from: make([]int32, n+1)}
	each(func(k, _ int32) { x.from[k+1]++ })
	for i := range n {
		x.from[i+1] += x.from[i]
	}
	x.list = make([]int32, x.from[n])
	at := slices.Clone(x.from)
	each(func(k, v int32) {
		x.list[at[k]] = v
		at[k]++
	})
	return x
}

// relax builds the relaxation of the task. It is of no use where the limiter
// stopped it.
func (t *task) relax() *relaxation {
	r := &relaxation{t: t, factOf: map[factKey]int32{}, valueOf: map[valueKey]int32{}, readers: make([][]int32, len(t.vars))}
	for v := range t.vars {
		if x := &t.vars[v]; x.word >= 0 {
			x.fact = int32(r.facts)
			r.facts += x.facts()
		}
	}
	r.goal = r.all(t.goal)
	r.never = slices.Contains(r.goal, nowise)
	pres := make([][]int32, len(t.ops))
	for i := range t.ops {
		if !t.lim.ok() {
			return r
		}
		pres[i] = r.precondition(&t.ops[i])
	}
	for i := range t.ops {
		if !t.lim.ok() {
			return r
		}
		if !slices.Contains(pres[i], nowise) {
			r.operator(int32(i), pres[i])
		}
	}
	r.connect()
	t.lim.use(r.bytes())
	slices.Sort(r.goal)
	r.goal = slices.Compact(r.goal)
	r.isGoal = make([]bool, r.facts)
	for _, f := range r.goal {
		if f >= 0 {
			r.isGoal[f] = true
		}
	}
	r.uses = newIndex(r.facts, func(yield func(int32, int32)) {
		for i := range r.rules {
			for _, f := range r.rules[i].pre {
				yield(f, int32(i))
			}
		}
	})
	return r
}

// bytes is about what the relaxation costs, with the heuristics over it.
func (r *relaxation) bytes() int64 {
	n := int64(r.facts) * 48
	for i := range r.rules {
		n += 160 + 12*int64(len(r.rules[i].pre)+len(r.rules[i].add))
	}
	return n
}

func (r *relaxation) precondition(op *operator) []int32 {
	out := make([]int32, 0, len(op.pre)+len(op.rest))
	for _, l := range op.pre {
		out = append(out, r.t.vars[l.v].factOf(l.code))
	}
	return append(out, r.all(op.rest)...)
}

// factOf returns the fact of a known value.
func (x *variable) factOf(code uint64) int32 {
	if x.facts() == 0 || code == never || code == x.unknown {
		return nowise
	}
	return x.fact + int32(code)
}

// all returns the facts of conditions, without those that always hold.
func (r *relaxation) all(ns []*node) []int32 {
	var out []int32
	for _, n := range ns {
		if f := r.fact(n, false); f != always {
			out = append(out, f)
		}
	}
	return out
}

func (r *relaxation) newFact() int32 {
	r.facts++
	return int32(r.facts - 1)
}

// axiom makes the fact true where all conditions are.
func (r *relaxation) axiom(fact int32, pre []int32) {
	r.rules = append(r.rules, rule{op: -1, pre: pre, need: int32(len(pre)), add: []int32{fact}})
}

// operator makes rules of an operator: one for its constants, one for each
// effect that has a condition of its own.
func (r *relaxation) operator(i int32, pre []int32) {
	op := &r.t.ops[i]
	main := rule{op: i, pre: pre, need: int32(len(pre))}
	for _, l := range op.set {
		if f := r.t.vars[l.v].factOf(l.code); f != nowise {
			main.add = append(main.add, f)
		}
		r.touches = append(r.touches, touch{i, pre, l.v, part{op: model.Set, value: r.t.literalValue(l)}})
	}
	for k := range op.updates {
		u := &op.updates[k]
		for _, p := range u.parts {
			with := pre
			if p.when != nil {
				with = r.join(pre, p.when, false)
			}
			r.part(i, &main, with, u, p)
		}
	}
	r.rules = append(r.rules, main) // even without facts: it tells whether the operator is reached
}

// join adds a condition to others; nil where it cannot hold.
func (r *relaxation) join(pre []int32, n *node, neg bool) []int32 {
	switch f := r.fact(n, neg); f {
	case always:
		return pre
	case nowise:
		return []int32{nowise}
	default:
		return append(slices.Clone(pre), f)
	}
}

func (r *relaxation) part(i int32, main *rule, pre []int32, u *update, p part) {
	if slices.Contains(pre, nowise) {
		return
	}
	x := &r.t.vars[u.v]
	emit := func(pre []int32, fact int32) {
		switch {
		case fact == nowise || slices.Contains(pre, nowise):
		case len(pre) == int(main.need):
			main.add = append(main.add, fact)
		default:
			r.rules = append(r.rules, rule{op: i, pre: pre, need: int32(len(pre)), add: []int32{fact}})
		}
	}
	r.touches = append(r.touches, touch{i, pre, u.v, p})
	switch {
	case p.op == model.Add:
		emit(pre, x.factOf(codeTrue))
	case p.op == model.Del:
		emit(pre, x.factOf(codeFalse))
	case p.op != model.Set:
	case x.f.Kind == model.KindBool:
		emit(r.join(pre, p.value, false), x.factOf(codeTrue))
		emit(r.join(pre, p.value, true), x.factOf(codeFalse))
	case x.f.Kind == model.KindObject:
		for c, o := range x.vals {
			emit(r.joinValue(pre, p.value, o), x.factOf(uint64(c)))
		}
	}
}

// literalValue returns the number that a constant assignment gives, or nil.
func (t *task) literalValue(l lit) *node {
	if t.vars[l.v].f.Kind != model.KindNumber {
		return nil
	}
	n := number(l.code)
	if n != n {
		return nil
	}
	return &node{op: model.OpConst, kind: model.KindNumber, lo: n, hi: n}
}
