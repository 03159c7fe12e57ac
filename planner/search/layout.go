package search

import (
	"math"
	"math/bits"
	"slices"

	"github.com/fettleops/fettle/model"
)

// layout gives every variable that bears on the goal its place in the words of
// a state: a bit for a bool that is always known, few for an object, a word
// for a number. It sets the start and tells operators their components.
func (t *task) layout() {
	word, used := int32(0), 64
	place := func(x *variable, n int) {
		if used+n > 64 {
			used, word = 0, word+1
		}
		x.word, x.shift, x.mask = word-1, uint8(used), math.MaxUint64>>(64-n)
		used += n
	}
	for v := range t.vars {
		if x := &t.vars[v]; x.word >= 0 {
			place(x, x.bits())
		}
	}
	t.words = int(word)
	t.init = make([]uint64, t.words)
	for v := range t.vars {
		if x := &t.vars[v]; x.word >= 0 {
			x.put(t.init, t.encode(x, x.start))
		}
	}
	t.watch()
}

func (x *variable) bits() int {
	switch x.f.Kind {
	case model.KindBool:
		if x.fuzzy {
			return 2
		}
		x.unknown = never
		return 1
	case model.KindObject:
		return max(1, bits.Len(uint(len(x.vals))))
	case model.KindNumber:
		return 64
	}
	return 32
}

// watch tells every operator which components it may touch.
func (t *task) watch() {
	touchers := make([][]int32, len(t.vars))
	for i := range t.components {
		for _, v := range t.components[i].watched() {
			touchers[v] = append(touchers[v], int32(i))
		}
	}
	for i := range t.ops {
		op := &t.ops[i]
		op.written(func(v int32) { op.checks = append(op.checks, touchers[v]...) })
		slices.Sort(op.checks)
		op.checks = slices.Compact(op.checks)
	}
}

// findFuzzy finds the variables that may be unknown in some state.
func (t *task) findFuzzy(nodes int) {
	for v := range t.vars {
		x := &t.vars[v]
		x.fuzzy = !x.start.Known() || x.f.Kind != model.KindBool && x.f.Kind != model.KindObject
	}
	var z fuzziness
	for again := true; again; {
		again = false
		z = fuzziness{t: t, seen: make([]int8, nodes)}
		for i := range t.ops {
			if !t.lim.ok() {
				return
			}
			for _, l := range t.ops[i].set {
				x := &t.vars[l.v]
				if !x.fuzzy && l.code == x.unknown {
					x.fuzzy, again = true, true
				}
			}
			for k := range t.ops[i].updates {
				u := &t.ops[i].updates[k]
				if x := &t.vars[u.v]; !x.fuzzy && z.update(u) {
					x.fuzzy, again = true, true
				}
			}
		}
	}
	for i := range t.components {
		cp := &t.components[i]
		cp.fuzzy = z.node(cp.truth) || z.node(cp.a) || z.node(cp.b)
	}
}

// fuzziness tells which nodes may be unknown while the variables marked so may be.
type fuzziness struct {
	t    *task
	seen []int8 // 0: not yet, 1: known, 2: fuzzy
}

// update tells whether an update may leave its variable unknown.
func (z *fuzziness) update(u *update) bool {
	sets := 0
	for _, p := range u.parts {
		if z.node(p.when) || z.node(p.value) {
			return true
		}
		if p.op == model.Set {
			sets++
		}
	}
	return sets > 1
}

func (z *fuzziness) node(n *node) bool {
	if n == nil {
		return false
	}
	if z.seen[n.id] == 0 {
		z.seen[n.id] = 1
		if z.compute(n) {
			z.seen[n.id] = 2
		}
	}
	return z.seen[n.id] == 2
}

func (z *fuzziness) compute(n *node) bool {
	switch n.op {
	case model.OpConst:
		return !n.value().Known()
	case opLit, opVar:
		return z.t.vars[n.v].fuzzy
	case model.OpDiv:
		return true
	case opTable:
		for _, k := range n.keys {
			if z.node(n.table[k]) {
				return true
			}
		}
	case model.OpMin, model.OpMax:
		if len(n.args) == 0 {
			return true
		}
	}
	if n.open || n.lo != n.hi {
		return true
	}
	for _, a := range n.args {
		if z.node(a) {
			return true
		}
	}
	return false
}
