package executor

import (
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/policy"
	"github.com/fettleops/fettle/validator"
)

// Violation is what the validator found wrong with a plan, where its planner
// takes critiques and could have planned otherwise.
type Violation struct {
	Action  string            `json:"action,omitempty"`  // ground, of the model; "" where the goal is not reached
	Missing []string          `json:"missing,omitempty"` // failed conjuncts, bounded
	Key     policy.FailureKey `json:"failure_key"`
}

// violation describes what is wrong with the plan of an attempt. It is nil where
// the validator found nothing, whoever else objects to it; for a planner whose
// answer is final, such as the search and a plan that was written beforehand; and
// where the step is not one of the model's actions and objects: what is
// written there is the planner's own text.
func violation(a planner.Attempt) *Violation {
	rep := a.Report
	if a.Proposal.Final {
		return nil
	}
	v := &Violation{}
	switch rep.Kind {
	case validator.Goal:
	case validator.Precondition, validator.UnknownValue, validator.EffectConflict, validator.Invariant, validator.Policy:
		if rep.Ground.Action == nil {
			return nil
		}
		v.Action = rep.Action
	default:
		return nil
	}
	var missing []string
	for _, m := range rep.Missing {
		missing = append(missing, m.Condition)
	}
	v.Key = boundedKey(string(rep.Kind), v.Action, missing)
	v.Missing = clipped(missing[:min(len(missing), maxConjuncts)])
	return v
}
