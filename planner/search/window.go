package search

import "slices"

// windowWork bounds the improvement of a plan, in rules looked at by heuristics.
const windowWork = 20_000_000

// shorten plans windows of the plan anew, small ones first: from the state
// before the window to any state from which the rest of the plan still does
// what it did.
func (s *searcher) shorten(plan []int32) []int32 {
	left := s.window
	for size := 8; size <= 32 && left > 0 && s.lim.ok(); size *= 2 {
		for at := 0; at < len(plan) && left > 0 && s.lim.ok(); {
			w := window{s: s, plan: plan, from: at, to: min(at+size, len(plan))}
			better, used := w.search(min(left, s.window/16))
			if left -= used; better == nil {
				at += size / 2
				continue
			}
			next := slices.Concat(plan[:w.from], better, plan[w.to:])
			if _, kept, ok := s.t.follow(s.m, s.gate, next, -1); !ok || len(kept) < len(next) {
				at += size / 2
				continue
			}
			plan = next
		}
	}
	return s.t.eliminate(s.m, s.lim, s.gate, plan)
}

// window is the part of a plan that is planned anew.
type window struct {
	s        *searcher
	plan     []int32
	from, to int
}

// search returns cheaper steps for the window, nil where none were found, and
// the work that it took.
func (w *window) search(work int) ([]int32, int) {
	states, cost := w.trajectory()
	need := w.needed()
	at := states[w.to]
	rel := w.s.rel.towards(need, at)
	a := newAstar(w.s.t, w.s.m, w.s.lim, rel, w.s.gen, w.s.gate, cost, work)
	a.before = w.from
	a.init = states[w.from]
	a.goal = func() bool {
		for _, v := range need {
			if w.s.m.get(v) != w.s.t.vars[v].get(at) {
				return false
			}
		}
		return true
	}
	steps, out := a.run()
	w.s.res.Evaluated += a.evaluated
	w.s.res.Expanded += a.expanded
	if out != found {
		return nil, a.h.x.work
	}
	if steps == nil {
		steps = []int32{}
	}
	return steps, a.h.x.work
}

// trajectory returns the states that the plan goes through and the cost of the
// window.
func (w *window) trajectory() ([][]uint64, float64) {
	t, m := w.s.t, w.s.m
	states, cost := [][]uint64{t.init}, 0.0
	for i, o := range w.plan {
		s := states[i]
		m.load(s)
		if i >= w.from && i < w.to {
			cost += m.costOf(&t.ops[o])
		}
		next := make([]uint64, t.words)
		m.apply(&t.ops[o], s, next)
		states = append(states, next)
	}
	return states, cost
}

// needed returns the variables that must have their values after the window
// for the rest of the plan to do what it did, by going back from the goal.
func (w *window) needed() []int32 {
	t := w.s.t
	need := map[int32]bool{}
	want := func(v int32) { need[v] = true }
	seen := map[*node]bool{}
	for _, n := range t.goal {
		n.vars(seen, want)
	}
	for i := len(w.plan) - 1; i >= w.to; i-- {
		t.ops[w.plan[i]].regress(t, need)
	}
	vars := make([]int32, 0, len(need))
	for v := range need {
		vars = append(vars, v)
	}
	slices.Sort(vars)
	return vars
}

// regress turns the variables needed after the operator into those needed
// before it.
func (op *operator) regress(t *task, need map[int32]bool) {
	want := func(v int32) { need[v] = true }
	seen := map[*node]bool{}
	var read []*node
	for i := range op.updates {
		u := &op.updates[i]
		if !need[u.v] && !u.mayConflict() && len(op.checks) == 0 {
			continue
		}
		need[u.v] = true // it may keep its value
		for _, p := range u.parts {
			read = append(read, p.when, p.value)
		}
	}
	for _, l := range op.set {
		delete(need, l.v)
	}
	for _, l := range op.pre {
		want(l.v)
	}
	for _, n := range append(append(read, op.rest...), op.price) {
		n.vars(seen, want)
	}
	for _, c := range op.checks {
		for _, v := range t.components[c].touch {
			if t.vars[v].word >= 0 {
				want(v)
			}
		}
	}
}

// towards is the relaxation with another goal: that the variables have their
// values in the state. Those without facts are left out.
func (r *relaxation) towards(vars []int32, state []uint64) *relaxation {
	c := *r
	c.goal, c.isGoal = nil, make([]bool, r.facts)
	for _, v := range vars {
		x := &r.t.vars[v]
		if f := x.factOf(x.get(state)); f != nowise {
			c.goal = append(c.goal, f)
			c.isGoal[f] = true
		}
	}
	return &c
}
