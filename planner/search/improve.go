package search

import "slices"

// eliminate drops steps that a plan can do without: each step in turn, with
// the later ones that need it (Nakhost and Müller 2010). It never makes a plan
// dearer.
func (t *task) eliminate(m *machine, lim *limiter, gt *gate, plan []int32) []int32 {
	cost, _, _ := t.follow(m, gt, plan, -1)
	for i := 0; i < len(plan) && lim.ok(); {
		shorter, c, ok := t.without(m, gt, plan, i)
		if ok && c <= cost {
			plan, cost = shorter, c
		} else {
			i++
		}
	}
	return plan
}

// without returns the plan less step i and what then is not applicable.
func (t *task) without(m *machine, gt *gate, plan []int32, i int) ([]int32, float64, bool) {
	cost, kept, ok := t.follow(m, gt, plan, i)
	return kept, cost, ok
}

// follow simulates the plan without the step skip, leaving out what is not
// applicable or denied; it tells whether the goal is reached.
func (t *task) follow(m *machine, gt *gate, plan []int32, skip int) (cost float64, kept []int32, ok bool) {
	s, next := slices.Clone(t.init), make([]uint64, t.words)
	for i, o := range plan {
		if i == skip {
			continue
		}
		op := &t.ops[o]
		m.load(s)
		if !m.applicable(op) {
			continue
		}
		c := m.costOf(op)
		if !m.apply(op, s, next) || !gt.lets(op, s, len(kept)+1) {
			continue
		}
		cost += c
		kept = append(kept, o)
		s, next = next, s
	}
	m.load(s)
	return cost, kept, m.all(t.goal)
}
