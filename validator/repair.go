package validator

import (
	"fmt"
	"slices"

	"github.com/fettleops/fettle/model"
)

// repairWork bounds the search for a repair, in evaluated expression nodes.
const repairWork = 3e6

// nearWork bounds the trial of what is missing near the violation, beside that.
const nearWork = 4e6

// repairer looks for the smallest repair: one step deleted, moved, put in or
// replaced such that the whole plan is valid. A deletion is smaller than a
// move, which keeps every action; a step more is larger, and another action
// than what was meant the largest. Without a goal, which alone tells what a step
// is for, a plan is given what it lacks before anything is taken from it, and
// nothing is replaced; a step that means nothing in the model is first of all
// taken for a misspelt one.
type repairer struct {
	*trial
	v      *validation
	writes []bool // by action id: whether it may bear on what fails; nil: all may
}

// repair fills in the report's repair. None is sought of a start that breaks an
// invariant, of a text that is no list of steps, nor of a plan that is too long.
func (v *validation) repair() {
	k := v.r.Step - 1
	switch {
	case v.kept.full, v.r.Kind == Invariant && v.r.Step == 0, v.r.Kind == Syntax && v.written == "":
		return
	case v.r.Kind == Goal:
		k = v.r.Steps
	}
	r := &repairer{trial: newTrial(v, k, repairWork), v: v}
	r.writes = r.bearing()
	for _, kind := range r.order() {
		r.floor = r.left - kind.share*repairWork
		if kind.try() {
			return
		}
	}
}

// attempt is one kind of repair and the share of the work that it may take.
type attempt struct {
	try   func() bool
	share float64
}

func (r *repairer) order() []attempt {
	deletion, move := attempt{r.deletion, 0.1}, attempt{r.move, 0.25}
	insertion, replacement := attempt{r.insertion, 0.35}, attempt{r.replacement, 0.3}
	switch {
	case !r.bound():
		return []attempt{{r.misspelt, 0.1}, deletion, replacement}
	case r.v.Goal == nil:
		return []attempt{move, insertion, deletion}
	}
	return []attempt{deletion, move, insertion, replacement}
}

// bound tells whether the violating step could be looked up, if there is one.
func (r *repairer) bound() bool { return r.k == r.plan.end() || r.plan.step(r.k).Action != nil }

// bearing finds the actions that may bear on the conjuncts that fail: they write
// a fluent that is read there, or that decides what such an action writes. All
// others may be left alone, for what they change, nothing that fails depends on.
func (r *repairer) bearing() []bool {
	if r.v.failing == nil {
		return nil
	}
	read := map[*model.Fluent]bool{}
	for _, e := range r.v.failing {
		e.BaseFluents(read)
	}
	writes := make([]bool, len(r.v.U.Actions))
	for found := true; found; {
		found = false
		for i, a := range r.v.U.Actions {
			for _, e := range a.Effects {
				if !read[e.Fluent] {
					continue
				}
				n := len(read)
				e.When.BaseFluents(read)
				e.Value.BaseFluents(read)
				found = found || !writes[i] || len(read) > n
				writes[i] = true
			}
		}
	}
	return writes
}

// bears tells whether the step with this index, before or behind the violation,
// may bear on it.
func (r *repairer) bears(index int) bool {
	a := r.plan.step(index).Action
	return a != nil && (r.writes == nil || r.writes[a.ID()])
}

// suspects are the indices of the steps that made what fails as it is.
func (r *repairer) suspects() []int {
	var out []int
	for _, m := range r.v.r.Missing {
		for _, b := range m.Because {
			if b.Since != nil && b.Since.Step-1 >= r.plan.base && b.Since.Step-1 < r.k && !slices.Contains(out, b.Since.Step-1) {
				out = append(out, b.Since.Step-1)
			}
		}
	}
	return out
}

// places are the indices up to the violating one: that itself, then the steps
// that made what fails as it is, then backwards.
func (r *repairer) places() []int {
	out := append([]int{r.k}, r.suspects()...)
	for i := r.k - 1; i >= r.plan.base; i-- {
		if !slices.Contains(out[:min(len(out), maxFacts)], i) {
			out = append(out, i)
		}
	}
	return out
}

// deletion tries to leave one step out, but not the only one of a plan without
// a goal.
func (r *repairer) deletion() bool {
	if r.v.Goal == nil && r.plan.n == 1 {
		return false
	}
	for _, i := range r.places() {
		if r.spent() {
			return false
		}
		if i == r.plan.end() || i < r.k && !r.bears(i) {
			continue
		}
		if r.run(i, steps(i+1, r.plan.end())) == whole {
			return r.found("delete " + r.name(i))
		}
	}
	return false
}

// name is a step as a repair names it: step 4, drain(db).
func (r *repairer) name(i int) string {
	switch g := r.plan.step(i); {
	case g.Action != nil:
		return fmt.Sprintf("step %d, %s", i+1, r.v.U.StepText(g))
	case r.v.r.Kind == Syntax && r.v.r.Line > 0:
		return fmt.Sprintf("step %d (line %d)", i+1, r.v.r.Line)
	}
	return fmt.Sprintf("step %d, %s", i+1, r.v.written)
}

// clause is the same in the middle of a sentence, with the comma behind it.
func (r *repairer) clause(i int) string {
	if r.plan.step(i).Action == nil && r.v.r.Kind == Syntax && r.v.r.Line > 0 {
		return r.name(i)
	}
	return r.name(i) + ","
}

// found notes the repair.
func (r *repairer) found(repair string) bool {
	r.v.r.Repair = repair
	return true
}

// maybe notes what mends the violating step, if not the plan.
func (r *repairer) maybe(got result, mend string) {
	if got == beyond && r.v.r.mend == "" {
		r.v.r.mend = mend
	}
}
