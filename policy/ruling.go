package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Rule answers what the rules say of a plan, or of a step where the facts have
// one. It depends on its arguments alone.
//
// Of a step every rule is asked; of a plan as a whole those that look at
// nothing of a step. What a rule says of a plan is thus asked again before each
// step: a window may have closed in between.
//
// A denial outweighs a question, and that an allowance. A condition that cannot
// be evaluated counts as met where the rule denies or asks, and as not met where
// it allows: nothing is looser for an error.
func (p *Policy) Rule(f Facts) Ruling {
	r := p.rule(f)
	if r.Effect == EffectDeny {
		r.Opens = p.opens(f)
	}
	return r
}

// rule is Rule without looking ahead.
func (p *Policy) rule(f Facts) Ruling {
	return p.ruleWhere(f, func(*Rule) bool { return true })
}

// ruleWhere asks those rules alone.
func (p *Policy) ruleWhere(f Facts, asked func(*Rule) bool) Ruling {
	var out Ruling
	var s map[string]any
	for i := range p.Rules {
		r := &p.Rules[i]
		if !asked(r) || f.Step == nil && r.ofStep() {
			continue
		}
		if s == nil && r.When != "" {
			s = f.scene()
		}
		applies, err := r.applies(s, &f)
		if err == nil && !applies || err != nil && r.effect() == EffectAllow {
			continue
		}
		out.add(r, err)
	}
	return out
}

// RulesReach is how far back from now rules look at the history; zero where none
// does. A history that is shorter makes them miss what was done.
func (p *Policy) RulesReach() time.Duration {
	var reach time.Duration
	for i := range p.Rules {
		if c := p.Rules[i].cond; c != nil && len(c.spans) > 0 {
			reach = max(reach, slices.Max(c.spans))
		}
	}
	return reach
}

// ofStep tells whether the rule is asked of steps alone. One that was not read
// is asked wherever it can be.
func (r *Rule) ofStep() bool { return r.cond != nil && r.cond.step }

// ofPlan tells whether the rule looks at the plan as a whole.
func (r *Rule) ofPlan() bool {
	if r.cond == nil {
		return false
	}
	for word := range r.cond.reads {
		if word == "plan" || strings.HasPrefix(word, "plan.") {
			return true
		}
	}
	return false
}

// effect is the rule's effect. One that has none for a mistake denies.
func (r *Rule) effect() RuleEffect {
	switch r.Effect {
	case EffectAllow, EffectAsk:
		return r.Effect
	}
	return EffectDeny
}

// strictness orders effects.
func strictness(e RuleEffect) int {
	return slices.Index([]RuleEffect{"", EffectAllow, EffectAsk, EffectDeny}, e)
}

// add takes a rule in that applies, for an error where there is one.
func (out *Ruling) add(r *Rule, err error) {
	a := AppliedRule{Rule: r.Name, Effect: r.effect(), Reason: r.Reason}
	if err != nil {
		a.Reason = fmt.Sprintf("it could not be evaluated, so it counts as applying: %s", err)
		if r.Reason != "" {
			a.Reason = fmt.Sprintf("%s (%s)", r.Reason, a.Reason)
		}
	}
	out.Applied = append(out.Applied, a)
	if strictness(a.Effect) > strictness(out.Effect) {
		out.Effect, out.Rule, out.Reason = a.Effect, a.Rule, a.Reason
	}
	if err == nil && a.Effect == EffectAsk && r.cond != nil {
		out.Irreversible = out.Irreversible || r.cond.reads["irreversible"] || r.cond.reads["plan.irreversible"]
	}
}

// applies evaluates the condition of a rule on a scene, which it may change.
func (r *Rule) applies(s map[string]any, f *Facts) (bool, error) {
	switch {
	case r.cond == nil && r.When == "":
		return true, nil
	case r.cond == nil:
		return false, errUnread
	case f.Step == nil || len(f.Step.Unsure) == 0 || !r.cond.reads["adds"] && !r.cond.reads["deletes"]:
		return r.cond.holds(s)
	}
	return r.inEachCase(s, f)
}
