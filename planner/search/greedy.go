package search

import "math"

// boost is by how much the preferred queue goes ahead of the other after each
// progress.
const boost = 1000

// greedy is lazy greedy best-first search with two queues, one of all
// successors and one of those in the relaxed plan (Richter and Westphal 2010).
// A state is evaluated when it is taken from a queue; its successors wait with
// its estimate. It is complete: every successor is in the first queue.
type greedy struct {
	t         *task
	m         *machine
	lim       *limiter
	h         *ff
	gen       *generator
	sp        *space
	queues    [2]*queue
	priority  [2]int
	best      float64
	next      []uint64
	ops       []int32
	evaluated int
	expanded  int
}

// stepBytes is what a waiting step costs.
const stepBytes = 8

func newGreedy(t *task, m *machine, lim *limiter, r *relaxation, gen *generator) *greedy {
	return &greedy{
		t: t, m: m, lim: lim, h: newFF(r, m), gen: gen, sp: newSpace(t.words, lim),
		queues: [2]*queue{newQueue(), newQueue()}, best: math.Inf(1), next: make([]uint64, t.words),
	}
}

// run returns a plan and true; false where the space is exhausted or, as the
// limiter then says, a limit was reached.
func (g *greedy) run() ([]int32, bool) {
	defer g.free()
	id, _ := g.sp.insert(g.t.init)
	*g.sp.link(id) = link{parent: -1, op: -1}
	if g.visit(id) {
		return nil, true
	}
	for g.queues[0].n+g.queues[1].n > 0 && g.lim.ok() {
		s := g.take()
		if !g.m.apply(&g.t.ops[s.op], g.sp.state(s.parent), g.next) {
			continue
		}
		id, isNew := g.sp.insert(g.next)
		if !isNew {
			continue
		}
		*g.sp.link(id) = link{parent: s.parent, op: s.op}
		if g.visit(id) {
			return g.sp.path(id), true
		}
	}
	return nil, false
}

// visit evaluates a state and queues its successors. It tells whether the
// goal holds.
func (g *greedy) visit(id int32) bool {
	if !g.lim.node() {
		return false
	}
	g.m.load(g.sp.state(id))
	if g.m.all(g.t.goal) {
		return true
	}
	g.evaluated++
	h := g.h.evaluate()
	if math.IsInf(h, 1) {
		return false
	}
	if h < g.best {
		if g.best != math.Inf(1) {
			g.priority[1] -= boost
		}
		g.best = h
	}
	g.expand(id, h)
	return false
}

func (g *greedy) expand(id int32, h float64) {
	g.expanded++
	g.ops = g.gen.applicable(g.m, g.ops[:0])
	n := 0
	for _, op := range g.ops {
		g.queues[0].push(h, step{id, op})
		n++
		if g.h.preferred(op) {
			g.queues[1].push(h, step{id, op})
			n++
		}
	}
	g.lim.use(int64(n) * stepBytes)
}

// take returns the first step of the queue whose turn it is.
func (g *greedy) take() step {
	q := 0
	if g.queues[0].n == 0 || g.queues[1].n > 0 && g.priority[1] <= g.priority[0] {
		q = 1
	}
	g.priority[q]++
	g.lim.use(-stepBytes)
	return g.queues[q].pop()
}

func (g *greedy) free() {
	g.lim.use(-int64(g.queues[0].n+g.queues[1].n) * stepBytes)
	g.sp.free()
}
