package validator

import "github.com/fettleops/fettle/model"

// maxFlat is the number of instances above which a fluent's changes are found
// through a map.
const maxFlat = 1 << 22

// changes remembers for each atom the step that last changed it. Memory grows
// with the number of atoms written, never with the number of steps.
type changes struct {
	u      *model.Universe
	flat   [][]int32 // by fluent and instance: 1 + position in last; 0: unchanged
	sparse []map[uint64]int32
	last   []change
	args   []int32 // of last[i]: from i·stride
	stride int
}

type change struct {
	step   int
	action *model.Action
}

func newChanges(u *model.Universe) *changes {
	c := &changes{u: u, flat: make([][]int32, len(u.Fluents)), sparse: make([]map[uint64]int32, len(u.Fluents))}
	for _, a := range u.Actions {
		c.stride = max(c.stride, len(a.Params))
	}
	return c
}

// record notes that the step changed what these writes change.
func (c *changes) record(step int, g model.Ground, writes []model.Write) {
	for i := range writes {
		w := &writes[i]
		if !w.Changed() {
			continue
		}
		k := c.position(w.Fluent, w.Index)
		c.last[k] = change{step, g.Action}
		copy(c.args[int(k)*c.stride:], g.Args)
	}
}

// position returns the atom's place in last, a new one at its first change.
func (c *changes) position(f *model.Fluent, i uint64) int32 {
	id := f.ID()
	if flat := c.flat[id]; flat != nil {
		if flat[i] == 0 {
			flat[i] = c.grow()
		}
		return flat[i] - 1
	}
	if c.u.Size(f) <= maxFlat {
		c.flat[id] = make([]int32, c.u.Size(f))
		return c.position(f, i)
	}
	if c.sparse[id] == nil {
		c.sparse[id] = map[uint64]int32{}
	}
	k, ok := c.sparse[id][i]
	if !ok {
		k = c.grow()
		c.sparse[id][i] = k
	}
	return k - 1
}

func (c *changes) grow() int32 {
	c.last = append(c.last, change{})
	for range c.stride {
		c.args = append(c.args, 0)
	}
	return int32(len(c.last))
}

// since returns the step that last changed the atom, nil where none did.
func (c *changes) since(a model.Atom) *Since {
	id, i := a.Fluent.ID(), c.u.Index(a.Fluent, a.Args)
	var k int32
	if c.flat[id] != nil {
		k = c.flat[id][i]
	} else {
		k = c.sparse[id][i]
	}
	if k == 0 {
		return nil
	}
	last := c.last[k-1]
	from := int(k-1) * c.stride
	g := model.Ground{Action: last.action, Args: c.args[from : from+len(last.action.Params)]}
	return &Since{last.step, c.u.StepText(g)}
}
