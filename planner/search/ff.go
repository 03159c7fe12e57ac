package search

import (
	"math"
	"slices"
)

// ff is the FF heuristic: the number of steps of a relaxed plan, taken from
// the supporters that h_add chooses (Hoffmann and Nebel 2001; Keyder and
// Geffner 2008). Steps of it that are applicable at once are preferred.
type ff struct {
	x     *explorer
	stamp int32
	facts []int32 // by fact: the evaluation that took it in
	rules []int32
	ops   []int32
	stack []int32
	need  []int32
}

func newFF(r *relaxation, m *machine) *ff {
	one := func(*operator) float64 { return 1 }
	return &ff{
		x: newExplorer(r, m, true, one), facts: make([]int32, r.facts),
		rules: make([]int32, len(r.rules)), ops: make([]int32, len(r.t.ops)),
	}
}

// evaluate returns the length of a relaxed plan from the state loaded, +Inf
// where there is none and so no plan either.
func (h *ff) evaluate() float64 {
	h.stamp++
	h.x.run(false)
	if math.IsInf(h.x.goalCost(), 1) {
		return math.Inf(1)
	}
	h.stack = append(h.stack[:0], h.x.r.goal...)
	total := 0.0
	for len(h.stack) > 0 {
		f := h.stack[len(h.stack)-1]
		h.stack = h.stack[:len(h.stack)-1]
		i := h.x.by[f]
		if h.facts[f] == h.stamp || i < 0 {
			continue
		}
		h.facts[f] = h.stamp
		if h.rules[i] == h.stamp {
			continue
		}
		h.rules[i] = h.stamp
		total += h.steps(i)
		h.stack = append(h.stack, h.conditions(i)...)
	}
	return total
}

// steps is what the rule adds to the relaxed plan.
func (h *ff) steps(i int32) float64 {
	op, n := h.x.r.rules[i].op, h.x.times[i]
	switch {
	case op < 0:
		return 0
	case h.ops[op] == h.stamp:
		return n - 1
	}
	h.ops[op] = h.stamp
	return n
}

// conditions returns the conditions that the rule was fired by: of a counting
// one, the cheapest.
func (h *ff) conditions(i int32) []int32 {
	ru := &h.x.r.rules[i]
	if int(ru.need) == len(ru.pre) {
		return ru.pre
	}
	h.need = append(h.need[:0], ru.pre...)
	slices.SortFunc(h.need, func(a, b int32) int {
		switch x, y := h.x.cost[a], h.x.cost[b]; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return int(a - b)
	})
	return h.need[:ru.need]
}

// preferred tells whether the operator is in the last relaxed plan.
func (h *ff) preferred(op int32) bool { return h.ops[op] == h.stamp }
