package validator

import "github.com/fettleops/fettle/model"

const (
	stepWork = 4       // of doing or undoing what was tried before
	maxLog   = 1 << 19 // values that are remembered, to be put back
)

// trial tries changed plans: it walks a state of its own back and forth along
// the steps before the violation and simulates what follows with the same
// method as the validation itself. Its work is counted, not timed, so that the
// same plan has the same repair everywhere.
type trial struct {
	v     *validation
	plan  *kept
	s     *model.State
	k     int // index of the violating step; that behind the last for the goal
	at    int // s is the state before this step
	marks []int
	log   []model.Write // of the steps from plan.base to at, each from its mark
	d     model.Delta
	w     weights

	weight []float64 // by action id
	goal   float64   // weight of the goal
	left   float64   // work that may be done
	floor  float64   // what is to be left by the present kind of repair
}

func newTrial(v *validation, k int, work float64) *trial {
	t := &trial{v: v, plan: &v.kept, k: k, at: k, left: work, w: newWeights(v.U)}
	t.s, t.log, t.marks = v.s.Clone(), t.plan.log, t.plan.marks
	t.weight = make([]float64, len(v.U.Actions))
	for i, a := range v.U.Actions {
		t.weight[i] = t.w.action(a)
	}
	t.goal = t.w.cond(v.Goal)
	return t
}

// spent tells whether the work granted is done.
func (t *trial) spent() bool { return t.left <= t.floor }

// walk brings the state to before the step with this index, one at most the
// violating one.
func (t *trial) walk(index int) {
	for t.at > index {
		t.left -= stepWork
		t.at--
		t.undo()
	}
	for t.at < index && len(t.log) <= maxLog { // what was accepted before
		t.left -= stepWork
		_ = t.plan.step(t.at).Effects(t.s, &t.d)
		t.d.Commit(t.s)
		t.note()
		t.at++
	}
}

// do carries out a ground action as the step with this index; false where it
// may not be.
func (t *trial) do(index int, g model.Ground) bool {
	if g.Action == nil {
		return false
	}
	t.left -= t.weight[g.Action.ID()]
	if len(t.log) > maxLog {
		t.left = 0
		return false
	}
	if t.v.advance(index+1, g, t.s, &t.d) != "" {
		return false
	}
	t.note()
	return true
}

// note remembers what the last step wrote.
func (t *trial) note() {
	t.marks = append(t.marks, len(t.log))
	t.log = append(t.log, t.d.Writes...)
}

// undo takes the last step back.
func (t *trial) undo() {
	last := len(t.marks) - 1
	d := model.Delta{Writes: t.log[t.marks[last]:]}
	d.Revert(t.s)
	t.log, t.marks = t.log[:t.marks[last]], t.marks[:last]
}

// piece is a part of a changed plan: the plan's steps from one index to before
// another, or one ground action.
type piece struct {
	from, to int
	g        model.Ground
}

func steps(from, to int) piece    { return piece{from: from, to: to} }
func single(g model.Ground) piece { return piece{g: g} }

// result says how far a changed plan comes.
type result uint8

const (
	stuck  result = iota // not beyond the violation
	beyond               // the violating step can be carried out, but a later one or the goal fails
	whole                // to its end, and the goal
)

// run simulates the plan with what is in front of the step with this index as
// it is, and the pieces in place of the rest.
func (t *trial) run(index int, pieces ...piece) result {
	t.walk(index)
	marks := len(t.marks)
	defer func() {
		for len(t.marks) > marks {
			t.undo()
		}
	}()
	reached := stuck
	for _, p := range pieces {
		if p.g.Action != nil {
			if !t.do(index, p.g) {
				return reached
			}
			index++
		}
		for i := p.from; i < p.to; i++ {
			if t.left < 0 || !t.do(index, t.plan.step(i)) {
				return reached
			}
			index++
			if i == t.k {
				reached = beyond
			}
		}
	}
	t.left -= t.goal
	if t.v.Goal.Eval(t.s, t.v.GoalArgs) != model.True {
		return reached
	}
	return whole
}
