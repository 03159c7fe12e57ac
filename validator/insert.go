package validator

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fettleops/fettle/model"
)

// nearBy is how many steps before the violating one what is missing is tried,
// whatever the length of the plan.
const nearBy = 8

// insertion tries to put one action in: what would restore a fact that is
// missing, before the violating step and then earlier, then any that bears on it.
func (r *repairer) insertion() bool {
	if r.near() {
		return true
	}
	for i := r.k - 1 - nearBy; i >= r.plan.base && !r.spent(); i-- {
		for _, g := range slices.Concat(r.v.cures, r.v.others) {
			if r.insert(i, g) {
				return true
			}
		}
	}
	for i := r.k; i >= r.plan.base && !r.spent(); i-- {
		for _, g := range r.candidates(i, r.writes) {
			if r.insert(i, g) {
				return true
			}
		}
	}
	return false
}

// near tries what is missing at the violating step and at the few before it,
// with work of its own: of a long plan, one trial of what is behind may cost
// more than the share of this kind of repair.
func (r *repairer) near() bool {
	left, floor := r.left, r.floor
	r.left, r.floor = nearWork, 0
	defer func() { r.left, r.floor = left, floor }()
	for i := r.k; i >= max(r.plan.base, r.k-nearBy) && !r.spent(); i-- {
		for _, g := range slices.Concat(r.v.cures, r.v.others) {
			if r.insert(i, g) {
				return true
			}
		}
	}
	return false
}

func (r *repairer) insert(i int, g model.Ground) bool {
	if r.spent() {
		return false
	}
	got := r.run(i, single(g), steps(i, r.plan.end()))
	text := func() string { return fmt.Sprintf("insert %s before step %d", r.v.U.StepText(g), i+1) }
	switch {
	case got == whole && i == r.plan.end():
		return r.found("append " + r.v.U.StepText(g))
	case got == whole:
		return r.found(text())
	case got == beyond && i == r.k:
		r.maybe(got, text())
	}
	return false
}

// replacement tries to put one action in place of another: of the violating
// one, of those that made what fails as it is, then of any. The actions most
// like the written one come first.
func (r *repairer) replacement() bool {
	if !r.bound() && r.filled() {
		return true
	}
	for _, i := range r.places() {
		if r.spent() {
			return false
		}
		if i == r.plan.end() {
			continue
		}
		only := r.writes
		if i == r.k || r.bears(i) {
			only = nil // to be rid of what is there may be enough
		}
		if r.replace(i, r.candidates(i, only)) {
			return true
		}
		if !r.bound() {
			return false // nothing before it has anything to do with it
		}
	}
	return false
}

// replace tries the actions in place of a step, those most like it first.
func (r *repairer) replace(i int, by []model.Ground) bool {
	written := r.v.written
	if i != r.k {
		written = r.v.U.StepText(r.plan.step(i))
	}
	r.sort(by, written)
	for _, g := range by {
		if r.spent() {
			return false
		}
		if r.run(i, single(g), steps(i+1, r.plan.end())) == whole {
			return r.found(fmt.Sprintf("replace %s by %s", r.clause(i), r.v.U.StepText(g)))
		}
	}
	return false
}

// sort orders the actions by how much their text differs from what was written.
func (r *repairer) sort(gs []model.Ground, written string) {
	type ranked struct {
		g model.Ground
		d int
	}
	list := make([]ranked, len(gs))
	for i, g := range gs {
		text := r.v.U.StepText(g)
		list[i] = ranked{g, apart(written, text)}
		r.left -= float64(len(written)*len(text)) / 16
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(a.d, b.d) })
	for i := range list {
		gs[i] = list[i].g
	}
}

// maxApart is the length in bytes of which the difference of texts takes notice.
const maxApart = 200

// apart is how many letters must be left out of two texts for them to be equal.
func apart(a, b string) int {
	a, b = a[:min(len(a), maxApart)], b[:min(len(b), maxApart)]
	return len(a) + len(b) - 2*model.Common(a, b)
}
