package validator

import "github.com/fettleops/fettle/model"

// Problem is what a plan is held against.
type Problem struct {
	U        *model.Universe
	Start    *model.State    // never changed
	Goal     *model.Cond     // nil: only executability is checked
	GoalArgs []int32         // objects of the goal's parameters
	GoalName string          // as it is to be shown
	Allowed  []*model.Action // the goal's actions; nil: any
	Rules    []Rule

	// StartedAs is how the start is to be called where a fact is as it was
	// there; empty: "from the start". Who holds the rest of a plan against what
	// was just observed calls it "as observed now".
	StartedAs string
	// Why tells why an atom is unknown, "" where nobody knows; may be nil.
	Why func(model.Atom) string
	// Trace, where not nil, is told every valid step with what it writes; the
	// slices are reused.
	Trace func(step int, g model.Ground, writes []model.Write)
}

// Rule is a reason to deny steps beyond what the model says, such as a rule of
// the policy.
type Rule interface {
	// Check is asked before each applicable step, counted from 1, with the
	// state before it, and of steps that a repair would have. It depends on
	// nothing else. The reason completes "denied by …".
	Check(step int, g model.Ground, before *model.State) (reason string, denied bool)
}
