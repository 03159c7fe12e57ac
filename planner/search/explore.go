package search

import (
	"math"

	"github.com/fettleops/fettle/model"
)

// explorer propagates costs through the relaxation from a state, in the manner
// of Dijkstra: with sum a rule costs the sum of its conditions (h_add), without
// the dearest of them (h_max).
type explorer struct {
	r      *relaxation
	m      *machine
	sum    bool
	weight []float64 // by rule: what it costs itself
	// optimistic takes what is unknown for what is wanted.
	optimistic bool

	blank []open    // the rules before anything is reached
	rules []open    // by rule
	cost  []float64 // by fact; +Inf where not reached
	by    []int32   // by fact: the rule that reaches it cheapest, -1 at the start
	front frontier
	times []float64 // by rule: how often it is needed, with sum; one where not known
	none  []int32   // rules without conditions
	work  int       // rules looked at
	pause int       // when to ask the limiter next
}

// open is a rule's progress: the conditions it still needs and their cost.
type open struct {
	cost float64
	need int32
}

// newExplorer prepares propagation; price gives an operator's weight.
func newExplorer(r *relaxation, m *machine, sum bool, price func(*operator) float64) *explorer {
	x := &explorer{
		r: r, m: m, sum: sum, weight: make([]float64, len(r.rules)), blank: make([]open, len(r.rules)),
		rules: make([]open, len(r.rules)), cost: make([]float64, r.facts), by: make([]int32, r.facts), times: make([]float64, len(r.rules)),
	}
	for i := range r.rules {
		ru := &r.rules[i]
		if ru.op >= 0 {
			x.weight[i] = price(&r.t.ops[ru.op])
		}
		x.times[i] = 1
		x.blank[i] = open{need: ru.need}
		if ru.need == 0 {
			x.none = append(x.none, int32(i))
		}
	}
	return x
}

// run propagates from the state that the machine has loaded, until every goal
// fact is settled or, with all, everything is. What it finds is of no use where
// the limiter stopped it.
func (x *explorer) run(all bool) {
	x.begin()
	left := len(x.r.goal)
	for !x.front.empty() {
		e := x.front.pop()
		if e.cost > x.cost[e.id] {
			continue
		}
		if !all && x.r.isGoal[e.id] {
			if left--; left == 0 {
				return
			}
		}
		uses := x.r.uses.at(e.id)
		if x.work += len(uses); x.work > x.pause {
			if x.pause = x.work + 1<<14; !x.r.t.lim.ok() {
				return
			}
		}
		for _, i := range uses {
			o := &x.rules[i]
			if o.need--; o.need < 0 {
				continue
			}
			if x.sum {
				o.cost += e.cost
			} else {
				o.cost = max(o.cost, e.cost)
			}
			if o.need == 0 {
				x.fire(i)
			}
		}
	}
}

func (x *explorer) begin() {
	copy(x.rules, x.blank)
	for i := range x.cost {
		x.cost[i] = math.Inf(1)
	}
	x.front.reset()
	t := x.r.t
	for v := range t.vars {
		if s := &t.vars[v]; s.word >= 0 && s.facts() > 0 {
			x.value(s)
		}
	}
	for i := range x.r.opaques {
		x.opaque(&x.r.opaques[i])
	}
	for _, i := range x.none {
		x.fire(i)
	}
}

// value settles the facts of a variable's value.
func (x *explorer) value(s *variable) {
	c := s.get(x.m.s)
	if c != s.unknown {
		x.reach(s.fact+int32(c), 0, -1)
	} else if x.optimistic {
		for k := range s.facts() {
			x.reach(s.fact+int32(k), 0, -1)
		}
	}
}

func (x *explorer) opaque(o *opaque) {
	t := x.m.eval(o.n)
	if t == model.True && !o.neg || t == model.False && o.neg || t == model.Unknown && x.optimistic {
		x.reach(o.fact, 0, -1)
		return
	}
	if !x.sum {
		return // several effects may share the gap
	}
	for _, i := range o.by {
		x.times[i] = o.lin.times(x.m, x.r.rules[i].gain)
	}
}

func (x *explorer) fire(i int32) {
	c := x.rules[i].cost + x.weight[i]*x.times[i]
	for _, f := range x.r.rules[i].add {
		if c < x.cost[f] {
			x.reach(f, c, i)
		}
	}
}

func (x *explorer) reach(f int32, c float64, by int32) {
	x.cost[f], x.by[f] = c, by
	x.front.push(f, c)
}

// goalCost combines the costs of the goal's facts, +Inf where one is not reached.
func (x *explorer) goalCost() float64 {
	h := 0.0
	for _, f := range x.r.goal {
		if x.sum {
			h += x.cost[f]
		} else {
			h = max(h, x.cost[f])
		}
	}
	return h
}
