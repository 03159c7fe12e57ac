package policy

import (
	"fmt"
	"slices"

	"github.com/fettleops/fettle/model"
)

// Validation asks the rules of each step of a plan that is validated. It has
// the method by which the validator asks whether a step is denied, so that a
// denial is a critique which names the rule. Rules that look at the plan as a
// whole are left to whoever has it: it is not known yet.
type Validation struct {
	policy *Policy
	facts  func(step int, g model.Ground, before *model.State) Facts
}

// Validation returns the rules as a reason to deny steps. The facts of a step
// must depend on its arguments alone; they are not asked for where no rule
// denies.
func (p *Policy) Validation(facts func(step int, g model.Ground, before *model.State) Facts) *Validation {
	return &Validation{p, facts}
}

// Check tells whether the rules deny a step, counted from 1, in the state before
// it. The reason completes "denied by …".
func (v *Validation) Check(step int, g model.Ground, before *model.State) (reason string, denied bool) {
	if !v.policy.Denies() {
		return "", false
	}
	r := v.policy.ruleWhere(v.facts(step, g, before), func(r *Rule) bool { return !r.ofPlan() })
	if r.Effect != EffectDeny {
		return "", false
	}
	return r.Denial(), true
}

// Denies tells whether a rule could deny anything.
func (p *Policy) Denies() bool {
	return slices.ContainsFunc(p.Rules, func(r Rule) bool { return r.effect() == EffectDeny })
}

// Denial names the rule of a ruling and its reason: rule freeze: no reverts on
// Friday evening.
func (r Ruling) Denial() string {
	if r.Reason == "" {
		return "rule " + r.Rule
	}
	return fmt.Sprintf("rule %s: %s", r.Rule, r.Reason)
}
