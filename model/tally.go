package model

import "slices"

// tally is what a tracked state keeps of the model's aggregates, so that a
// step costs no look at every object: how many objects make an aggregate's
// body false, unknown and true.
type tally struct {
	counts  [][3]int // by aggregate id and truth value
	env     []int32
	touched []touch
}

type touch struct {
	agg *aggregate
	o   int32
}

// aggregate is a quantifier that stands for itself: its body reads nothing but
// instances that name the quantified object. Its owner is found by address, so
// that a changed copy of the expression is not taken for it.
type aggregate struct {
	id    int
	expr  *Expr
	reads []pattern
}

// watch says which aggregate a fluent's instances bear on.
type watch struct {
	agg  *aggregate
	read pattern
}

// findAggregates registers every quantifier of the model that can be tracked.
func (m *Model) findAggregates() {
	m.aggregates, m.watches = nil, make([][]watch, len(m.Fluents))
	m.exprs(func(e *Expr) {
		e.Walk(func(e *Expr) bool {
			switch e.Op {
			case OpAll, OpAny, OpOne, OpCount:
				m.aggregate(e)
			}
			return true
		})
	})
}

func (m *Model) aggregate(e *Expr) {
	if e.agg != nil && slices.Contains(m.aggregates, e.agg) {
		return
	}
	e.agg = nil
	reads := patterns(e.Args[0], []Binder{{Slot: e.Slot, Type: e.Over}})
	if len(reads) == 0 {
		return
	}
	e.agg = &aggregate{id: len(m.aggregates), expr: e, reads: reads}
	m.aggregates = append(m.aggregates, e.agg)
	for _, r := range reads {
		m.watches[r.fluent.id] = append(m.watches[r.fluent.id], watch{e.agg, r})
	}
}

// exprs calls visit for the root of every expression of the model.
func (m *Model) exprs(visit func(*Expr)) {
	cond := func(c *Cond) {
		if c != nil {
			for _, e := range c.Conjuncts {
				visit(e)
			}
		}
	}
	for _, f := range m.Fluents {
		visit(f.Derived)
	}
	for _, a := range m.Actions {
		cond(a.Precondition)
		visit(a.Cost)
		for i := range a.Effects {
			visit(a.Effects[i].When)
			visit(a.Effects[i].Value)
		}
	}
	for _, inv := range m.Invariants {
		cond(inv.Cond)
	}
	for _, g := range m.Goals {
		cond(g.Cond)
		visit(g.Severity)
	}
}

// Tallied tells whether a tracked state knows the quantifier's value without
// looking at every object.
func (e *Expr) Tallied() bool { return e.agg != nil && e.agg.expr == e }

// Track makes the state keep the model's quantifiers up to date at every
// write, so that evaluating them no longer depends on the number of objects.
// It pays where many steps are applied to one state.
func (s *State) Track() {
	if s.tally != nil || len(s.u.aggregates) == 0 {
		return
	}
	t := &tally{counts: make([][3]int, len(s.u.aggregates))}
	for _, a := range s.u.aggregates {
		for len(t.env) <= a.expr.Slot {
			t.env = append(t.env, 0)
		}
		for _, o := range s.u.members[a.expr.Over.id] {
			t.env[a.expr.Slot] = o
			t.counts[a.id][a.expr.Args[0].Eval(s, t.env)]++
		}
	}
	s.tally = t
}

func (t *tally) clone() *tally {
	if t == nil {
		return nil
	}
	return &tally{counts: slices.Clone(t.counts), env: make([]int32, len(t.env))}
}

// tallied returns the counts of a tracked quantifier, or nil.
func (s *State) tallied(e *Expr) *[3]int {
	if s.tally == nil || !e.Tallied() {
		return nil
	}
	return &s.tally.counts[e.agg.id]
}

// setTracked writes a value that aggregates depend on.
func (s *State) setTracked(f *Fluent, i uint64, v Value) {
	t := s.tally
	t.touched = t.touched[:0]
	for k := range s.u.watches[f.id] {
		w := &s.u.watches[f.id][k]
		if !w.read.match(s.u, i, t.env) {
			continue
		}
		x := touch{w.agg, t.env[w.agg.expr.Slot]}
		if s.u.Has(w.agg.expr.Over, x.o) && !slices.Contains(t.touched, x) {
			t.touched = append(t.touched, x)
			t.add(s, x, -1)
		}
	}
	s.put(f, i, v)
	for _, x := range t.touched {
		t.add(s, x, 1)
	}
}

func (t *tally) add(s *State, x touch, n int) {
	e := x.agg.expr
	t.env[e.Slot] = x.o
	t.counts[x.agg.id][e.Args[0].Eval(s, t.env)] += n
}

// fromTally evaluates all, any and one from counts.
func (e *Expr) fromTally(n *[3]int, open bool) Tri {
	switch e.Op {
	case OpAll:
		return decide(n[False] == 0 && n[Unknown] == 0 && !open, n[False] > 0)
	case OpAny:
		return decide(n[True] > 0, n[True] == 0 && n[Unknown] == 0 && !open)
	}
	return decide(n[True] == 1 && n[Unknown] == 0 && !open, n[True] > 1 || n[True]+n[Unknown] < 1 && !open)
}
