package executor

import (
	"fmt"
	"strings"

	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/policy"
	"github.com/fettleops/fettle/validator"
)

// keyOf identifies a validator's failure.
func keyOf(rep validator.Report) policy.FailureKey {
	var conds []string
	for _, m := range rep.Missing {
		conds = append(conds, m.Condition)
	}
	return policy.NewFailureKey(string(rep.Kind), rep.Action, conds...)
}

// renumber gives the critique of the rest of a plan the step numbers of the
// whole plan.
func renumber(rep validator.Report, before int) string {
	old := fmt.Sprintf("step %d: ", rep.Step)
	if rest, ok := strings.CutPrefix(rep.Critique, old); ok {
		return fmt.Sprintf("step %d: %s", rep.Step+before, rest)
	}
	return rep.Critique
}

// facts are the observed values that a critique rests on: those that no step
// of the plan is to change before.
func (g *guard) facts(rep validator.Report) []Fact {
	var out []Fact
	for _, m := range rep.Missing {
		for _, b := range m.Because {
			if b.Since == nil && b.Atom.Fluent != nil && len(out) < maxCited {
				out = append(out, g.fact(b.Atom, g.Now()))
			}
		}
	}
	return out
}

// bearing are the resources of everything that bears on the goal: a shared
// claim on every base fluent, which any exclusive holder stands in the way of.
func (r *run) bearing() []lease.Resource {
	var out []lease.Resource
	for _, f := range r.u.Fluents {
		if f.Derived == nil {
			out = append(out, lease.Resource{Fluent: f.Name})
		}
	}
	return out
}
