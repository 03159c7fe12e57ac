package search

// step is a successor that is yet to be looked at.
type step struct{ parent, op int32 }

// queue orders steps by an estimate, the least first, and equal ones by age.
type queue struct {
	buckets map[int64]*fifo
	keys    heap // estimates that have steps
	n       int
}

// fifo is a list that is taken from at the front.
type fifo struct {
	steps []step
	head  int
}

func newQueue() *queue { return &queue{buckets: map[int64]*fifo{}} }

func (q *queue) push(h float64, s step) {
	b := q.buckets[int64(h)]
	if b == nil {
		b = &fifo{}
		q.buckets[int64(h)] = b
	}
	if b.head == len(b.steps) {
		b.steps, b.head = b.steps[:0], 0
		q.keys.push(entry{cost: float64(int64(h))})
	}
	b.steps = append(b.steps, s)
	q.n++
}

func (q *queue) pop() step {
	b := q.buckets[int64(q.keys[0].cost)]
	s := b.steps[b.head]
	b.head++
	q.n--
	if b.head == len(b.steps) {
		q.keys.pop()
	} else if b.head >= 4096 && 2*b.head > len(b.steps) {
		b.steps = b.steps[:copy(b.steps, b.steps[b.head:])]
		b.head = 0
	}
	return s
}
