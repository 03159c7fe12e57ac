package search

import (
	"fmt"

	"github.com/fettleops/fettle/model"
)

// verify simulates a plan by the model itself: what was compiled must agree.
// An error is a fault of this package, never the author's.
func verify(p Problem, plan []model.Ground) error {
	s := p.Start.Clone()
	var d model.Delta
	for i, g := range plan {
		step := func(what string) error {
			return fmt.Errorf("internal fault: step %d of the plan found, %s, %s", i+1, p.U.StepText(g), what)
		}
		if g.Applicable(s, &d) != model.True {
			return step("is not applicable")
		}
		for _, r := range p.Rules {
			if reason, denied := r.Check(i+1, g, s); denied {
				return step("is denied by " + reason)
			}
		}
		if f := g.Effects(s, &d); f != nil {
			return step("has no effects: " + f.Message)
		}
		d.Commit(s)
		if b := g.Worsened(s, &d); b != nil {
			return step("makes invariant " + b.Invariant.Name + " worse")
		}
	}
	if p.Goal.Eval(s, p.GoalArgs) != model.True {
		return fmt.Errorf("internal fault: the plan found does not reach the goal: %v", planNames(p.U, plan))
	}
	return nil
}

func planNames(u *model.Universe, plan []model.Ground) []string {
	var names []string
	for _, g := range plan {
		names = append(names, u.StepText(g))
	}
	return names
}
