package validator

import "github.com/fettleops/fettle/model"

const (
	// maxBefore is how many steps are kept while a plan is still valid. A longer
	// plan can be mended at its violation and behind it, not before.
	maxBefore = 1024
	// maxBehind is how many steps are kept from the violation on. A plan that
	// goes on for longer is not mended: that it would be valid could not be told.
	maxBehind = 1 << 16
)

// kept is the part of a plan that a repair may change, in one slab of numbers:
// for each step the action's id, or -1 where it could not be looked up, and its
// arguments.
type kept struct {
	u      *model.Universe
	stride int
	slab   []int32
	base   int // index of the first step kept
	n      int // number of steps kept
	full   bool
}

func newKept(u *model.Universe) kept {
	k := kept{u: u, stride: 1}
	for _, a := range u.Actions {
		k.stride = max(k.stride, 1+len(a.Params))
	}
	return k
}

// valid keeps a step that was carried out, as long as there are few.
func (k *kept) valid(g model.Ground) {
	if k.n < maxBefore {
		k.add(g)
	} else {
		k.full = true
	}
}

// failed keeps the violating step, the zero Ground where it could not be
// looked up, as the one with this index. Where not all steps before it are kept,
// none is.
func (k *kept) failed(g model.Ground, index int) {
	if k.full {
		k.forget(index)
	}
	k.add(g)
}

// forget lets go of the steps before this one.
func (k *kept) forget(index int) {
	gone := min(index-k.base, k.n)
	k.slab, k.n, k.base, k.full = k.slab[gone*k.stride:], k.n-gone, index, false
}

// behind keeps a step after the violation.
func (k *kept) behind(g model.Ground) {
	if k.n < maxBefore+maxBehind {
		k.add(g)
	} else {
		k.full = true
	}
}

func (k *kept) add(g model.Ground) {
	id := int32(-1)
	if g.Action != nil {
		id = int32(g.Action.ID())
	}
	k.slab = append(append(k.slab, id), g.Args...)
	k.n++
	for len(k.slab) < k.n*k.stride {
		k.slab = append(k.slab, 0)
	}
}

// step returns the step with this index in the plan. Its arguments are shared.
func (k *kept) step(index int) model.Ground {
	row := k.slab[(index-k.base)*k.stride:]
	if row[0] < 0 {
		return model.Ground{}
	}
	a := k.u.Actions[row[0]]
	return model.Ground{Action: a, Args: row[1 : 1+len(a.Params)]}
}

// end is the index behind the last step.
func (k *kept) end() int { return k.base + k.n }
