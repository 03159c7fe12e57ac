package search

import "slices"

// generator finds the operators whose literals hold in a state, by a decision
// tree over the variables in order (Helmert 2006).
type generator struct {
	t    *task
	root *branch
}

// branch tests one variable.
type branch struct {
	v     int32
	codes []uint64
	next  []*branch // by position in codes
	any   *branch   // operators that do not ask for the variable
	ops   []int32   // of a leaf
}

func (t *task) newGenerator() *generator {
	ids := make([]int32, len(t.ops))
	for i := range ids {
		ids[i] = int32(i)
	}
	return &generator{t: t, root: t.split(ids, make([]int32, len(ids)))}
}

// split takes the operators apart by their next literal; tested is how many
// literals of each operator are decided.
func (t *task) split(ids, tested []int32) *branch {
	if len(ids) == 0 || !t.lim.ok() {
		return nil
	}
	v := int32(-1)
	for _, i := range ids {
		if pre := t.ops[i].pre; int(tested[i]) < len(pre) && (v < 0 || pre[tested[i]].v < v) {
			v = pre[tested[i]].v
		}
	}
	if v < 0 {
		return &branch{v: -1, ops: ids}
	}
	b := &branch{v: v}
	var rest []int32
	by := map[uint64][]int32{}
	for _, i := range ids {
		pre := t.ops[i].pre
		if int(tested[i]) >= len(pre) || pre[tested[i]].v != v {
			rest = append(rest, i)
			continue
		}
		c := pre[tested[i]].code
		tested[i]++
		if by[c] == nil {
			b.codes = append(b.codes, c)
		}
		by[c] = append(by[c], i)
	}
	for _, c := range b.codes {
		b.next = append(b.next, t.split(by[c], tested))
	}
	b.any = t.split(rest, tested)
	return b
}

// applicable appends the operators that are applicable in the state that the
// machine has loaded, in their order.
func (g *generator) applicable(m *machine, out []int32) []int32 {
	from := len(out)
	for b := g.root; b != nil; b = b.any {
		out = g.below(b, m, out)
	}
	slices.Sort(out[from:])
	return out
}

// below adds those of a branch, without its any.
func (g *generator) below(b *branch, m *machine, out []int32) []int32 {
	if b.v < 0 {
		for _, i := range b.ops {
			if m.all(g.t.ops[i].rest) {
				out = append(out, i)
			}
		}
		return out
	}
	c := m.get(b.v)
	for k, code := range b.codes {
		if code == c {
			for n := b.next[k]; n != nil; n = n.any {
				out = g.below(n, m, out)
			}
		}
	}
	return out
}
