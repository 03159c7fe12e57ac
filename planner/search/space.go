package search

import (
	"math/bits"
	"slices"
)

// chunkStates is the number of states of one chunk of the arena, which grows
// without copying.
const chunkStates = 1 << 10

// space is the set of states met, in a flat arena with open addressing. Every
// state has a number, in the order met.
type space struct {
	words  int
	lim    *limiter
	chunks [][]uint64
	links  [][]link
	table  []uint64 // number+1 in the low half, a part of the hash in the high
	n      int32
}

// link says how a state was reached, last and cheapest.
type link struct {
	parent, op int32 // -1 for the start
	g          float64
}

func newSpace(words int, lim *limiter) *space {
	return &space{words: words, lim: lim, table: make([]uint64, 1<<10)}
}

// free gives the memory back to the limiter.
func (sp *space) free() { sp.lim.use(-sp.bytes()) }

func (sp *space) bytes() int64 {
	return int64(len(sp.table))*8 + int64(len(sp.chunks))*chunkStates*int64(8*sp.words+16)
}

func (sp *space) state(id int32) []uint64 {
	i := int(id%chunkStates) * sp.words
	return sp.chunks[id/chunkStates][i : i+sp.words : i+sp.words]
}

func (sp *space) link(id int32) *link { return &sp.links[id/chunkStates][id%chunkStates] }

// insert returns the state's number and whether it is new.
func (sp *space) insert(s []uint64) (int32, bool) {
	h := hashState(s)
	mask := uint64(len(sp.table) - 1)
	i := h & mask
	for ; sp.table[i] != 0; i = (i + 1) & mask {
		if e := sp.table[i]; e>>32 == h>>32 && slices.Equal(sp.state(int32(uint32(e))-1), s) {
			return int32(uint32(e)) - 1, false
		}
	}
	id := sp.n
	sp.n++
	sp.table[i] = h&^0xffffffff | uint64(id+1)
	if id%chunkStates == 0 {
		sp.chunks = append(sp.chunks, make([]uint64, chunkStates*sp.words))
		sp.links = append(sp.links, make([]link, chunkStates))
		sp.lim.use(chunkStates * int64(8*sp.words+16))
	}
	copy(sp.state(id), s)
	if int(sp.n)*2 > len(sp.table) {
		sp.grow()
	}
	return id, true
}

func (sp *space) grow() {
	sp.lim.use(int64(len(sp.table)) * 8)
	sp.table = make([]uint64, 2*len(sp.table))
	mask := uint64(len(sp.table) - 1)
	for id := range sp.n {
		h := hashState(sp.state(id))
		i := h & mask
		for sp.table[i] != 0 {
			i = (i + 1) & mask
		}
		sp.table[i] = h&^0xffffffff | uint64(id+1)
	}
}

func hashState(s []uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, w := range s {
		hi, lo := bits.Mul64(h^w, 0xff51afd7ed558ccd)
		h = hi ^ lo ^ h>>29
	}
	hi, lo := bits.Mul64(h, 0xc4ceb9fe1a85ec53)
	return hi ^ lo
}

// depth returns the number of operators on the way to the state.
func (sp *space) depth(id int32) int {
	n := 0
	for l := sp.link(id); l.op >= 0; l = sp.link(l.parent) {
		n++
	}
	return n
}

// path returns the operators that lead from the start to the state.
func (sp *space) path(id int32) []int32 {
	var ops []int32
	for l := sp.link(id); l.op >= 0; l = sp.link(l.parent) {
		ops = append(ops, l.op)
	}
	slices.Reverse(ops)
	return ops
}
