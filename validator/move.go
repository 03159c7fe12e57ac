package validator

import "fmt"

// move tries to move one step: a later one to before the violating one, that
// one itself, one that made what fails as it is, then any, the nearest first.
func (r *repairer) move() bool {
	k, end := r.k, r.plan.end()
	for j := k + 1; j < end; j++ {
		if r.forward(j, k) {
			return true
		}
	}
	for d := 1; d < end-r.plan.base && k < end; d++ {
		if d > 1 && r.back(k, k+d) || r.forward(k, k-d) {
			return true
		}
	}
	for _, i := range r.suspects() {
		for j := k; j < end; j++ {
			if r.back(i, j) {
				return true
			}
		}
	}
	for d := 1; d < end-r.plan.base; d++ {
		for i := min(k, end-1-d); i >= r.plan.base; i-- {
			if r.forward(i+d, i) || d > 1 && r.back(i, i+d) {
				return true
			}
			if r.spent() {
				return false
			}
		}
	}
	return false
}

// forward moves step j to before step i.
func (r *repairer) forward(j, i int) bool {
	if r.spent() || i < r.plan.base || i == r.plan.end() || j != r.k && !r.bears(j) {
		return false
	}
	text := func() string { return fmt.Sprintf("move %s before step %d", r.clause(j), i+1) }
	got := r.run(i, steps(j, j+1), steps(i, j), steps(j+1, r.plan.end()))
	if got == whole {
		return r.found(text())
	}
	if got == beyond && i == r.k {
		r.maybe(got, text())
	}
	return false
}

// back moves step i to behind step j.
func (r *repairer) back(i, j int) bool {
	if r.spent() || j >= r.plan.end() || i != r.k && !r.bears(i) {
		return false
	}
	if r.run(i, steps(i+1, j+1), steps(i, i+1), steps(j+1, r.plan.end())) != whole {
		return false
	}
	return r.found(fmt.Sprintf("move %s after step %d", r.clause(i), j+1))
}
