package validator

import "github.com/fettleops/fettle/model"

const (
	// maxBefore is how many steps are kept while a plan is still valid, and what
	// they wrote: the last of a longer plan, which can be mended there, at its
	// violation and behind it.
	maxBefore = 1024
	// maxWrites is how many values are kept of these; at more, the kept part
	// begins anew.
	maxWrites = 1 << 18
	// maxBehind is how many steps are kept from the violation on. A plan that
	// goes on for longer is not mended: that it would be valid could not be told.
	maxBehind = 1 << 17
)

// kept is the part of a plan that a repair may change, in one slab of numbers:
// for each step the action's id, or -1 where it could not be looked up, and its
// arguments. What the steps before the violation wrote leads back from the state
// there to the one at base.
type kept struct {
	u      *model.Universe
	stride int
	slab   []int32
	base   int           // index of the first step kept
	n      int           // number of steps kept
	full   bool          // there were more behind the violation
	log    []model.Write // of the valid steps, each from its mark
	marks  []int
}

func newKept(u *model.Universe) kept {
	k := kept{u: u, stride: 1}
	for _, a := range u.Actions {
		k.stride = max(k.stride, 1+len(a.Params))
	}
	return k
}

// valid keeps a step that was carried out and what it wrote, and lets go of the
// first half of those kept where there are many.
func (k *kept) valid(g model.Ground, writes []model.Write) {
	if k.n == maxBefore {
		k.forget(maxBefore / 2)
	}
	if len(k.log)+len(writes) > maxWrites {
		k.forget(k.n)
	}
	if len(writes) > maxWrites {
		k.base++
		return
	}
	k.marks = append(k.marks, len(k.log))
	k.log = append(k.log, writes...)
	k.add(g)
}

// failed keeps the violating step, the zero Ground where it could not be
// looked up.
func (k *kept) failed(g model.Ground) { k.add(g) }

// forget lets go of the first valid steps.
func (k *kept) forget(gone int) {
	from := len(k.log)
	if gone < len(k.marks) {
		from = k.marks[gone]
	}
	k.marks = append(k.marks[:0], k.marks[gone:]...)
	for i := range k.marks {
		k.marks[i] -= from
	}
	k.log = append(k.log[:0], k.log[from:]...)
	k.slab = append(k.slab[:0], k.slab[gone*k.stride:]...)
	k.n -= gone
	k.base += gone
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
