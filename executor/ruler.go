package executor

import (
	"fmt"
	"slices"
	"time"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/policy"
	"github.com/fettleops/fettle/validator"
)

// Ruler asks a policy's rules about plans and steps, at one moment.
type Ruler struct {
	Policy   *policy.Policy
	Universe *model.Universe
	Settings map[*model.Action]Settings
	Fenced   func(*model.Action) bool
	Safe     time.Duration // how long an action may take within one lease that is not renewed
	Goal     string
	Trigger  policy.Trigger
	Now      time.Time
	History  []policy.Deed
}

// Ruled is what the rules say of a plan or, right before it is armed, of one
// step. Only those steps are listed to which a rule applies.
type Ruled struct {
	Round  int           `json:"round"`
	Step   int           `json:"step,omitempty"` // 0: a plan as a whole
	Facts  policy.Facts  `json:"facts"`          // of the plan; a step adds its own
	Ruling policy.Ruling `json:"ruling"`         // of the plan as a whole
	Steps  []RuledStep   `json:"steps,omitempty"`
	More   int           `json:"more,omitempty"` // steps that Steps has no room for
	// HistoryMore is how many actions the rules counted where those are too many
	// for the facts.
	HistoryMore int `json:"history_more,omitempty"`
}

// RuledStep is what the rules say of one step.
type RuledStep struct {
	Facts  policy.StepFacts `json:"facts"`
	Ruling policy.Ruling    `json:"ruling"`
}

// step returns what the rules look at of a step, given the state before it.
func (r *Ruler) step(n int, g model.Ground, before *model.State) policy.StepFacts {
	set := r.Settings[g.Action]
	more := policy.StepFacts{Risk: set.Risk, Irreversible: set.Irreversible, Unfenced: !r.Fenced(g.Action)}
	more.Unprotected = more.Unfenced && set.Timeout > r.Safe
	more.Labels, _ = r.labels(g) // A step whose labels cannot be evaluated is denied by labelRule.
	return policy.StepOf(r.Universe, g, before, n, more)
}

func (r *Ruler) facts() policy.Facts {
	return policy.Facts{Now: r.Now, Goal: r.Goal, Trigger: r.Trigger, History: r.History}
}

// Rules are those that deny steps, to be held against each step that the
// validator finds applicable: those of the policy, and the limits that all
// controllers share. The first step is the one behind so many of the plan's.
// What looks at the plan as a whole is left to Plan.
func (r *Ruler) Rules(behind int) []validator.Rule {
	out := r.policyRules(behind)
	if r.Policy.Shared.LimitsActions() {
		out = append(out, sharedRule{r})
	}
	return out
}

// policyRules are those of the policy alone.
func (r *Ruler) policyRules(behind int) []validator.Rule {
	if len(r.Policy.Rules) == 0 {
		return nil
	}
	return []validator.Rule{labelRule{r}, r.Policy.Validation(func(step int, g model.Ground, before *model.State) policy.Facts {
		facts := r.facts()
		s := r.step(step+behind, g, before)
		facts.Step = &s
		return facts
	})}
}

// labels evaluates the labels of a ground action.
func (r *Ruler) labels(g model.Ground) (map[string]string, error) {
	of := r.Settings[g.Action].Labels
	if of == nil {
		return nil, nil
	}
	return of(r.Universe.Names(g.Action.Params, g.Args))
}

// labelRule denies a step whose labels cannot be evaluated: no rule may overlook it.
type labelRule struct{ *Ruler }

// Check evaluates the labels.
func (r labelRule) Check(_ int, g model.Ground, _ *model.State) (string, bool) {
	_, err := r.labels(g)
	if err == nil {
		return "", false
	}
	return "the policy's rules: " + err.Error(), true
}

// sharedRule denies a step that a shared limit leaves no room for.
type sharedRule struct{ *Ruler }

// Check asks whether the one step may be begun now.
func (r sharedRule) Check(_ int, g model.Ground, _ *model.State) (string, bool) {
	no := r.Policy.Shared.Acts(r.History, []policy.Deed{r.deed(g)}, r.Now)
	if no == nil {
		return "", false
	}
	return no.Reason, true
}

// deed is a ground action as all controllers count it.
func (r *Ruler) deed(g model.Ground) policy.Deed {
	names := r.Universe.Names(g.Action.Params, g.Args)
	slices.Sort(names)
	return policy.Deed{Goal: r.Goal, Action: g.Action.Name, Objects: slices.Compact(names), Ground: r.Universe.StepText(g)}
}

// fits answers whether the shared limits leave room for all of these steps.
func (r *Ruler) fits(steps []model.Ground) *policy.SharedRefusal {
	var deeds []policy.Deed
	for _, g := range steps {
		deeds = append(deeds, r.deed(g))
	}
	return r.Policy.Shared.Acts(r.History, deeds, r.Now)
}

// WholePlan denies plans that the validator accepted from a state, for what
// looks at a plan as a whole. The reason completes "plan denied by …".
func (r *Ruler) WholePlan(from *model.State) func(steps []model.Step) (reason string, denied bool) {
	return func(steps []model.Step) (string, bool) {
		if d := r.whole(from, steps); d != nil {
			return d.why, true
		}
		return "", false
	}
}

// denial says why a plan is denied.
type denial struct {
	why   string
	opens time.Time // when it would no longer be; zero: not by itself
	limit bool      // by a limit that all controllers share
}

// whole returns the first denial of a plan, nil where it may be carried out.
func (r *Ruler) whole(from *model.State, steps []model.Step) *denial {
	grounds := make([]model.Ground, len(steps))
	for i, st := range steps {
		g, fault := r.Universe.Bind(st, nil)
		if fault != nil {
			return &denial{why: fault.Message}
		}
		grounds[i] = g
	}
	if no := r.fits(grounds); no != nil {
		return &denial{no.Reason, no.Until, true}
	}
	if len(r.Policy.Rules) == 0 {
		return nil
	}
	ruled := r.Plan(from, grounds)
	switch why, of, denied := ruled.Denial(); {
	case !denied:
		return nil
	case of == nil:
		return &denial{why: why, opens: ruled.Ruling.Opens}
	default:
		return &denial{why: fmt.Sprintf("%s (step %d, %s)", why, of.Facts.Step, model.Clip(of.Facts.Ground)), opens: of.Ruling.Opens}
	}
}

// Plan asks the rules about a plan that can be carried out from a state: as a
// whole, and each step as part of it.
func (r *Ruler) Plan(from *model.State, steps []model.Ground) Ruled {
	facts := r.facts()
	state, d := from.Clone(), &model.Delta{}
	all := make([]policy.StepFacts, len(steps))
	for i, g := range steps {
		all[i] = r.step(i+1, g, state)
		facts.Plan.Cost += all[i].Cost
		text := r.Universe.StepText(g)
		if all[i].Unprotected {
			facts.Plan.Unprotected = append(facts.Plan.Unprotected, text)
		}
		if all[i].Irreversible {
			facts.Plan.Irreversible = append(facts.Plan.Irreversible, text)
		}
		if g.Effects(state, d) == nil {
			d.Commit(state)
		}
	}
	facts.Plan = policy.PlanOf(r.Universe, steps, facts.Plan.Cost, facts.Plan.Unprotected, facts.Plan.Irreversible)
	out := Ruled{Facts: facts, Ruling: r.Policy.Rule(facts)}
	looked := []policy.Facts{facts}
	for i, s := range all {
		if ruled := r.one(facts, s); ruled.Ruling.Effect != "" {
			out.Steps = append(out.Steps, ruled)
		}
		facts.Step = &all[i]
		looked = append(looked, facts)
	}
	out.Facts.History = r.Policy.Counted(looked...)
	return out
}

// one asks the rules about a step of a plan.
func (r *Ruler) one(facts policy.Facts, s policy.StepFacts) RuledStep {
	facts.Step = &s
	return RuledStep{Facts: s, Ruling: r.Policy.Rule(facts)}
}

// Denial returns the first denial, completing "denied by …", and the step that
// it is about, nil where that is the plan.
func (r *Ruled) Denial() (why string, of *RuledStep, no bool) {
	if r.Ruling.Effect == policy.EffectDeny {
		return r.Ruling.Denial(), nil, true
	}
	for i := range r.Steps {
		if s := &r.Steps[i]; s.Ruling.Effect == policy.EffectDeny {
			return s.Ruling.Denial(), s, true
		}
	}
	return "", nil, false
}

// of returns what applies to a step, nil where nothing does.
func (r *Ruled) of(step int) *RuledStep {
	for i := range r.Steps {
		if r.Steps[i].Facts.Step == step {
			return &r.Steps[i]
		}
	}
	return nil
}

// Asks returns why a person is to be asked: what is not said of the plan as a
// whole is said of each step.
func (r *Ruled) Asks() []string {
	var out []string
	for _, a := range r.Ruling.Applied {
		if a.Effect == policy.EffectAsk {
			out = append(out, policy.Ruling{Rule: a.Rule, Reason: a.Reason}.Denial())
		}
	}
	for i := range r.Steps {
		out = append(out, r.Steps[i].asks(r)...)
	}
	return out
}

// asks returns why a person is to be asked about the step, but for what was
// said before of the plan as a whole.
func (s *RuledStep) asks(before *Ruled) []string {
	var out []string
	for _, a := range s.Ruling.Applied {
		if a.Effect == policy.EffectAsk && !asksFor(before.Ruling, a.Rule) {
			of := policy.Ruling{Rule: fmt.Sprintf("%s (%s)", a.Rule, model.Clip(s.Facts.Ground)), Reason: a.Reason}
			out = append(out, of.Denial())
		}
	}
	return out
}

// asksFor tells whether a rule asks.
func asksFor(g policy.Ruling, rule string) bool {
	return slices.ContainsFunc(g.Applied, func(a policy.AppliedRule) bool { return a.Rule == rule && a.Effect == policy.EffectAsk })
}

// Allows tells whether the rules allow every one of so many steps.
func (r *Ruled) Allows(steps int) bool {
	return steps > 0 && len(r.Steps) == steps && !slices.ContainsFunc(r.Steps, func(s RuledStep) bool { return s.Ruling.Effect != policy.EffectAllow }) &&
		(r.Ruling.Effect == "" || r.Ruling.Effect == policy.EffectAllow)
}
