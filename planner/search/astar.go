package search

import "math"

// astar is A* with the landmark cut, which is admissible for the whole
// language: a cost that depends on the state is taken for its lower bound. A
// state met again more cheaply is opened again.
type astar struct {
	t         *task
	m         *machine
	lim       *limiter
	h         *lmcut
	gen       *generator
	gate      *gate
	before    int // steps that lead to the start
	sp        *space
	least     []float64 // by state: its estimate; -1 while not evaluated
	closed    []bool    // by state: expanded with its present cost
	heap      fheap
	seq       int64
	init      []uint64
	goal      func() bool // of the state loaded
	bound     float64     // cost of a plan that is known
	work      int         // of the heuristic, 0 for as much as the limiter allows
	next      []uint64
	ops       []int32
	evaluated int
	expanded  int
}

// outcome is how a search ended.
type outcome int

const (
	stopped   outcome = iota // by a limit
	exhausted                // no plan cheaper than the bound
	found
)

// newAstar searches from the start to the goal; both can be changed before run.
func newAstar(t *task, m *machine, lim *limiter, r *relaxation, gen *generator, gt *gate, bound float64, work int) *astar {
	return &astar{
		t: t, m: m, lim: lim, h: newLMCut(r, m), gen: gen, gate: gt, sp: newSpace(t.words, lim),
		init: t.init, goal: func() bool { return m.all(t.goal) }, bound: bound, work: work, next: make([]uint64, t.words),
	}
}

// run searches for the cheapest plan below the bound.
func (a *astar) run() ([]int32, outcome) {
	defer func() {
		a.lim.use(-int64(len(a.heap)) * fentryBytes)
		a.sp.free()
	}()
	a.visit(a.init, link{parent: -1, op: -1})
	for len(a.heap) > 0 {
		if !a.lim.ok() || a.work > 0 && a.h.x.work >= a.work {
			return nil, stopped
		}
		e := a.heap.pop()
		a.lim.use(-fentryBytes)
		if a.closed[e.id] || e.g > a.sp.link(e.id).g {
			continue
		}
		if e.f >= a.bound {
			return nil, exhausted
		}
		a.m.load(a.sp.state(e.id))
		if a.goal() {
			return a.sp.path(e.id), found
		}
		a.expand(e.id, e.g)
	}
	if a.lim.ok() {
		return nil, exhausted
	}
	return nil, stopped
}

func (a *astar) expand(id int32, g float64) {
	a.closed[id] = true
	a.expanded++
	depth := 0
	if a.gate != nil && a.gate.byStep {
		depth = a.before + a.sp.depth(id)
	}
	a.ops = a.gen.applicable(a.m, a.ops[:0])
	for _, o := range a.ops {
		op := &a.t.ops[o]
		s := a.sp.state(id)
		cost := op.cost
		if op.price != nil {
			a.m.load(s)
			cost = a.m.costOf(op)
		}
		if g+cost < a.bound && a.m.apply(op, s, a.next) && a.gate.lets(op, s, depth+1) {
			a.visit(a.next, link{parent: id, op: o, g: g + cost})
		}
	}
}

// visit takes a state in, or a cheaper way to it.
func (a *astar) visit(s []uint64, l link) {
	id, isNew := a.sp.insert(s)
	if isNew {
		a.least = append(a.least, -1)
		a.closed = append(a.closed, false)
	} else if l.g >= a.sp.link(id).g {
		return
	}
	*a.sp.link(id) = l
	if a.least[id] < 0 {
		if !a.lim.node() {
			return
		}
		a.evaluated++
		a.m.load(a.sp.state(id))
		a.least[id] = a.h.evaluate()
	}
	f := l.g + a.least[id]
	if math.IsInf(f, 1) || f >= a.bound {
		return
	}
	a.closed[id] = false
	a.seq++
	a.heap.push(fentry{f: f, h: a.least[id], g: l.g, seq: a.seq, id: id})
	a.lim.use(fentryBytes)
}

// fentry is an open state: least f first, then least h, then the latest.
type fentry struct {
	f, h, g float64
	seq     int64
	id      int32
}

const fentryBytes = 40

func (e *fentry) before(o *fentry) bool {
	switch {
	case e.f != o.f:
		return e.f < o.f
	case e.h != o.h:
		return e.h < o.h
	}
	return e.seq > o.seq
}

type fheap []fentry

func (h *fheap) push(e fentry) {
	q := append(*h, e)
	i := len(q) - 1
	for i > 0 {
		p := (i - 1) / 2
		if !e.before(&q[p]) {
			break
		}
		q[i] = q[p]
		i = p
	}
	q[i] = e
	*h = q
}

func (h *fheap) pop() fentry {
	q := *h
	top := q[0]
	e := q[len(q)-1]
	q = q[:len(q)-1]
	*h = q
	i := 0
	for len(q) > 0 {
		c := 2*i + 1
		if c >= len(q) {
			break
		}
		if c+1 < len(q) && q[c+1].before(&q[c]) {
			c++
		}
		if !q[c].before(&e) {
			break
		}
		q[i] = q[c]
		i = c
	}
	if len(q) > 0 {
		q[i] = e
	}
	return top
}
