package search

import "math"

// boost is by how much the preferred queue goes ahead of the other after each
// progress.
const boost = 1000

// greedy is lazy greedy best-first search (Richter and Westphal 2010). A state
// is evaluated when it is taken from a queue; its successors wait with its
// estimates. There are two estimates, the length of a relaxed plan and the
// number of goals that do not hold, and two queues for each: one of all
// successors, one of those in the relaxed plan. It is complete: every successor
// is in a queue of all.
type greedy struct {
	t         *task
	m         *machine
	lim       *limiter
	h         *ff
	gen       *generator
	gate      *gate
	sp        *space
	deepest   int       // of states that are others at another depth; 0: they are not
	queues    [4]*queue // all and preferred by h, all and preferred by goals
	priority  [4]int
	best      [2]float64
	next      []uint64
	ops       []int32
	evaluated int
	expanded  int
}

// stepBytes is what a waiting step costs.
const stepBytes = 8

func newGreedy(t *task, m *machine, lim *limiter, r *relaxation, gen *generator, gt *gate) *greedy {
	return &greedy{
		t: t, m: m, lim: lim, h: newFF(r, m), gen: gen, gate: gt, sp: newSpace(t.words, lim),
		queues: [4]*queue{newQueue(), newQueue(), newQueue(), newQueue()}, best: [2]float64{math.Inf(1), math.Inf(1)},
		next: make([]uint64, t.words),
	}
}

// separate makes the depth at which a state was met a part of it, in a word of
// its own. Depths are then bounded, so that the states are finitely many.
func (g *greedy) separate(deepest int) {
	g.deepest = deepest
	g.sp.free()
	g.sp, g.next = newSpace(g.t.words+1, g.lim), make([]uint64, g.t.words+1)
}

// run returns a plan and true; false where the space is exhausted or, as the
// limiter then says, a limit was reached.
func (g *greedy) run() ([]int32, bool) {
	defer g.free()
	copy(g.next, g.t.init)
	id, _ := g.sp.insert(g.next)
	*g.sp.link(id) = link{parent: -1, op: -1}
	if g.visit(id) {
		return nil, true
	}
	for g.waiting() > 0 && g.lim.ok() {
		s := g.take()
		if !g.successor(s) {
			continue
		}
		id, isNew := g.sp.insert(g.next)
		if !isNew {
			continue
		}
		*g.sp.link(id) = link{parent: s.parent, op: s.op, g: g.sp.link(s.parent).g + 1}
		if g.visit(id) {
			return g.sp.path(id), true
		}
	}
	return nil, false
}

// successor computes into next what a step leads to; false where it may not be
// done.
func (g *greedy) successor(s step) bool {
	op, from, depth := &g.t.ops[s.op], g.sp.state(s.parent), int(g.sp.link(s.parent).g)+1
	if g.deepest > 0 && depth > g.deepest || !g.m.apply(op, from, g.next) || !g.gate.lets(op, from, depth) {
		return false
	}
	if g.deepest > 0 {
		g.next[g.t.words] = uint64(depth)
	}
	return true
}

// visit evaluates a state and queues its successors. It tells whether the
// goal holds.
func (g *greedy) visit(id int32) bool {
	if !g.lim.node() {
		return false
	}
	g.m.load(g.sp.state(id))
	open := g.m.failing(g.t.goal)
	if open == 0 {
		return true
	}
	g.evaluated++
	h := g.h.evaluate()
	if math.IsInf(h, 1) {
		return false
	}
	g.expand(id, [2]float64{h, float64(open)})
	return false
}

// progress boosts the preferred queues where an estimate is better than any before.
func (g *greedy) progress(h [2]float64) {
	for i := range h {
		if h[i] >= g.best[i] {
			continue
		}
		if !math.IsInf(g.best[i], 1) {
			g.priority[1] -= boost
			g.priority[3] -= boost
		}
		g.best[i] = h[i]
	}
}

func (g *greedy) expand(id int32, h [2]float64) {
	g.expanded++
	g.progress(h)
	before := g.waiting()
	g.ops = g.gen.applicable(g.m, g.ops[:0])
	for _, op := range g.ops {
		s := step{id, op}
		g.queues[0].push(h[0], s)
		g.queues[2].push(h[1], s)
		if g.h.preferred(op) {
			g.queues[1].push(h[0], s)
			g.queues[3].push(h[1], s)
		}
	}
	g.lim.use(int64(g.waiting()-before) * stepBytes)
}

func (g *greedy) waiting() int {
	n := 0
	for _, q := range g.queues {
		n += q.n
	}
	return n
}

// take returns the first step of the queue whose turn it is.
func (g *greedy) take() step {
	q := -1
	for i := range g.queues {
		if g.queues[i].n > 0 && (q < 0 || g.priority[i] < g.priority[q] || g.priority[i] == g.priority[q] && i%2 > q%2) {
			q = i
		}
	}
	g.priority[q]++
	g.lim.use(-stepBytes)
	return g.queues[q].pop()
}

func (g *greedy) free() {
	g.lim.use(-int64(g.waiting()) * stepBytes)
	g.sp.free()
}
