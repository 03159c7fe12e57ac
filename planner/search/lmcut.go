package search

import (
	"math"
	"slices"
)

// lmcut is the admissible landmark-cut heuristic (Helmert and Domshlak 2009),
// on the relaxation of the whole language. A cut is a set of rules one of
// which every relaxed plan uses, hence a set of operators one of which every
// plan has: its cheapest price is counted, and taken off all of them. Rules of
// one operator share its price. A counting rule, which k of n conditions fire,
// may be cut at any n-k+1 of them: every firing needs one.
type lmcut struct {
	x     *explorer
	base  []float64 // by rule: its operator's price
	done  []int32   // by operator: the round in which its price was lowered
	adds  index     // by fact: rules that add it
	of    index     // by operator: its rules
	price []float64 // by rule: the cost of its conditions
	dear  []int32   // by rule: the dearest condition, -1 for none
	zone  []int32   // by fact: the round in which it was found near the goal
	met   []int32   // by fact: the round in which it was found near the start
	round int32
	stack []int32
	cut   []int32
	sort  []int32
	front frontier
}

func newLMCut(r *relaxation, m *machine) *lmcut {
	x := newExplorer(r, m, false, func(op *operator) float64 { return op.cost })
	n := len(r.rules)
	h := &lmcut{
		x: x, base: slices.Clone(x.weight), done: make([]int32, len(r.t.ops)), price: make([]float64, n), dear: make([]int32, n),
		zone: make([]int32, r.facts), met: make([]int32, r.facts),
	}
	h.adds = newIndex(r.facts, func(yield func(int32, int32)) {
		for i := range r.rules {
			for _, f := range r.rules[i].add {
				yield(f, int32(i))
			}
		}
	})
	h.of = newIndex(len(r.t.ops), func(yield func(int32, int32)) {
		for i := range r.rules {
			if o := r.rules[i].op; o >= 0 {
				yield(o, int32(i))
			}
		}
	})
	return h
}

// evaluate returns a lower bound of the cost to the goal from the state
// loaded, +Inf where it cannot be reached.
func (h *lmcut) evaluate() float64 {
	if len(h.x.r.goal) == 0 {
		return 0
	}
	copy(h.x.weight, h.base)
	h.x.run(true)
	h.x.work += len(h.x.r.rules)
	h.support()
	total := 0.0
	for {
		c := h.x.goalCost()
		if c == 0 || !h.x.r.t.lim.ok() || math.IsInf(c, 1) {
			return total + c
		}
		least := h.findCut()
		if !(least > 0) || math.IsInf(least, 1) {
			return total // rounding: no cut is seen
		}
		total += least
		h.takeOff(least)
	}
}

// support notes for every rule that fires what its conditions cost and which
// is the dearest.
func (h *lmcut) support() {
	for i := range h.x.r.rules {
		h.price[i], h.dear[i] = math.Inf(1), -1
		if h.x.rules[i].need <= 0 {
			h.price[i], h.dear[i] = h.conditions(int32(i))
		}
	}
}

// conditions returns what it costs to have a rule's conditions, and the
// dearest of those.
func (h *lmcut) conditions(i int32) (float64, int32) {
	ru := &h.x.r.rules[i]
	if int(ru.need) < len(ru.pre) {
		h.sortPre(ru)
		f := h.sort[ru.need-1]
		return h.x.cost[f], f
	}
	c, dear := 0.0, int32(-1)
	for _, f := range ru.pre {
		if dear < 0 || h.x.cost[f] > c {
			c, dear = h.x.cost[f], f
		}
	}
	return c, dear
}

// sortPre sorts a counting rule's conditions by cost.
func (h *lmcut) sortPre(ru *rule) {
	h.sort = append(h.sort[:0], ru.pre...)
	slices.SortFunc(h.sort, func(a, b int32) int {
		switch x, y := h.x.cost[a], h.x.cost[b]; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return int(a - b)
	})
}

// edges returns the conditions from which the rule is entered: the dearest, or
// for a counting rule every one that is not among the need-1 cheapest.
func (h *lmcut) edges(i int32, buf *[1]int32) []int32 {
	ru := &h.x.r.rules[i]
	if int(ru.need) < len(ru.pre) {
		h.sortPre(ru)
		return h.sort[ru.need-1:]
	}
	if h.dear[i] < 0 {
		return nil
	}
	buf[0] = h.dear[i]
	return buf[:]
}

// findCut finds the rules between what is near the start and the facts from
// which the goal is free; it returns the least price among them.
func (h *lmcut) findCut() float64 {
	h.round++
	h.x.work += len(h.x.cost)
	h.markZone()
	h.cut = h.cut[:0]
	h.stack = h.stack[:0]
	for f, c := range h.x.cost {
		if c == 0 && h.x.by[f] < 0 {
			h.meet(int32(f))
		}
	}
	least := math.Inf(1)
	for _, i := range h.x.none {
		least = min(least, h.pass(i))
	}
	for len(h.stack) > 0 {
		f := h.stack[len(h.stack)-1]
		h.stack = h.stack[:len(h.stack)-1]
		uses := h.x.r.uses.at(f)
		h.x.work += len(uses)
		for _, i := range uses {
			if math.IsInf(h.price[i], 1) {
				continue
			}
			var buf [1]int32
			if h.dear[i] == f || slices.Contains(h.edges(i, &buf), f) {
				least = min(least, h.pass(i))
			}
		}
	}
	return least
}

// markZone marks the facts from which the goal's dearest fact is reached
// without cost.
func (h *lmcut) markZone() {
	h.stack = append(h.stack[:0], h.dearestGoal())
	h.zone[h.stack[0]] = h.round
	for len(h.stack) > 0 {
		f := h.stack[len(h.stack)-1]
		h.stack = h.stack[:len(h.stack)-1]
		adds := h.adds.at(f)
		h.x.work += len(adds)
		for _, i := range adds {
			if math.IsInf(h.price[i], 1) || h.x.weight[i] > 0 {
				continue
			}
			var buf [1]int32
			for _, p := range h.edges(i, &buf) {
				if h.zone[p] != h.round {
					h.zone[p] = h.round
					h.stack = append(h.stack, p)
				}
			}
		}
	}
}

func (h *lmcut) dearestGoal() int32 {
	best := h.x.r.goal[0]
	for _, f := range h.x.r.goal {
		if h.x.cost[f] > h.x.cost[best] {
			best = f
		}
	}
	return best
}

func (h *lmcut) meet(f int32) {
	if h.met[f] != h.round && h.zone[f] != h.round {
		h.met[f] = h.round
		h.stack = append(h.stack, f)
	}
}

// pass goes through a rule; where it leads into the zone it is of the cut, and
// its price is returned.
func (h *lmcut) pass(i int32) float64 {
	price := math.Inf(1)
	for _, f := range h.x.r.rules[i].add {
		if h.zone[f] == h.round && h.x.weight[i] > 0 {
			price = h.x.weight[i]
		} else {
			h.meet(f)
		}
	}
	if !math.IsInf(price, 1) {
		h.cut = append(h.cut, i)
	}
	return price
}

// takeOff takes the amount off the price of every operator of the cut, and
// lowers the costs of the facts.
func (h *lmcut) takeOff(amount float64) {
	h.front.reset()
	for _, i := range h.cut {
		o := h.x.r.rules[i].op
		if h.done[o] == h.round {
			continue // another of its rules was in the cut
		}
		h.done[o] = h.round
		for _, k := range h.of.at(o) {
			h.x.weight[k] -= amount
			h.lower(k)
		}
	}
	for !h.front.empty() {
		e := h.front.pop()
		if e.cost > h.x.cost[e.id] {
			continue
		}
		uses := h.x.r.uses.at(e.id)
		h.x.work += len(uses)
		for _, i := range uses {
			ru := &h.x.r.rules[i]
			if math.IsInf(h.price[i], 1) || h.dear[i] != e.id && int(ru.need) == len(ru.pre) {
				continue
			}
			if c, dear := h.conditions(i); c < h.price[i] || dear != h.dear[i] {
				h.price[i], h.dear[i] = c, dear
				h.lower(i)
			}
		}
	}
}

// lower lowers the costs of what a rule adds.
func (h *lmcut) lower(i int32) {
	c := h.price[i] + h.x.weight[i]
	for _, f := range h.x.r.rules[i].add {
		if c < h.x.cost[f] {
			h.x.cost[f] = c
			h.front.push(f, c)
		}
	}
}
