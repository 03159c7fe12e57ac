package policy

import "strings"

// settled are the words and functions whose values follow from the ground action
// and from what is the same for every step: the moment, the goal, the trigger, the
// history.
var settled = map[string]bool{
	"action": true, "ground": true, "args": true, "objects": true, "labels": true, "risk": true, "unfenced": true, "unprotected": true,
	"irreversible": true, "goal": true, "trigger": true, "plan": true,
	"during": true, "hour": true, "weekday": true, "date": true, "times": true,
}

// Reads tells what the denials depend on beside the ground action: the number of
// the step, and the state before it. A search need not tell apart what makes no
// difference.
func (v *Validation) Reads() (step, state bool) {
	for i := range v.policy.Rules {
		r := &v.policy.Rules[i]
		if r.effect() != EffectDeny || r.cond == nil {
			continue
		}
		for word := range r.cond.reads {
			base, _, _ := strings.Cut(word, ".")
			step = step || base == "step"
			state = state || base != "step" && !settled[base]
		}
	}
	return step, state
}
