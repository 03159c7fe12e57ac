package search

// frontier holds the facts that are yet to be settled, least cost first. Whole
// costs, the rule in a first search, go into buckets, which are taken from in
// amortised constant time; others, and very large ones, into a heap.
type frontier struct {
	buckets []bucket
	low     int // no bucket below has facts; those of the heap may cost less
	high    int // nor above
	n       int // facts in buckets
	heap    heap
}

// bucket is taken from in the order filled: of equal supporters the first wins.
type bucket struct {
	facts []int32
	head  int
}

// maxBucket is the number of whole costs that have buckets.
const maxBucket = 1 << 12

func (q *frontier) reset() {
	for i := q.low; i < len(q.buckets) && i <= q.high; i++ {
		q.buckets[i].clear()
	}
	q.high = 0
	q.low, q.n, q.heap = 0, 0, q.heap[:0]
}

func (q *frontier) empty() bool { return q.n == 0 && len(q.heap) == 0 }

// push adds a fact; costs never fall below that of the last one taken.
func (q *frontier) push(f int32, cost float64) {
	if cost < maxBucket {
		if c := int(cost); float64(c) == cost {
			for len(q.buckets) <= c {
				q.buckets = append(q.buckets, bucket{})
			}
			q.buckets[c].facts = append(q.buckets[c].facts, f)
			q.n++
			q.low, q.high = min(q.low, c), max(q.high, c)
			return
		}
	}
	q.heap.push(entry{cost, f})
}

func (q *frontier) pop() entry {
	if q.n == 0 {
		return q.heap.pop()
	}
	for q.buckets[q.low].head == len(q.buckets[q.low].facts) {
		q.buckets[q.low].clear()
		q.low++
	}
	if len(q.heap) > 0 && q.heap[0].cost < float64(q.low) {
		return q.heap.pop()
	}
	b := &q.buckets[q.low]
	f := b.facts[b.head]
	b.head++
	q.n--
	return entry{float64(q.low), f}
}

func (b *bucket) clear() { b.facts, b.head = b.facts[:0], 0 }
