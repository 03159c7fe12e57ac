package executor

import (
	"slices"
	"strings"
	"time"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/policy"
)

// ruledOn derives what the rules say, from the facts that they looked at, and
// those of an accepted plan from the plan.
func (r *replayer) ruledOn(v Ruled) error {
	what := "the plan"
	if v.Step > 0 {
		what = "a step right before it is armed"
	}
	c := r.decision("ruling", "what the rules say of %s", what)
	known := v.HistoryMore == 0
	if !known {
		r.taken("rulings on more actions than an event has room for")
	}
	if v.Step == 0 && known {
		c.same("ruling", v.Ruling, r.m.Policy.Rule(v.Facts))
	}
	for _, s := range v.Steps {
		if !known {
			break
		}
		facts := v.Facts
		facts.Step = &s.Facts
		c.same("ruling on "+s.Facts.Ground, s.Ruling, r.m.Policy.Rule(facts))
	}
	switch plan := r.askedOf(); {
	case v.Step > 0:
		r.stepDenied(v)
	case plan == nil:
		c.follows(false, PlanAccepted)
	default:
		r.ofPlan(c, v, plan)
	}
	return r.fold()
}

// askedOf is the plan that the rules are asked about as a whole: once the run goes
// back, the way back. Nil where there is none.
func (r *replayer) askedOf() *accepted {
	if r.back != nil {
		return r.back
	}
	return r.plan
}

// ofPlan derives what the rules look at of a plan, and on which steps they have
// a say. That a way back is denied ends no round.
func (r *replayer) ofPlan(c *check, v Ruled, plan *accepted) {
	if plan == r.plan {
		r.ruled = &v
	}
	if why, of, no := v.Denial(); no && plan == r.plan {
		f := &failure{kind: "policy", reason: "the plan is denied by " + why}
		if of != nil {
			f.action = of.Facts.Ground
		}
		f.key = policy.NewFailureKey(f.kind, f.action)
		r.cause = f
	}
	if len(plan.ground) != len(plan.event.Steps) || !r.sighted() || r.Other || v.HistoryMore > 0 {
		return
	}
	want := r.ruler(v, plan).Plan(r.p.state, plan.ground)
	c.same("facts of the plan", v.Facts.Plan, want.Facts.Plan)
	c.same("steps that rules apply to", len(v.Steps)+v.More, len(want.Steps))
	for i, s := range v.Steps[:min(len(v.Steps), len(want.Steps))] {
		c.same("facts of "+s.Facts.Ground, s.Facts, want.Steps[i].Facts)
	}
}

// otherRules asks the rules of another model about a plan on which the run's own
// model had none to ask, before its first action.
func (r *replayer) otherRules(c *check) {
	if !r.Other || r.ruled != nil || r.plan == nil || len(r.m.Policy.Rules) == 0 || len(r.plan.ground) != len(r.plan.event.Steps) || r.done > 0 {
		return
	}
	facts := policy.Facts{Now: r.now.Time}
	ruled := r.ruler(Ruled{Facts: facts}, r.plan).Plan(r.p.state, r.plan.ground)
	r.ruled = &ruled
	const none = "no rule was asked about the plan"
	if why, _, no := ruled.Denial(); no {
		c.same("rules", none, "the plan is denied by "+why)
	} else if asks := ruled.Asks(); len(asks) > 0 {
		c.same("rules", none, "a person is asked about the plan: "+joined(asks))
	}
}

// ruler asks the rules as of the moment that they were asked. Which actions are
// fenced, and how long a lease lasts, the plan tells.
func (r *replayer) ruler(v Ruled, plan *accepted) *Ruler {
	unfenced, safe := map[string]bool{}, time.Duration(0)
	protected := false
	for i, s := range plan.event.Steps {
		a := plan.ground[i].Action
		unfenced[a.Name] = s.Unfenced
		if s.Unfenced && !s.Unprotected {
			safe, protected = max(safe, r.m.Settings[a].Timeout), true
		}
	}
	if !protected && !slices.ContainsFunc(plan.event.Steps, func(s PlannedStep) bool { return s.Unprotected }) {
		safe = 1 << 62
	}
	return &Ruler{
		Policy: r.m.Policy, Universe: r.p.u, Settings: r.m.Settings, Fenced: func(a *model.Action) bool { return !unfenced[a.Name] }, Safe: safe,
		Goal: r.out.Goal, Trigger: v.Facts.Trigger, Now: v.Facts.Now, History: v.Facts.History,
	}
}

// why derives because of what a person is asked about the plan.
func (r *replayer) why() []string {
	var out []string
	if r.ruled != nil {
		out = append(out, r.ruled.Asks()...)
	}
	if r.m.Policy.PauseBeforePlan() {
		out = append(out, `pause_before = ["plan"]`)
	}
	if names := unprotected(r.plan.event); len(names) > 0 {
		out = append(out, unprotectedAsks+strings.Join(names, ", "))
	}
	out = append(out, wayAsks(r.plan.event, r.ruled, r.m.Policy.OnStop == policy.Restore && r.m.Policy.Mode != policy.Suggest)...)
	allowed := r.ruled != nil && r.ruled.More == 0 && r.ruled.Allows(len(r.plan.event.Steps))
	if r.m.Policy.Mode == policy.Approve && (len(out) > 0 || !allowed) {
		out = append(out, modeAsks)
	}
	return out
}

// granted tells whether the plan may be carried out as far as people are
// concerned: they said yes to it, or need not be asked.
func (r *replayer) granted() bool {
	return r.plan == nil || r.yes[r.plan.event.PlanHash] || len(r.why()) == 0
}

// posed derives what a person is asked about, and because of what.
func (r *replayer) posed(v Asked) error {
	c := r.decision("question to a person", "what a person was asked about")
	if plan := r.asksAbout(v.PlanHash); plan == nil {
		c.follows(false, PlanAccepted)
	} else if plan == r.plan && v.Step == 0 && (r.ruled == nil || r.ruled.More == 0) {
		c.same("why", v.Why, r.why())
	}
	c.same("round", v.Round, r.p.round)
	return r.fold()
}

// asksAbout is the plan of a hash that is asked about now, nil where it is another.
func (r *replayer) asksAbout(hash string) *accepted {
	for _, a := range []*accepted{r.back, r.plan} {
		if a != nil && a.event.PlanHash == hash {
			return a
		}
	}
	return nil
}

// answered takes a person's answer as it was given, to a plan of the run.
func (r *replayer) answered(v Approved) error {
	r.taken("answers of people")
	c := r.decision("answer to a question", "which plan a person's answer is for")
	c.same("round", v.Round, r.p.round)
	if v.Answer == AnswerVoid { // It may be of a round before; the plan is asked about anew.
		if r.m.Policy.ApprovalCovers == nil {
			delete(r.yes, v.PlanHash)
		}
		return r.fold()
	}
	if !v.Edited {
		c.follows(r.inside || r.back != nil || r.again, RoundStarted)
		c.follows(r.hashes[v.PlanHash] || r.asksAbout(v.PlanHash) != nil, PlanAccepted+" of this hash")
	}
	if v.Answer == AnswerCovered {
		c.follows(r.yes[v.Covers], Approval+" that covers it")
	}
	if r.back == nil {
		r.answer = v.Answer
		if v.Answer == AnswerNo && v.Feedback != "" {
			r.answer, r.cause = "", &failure{kind: RejectedKind}
		}
	}
	if (v.Answer == AnswerYes || v.Answer == AnswerCovered) && v.Step == 0 {
		r.yes[v.PlanHash] = true
	}
	return r.fold()
}
