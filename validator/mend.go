package validator

import (
	"fmt"

	"github.com/fettleops/fettle/model"
)

const (
	maxMoves = 1000 // later steps that are tried in front of the violating one
	mendWork = 4e6  // evaluated expression nodes
)

// mender looks for the smallest mend: a later step moved forward, or one
// action put in. It holds a mend to what is before it alone: the violating
// step, or the goal, must come right; what comes after may fail for another
// reason.
type mender struct {
	v     *validation
	w     weights
	first model.Delta
	then  model.Delta
	moves int
	left  float64
}

func newMender(v *validation) *mender {
	return &mender{v: v, w: newWeights(v.U), left: mendWork}
}

// later looks at a step behind the violation.
func (v *validation) later(st model.Step) {
	m := v.mend
	if m == nil || v.r.Repair != "" || m.moves == maxMoves || m.left <= 0 {
		return
	}
	m.moves++
	g, fault := v.U.Bind(st, v.args)
	if fault != nil {
		return
	}
	v.args = g.Args
	if m.heals(g) {
		v.r.Repair = fmt.Sprintf("move step %d, %s, before step %d", v.r.Steps, v.U.StepText(g), v.r.Step)
	}
}

// mendBy looks among the achievers for an action to put in, once the plan has
// ended.
func (v *validation) mendBy() {
	if v.mend == nil || v.r.Repair != "" {
		return
	}
	for _, g := range v.cures {
		if !v.mend.heals(g) {
			continue
		}
		if v.r.Kind == Goal {
			v.r.Repair = fmt.Sprintf("append %s", v.U.StepText(g))
		} else {
			v.r.Repair = fmt.Sprintf("insert %s before step %d", v.U.StepText(g), v.r.Step)
		}
		return
	}
}

// heals tells whether the violation is gone with the action carried out first.
func (m *mender) heals(g model.Ground) bool {
	m.left -= 2 * m.w.action(g.Action)
	if m.left <= 0 || !m.v.permits(g) || !m.do(g, &m.first) {
		return false
	}
	ok := false
	if m.v.r.Kind == Goal {
		m.left -= m.w.cond(m.v.Goal)
		ok = m.v.Goal.Eval(m.v.s, m.v.GoalArgs) == model.True
	} else {
		m.left -= 2 * m.w.action(m.v.r.Ground.Action)
		if ok = m.do(m.v.r.Ground, &m.then); ok {
			m.then.Revert(m.v.s)
		}
	}
	m.first.Revert(m.v.s)
	return ok
}

// permits tells whether the goal's actions and the rules permit the action.
func (v *validation) permits(g model.Ground) bool {
	if v.allowed != nil && !v.allowed[g.Action.ID()] {
		return false
	}
	for _, r := range v.Rules {
		if _, denied := r.Check(max(1, v.r.Step), g, v.s); denied {
			return false
		}
	}
	return true
}

// do commits the action's effects if it may be carried out on the present state.
func (m *mender) do(g model.Ground, d *model.Delta) bool {
	s := m.v.s
	if g.Applicable(s, d) != model.True || g.Effects(s, d) != nil {
		return false
	}
	d.Commit(s)
	if g.Worsened(s, d) != nil {
		d.Revert(s)
		return false
	}
	return true
}
