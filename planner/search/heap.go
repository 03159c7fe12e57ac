package search

// entry is a fact or state in a heap.
type entry struct {
	cost float64
	id   int32
}

// heap is a binary heap, least cost first, then least id.
type heap []entry

func (h *heap) push(e entry) {
	q := append(*h, e)
	i := len(q) - 1
	for i > 0 {
		p := (i - 1) / 2
		if !e.before(q[p]) {
			break
		}
		q[i] = q[p]
		i = p
	}
	q[i] = e
	*h = q
}

func (h *heap) pop() entry {
	q := *h
	top := q[0]
	e := q[len(q)-1]
	q = q[:len(q)-1]
	*h = q
	if len(q) == 0 {
		return top
	}
	i := 0
	for {
		c := 2*i + 1
		if c >= len(q) {
			break
		}
		if c+1 < len(q) && q[c+1].before(q[c]) {
			c++
		}
		if !q[c].before(e) {
			break
		}
		q[i] = q[c]
		i = c
	}
	q[i] = e
	return top
}

func (e entry) before(o entry) bool { return e.cost < o.cost || e.cost == o.cost && e.id < o.id }
