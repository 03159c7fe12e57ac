package executor

import (
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/policy"
	"github.com/fettleops/fettle/validator"
)

// severity derives how bad the state was at the start.
func (r *replayer) severity(v Baseline) error {
	c := r.decision("severity", "the severity of the start")
	c.follows(r.looked, Observed)
	if r.sighted() && r.p.Goal.Severity != nil {
		c.same("severity", v.Severity, r.p.severity(r.p.state).event())
		for _, a := range r.p.atoms(r.p.severityReads()) {
			text := r.p.u.Text(a)
			if said, ok := v.Facts[text]; ok {
				c.same("value of "+text, said, r.p.u.Plain(a.Fluent, r.p.state.Get(a)))
			} else if v.More == 0 {
				c.same("facts", "without "+text, text)
			}
		}
	}
	return r.fold()
}

// homeward is the problem of getting back to the severity of the start.
func (r *replayer) homeward() validator.Problem {
	p := r.p.homeward(r.part)
	p.Why = r.problem().Why
	return p
}

// knowsBack derives that, once the action is done, the severity is known to get
// back to that of the start as it is said to.
func (r *replayer) knowsBack(c *check, v Armed, d *model.Delta) {
	w := v.Way
	if w == nil || w.More > 0 || r.p.baseline == nil || r.Other {
		return
	}
	after := r.p.state.Clone()
	d.Commit(after)
	switch w.How {
	case ByUndo, BySearch:
		steps, ok := parsedSteps(w.Steps)
		if !ok {
			r.taken("ways back whose steps cannot be read back")
			return
		}
		c.same("the way back", "valid", validity(validator.Validate(r.p.backProblem(after), stepSeq(steps))))
	case NoneAtAll:
		c.follows(false, "a way back, or a person who approved that there is none")
	}
	c.same("severity_after", w.After, r.p.severity(after).value())
}

// goesBack derives that a way back leads to the severity of the start.
func (r *replayer) goesBack(v RestorePlan) error {
	c := r.decision("way back", "way back %d", v.Way)
	r.ways++
	c.follows(r.looked && r.armed == nil, Observed)
	c.same("way", v.Way, r.ways)
	a := &accepted{event: Plan{Steps: v.Steps, PlanHash: v.PlanHash}}
	r.back, r.done, r.may, r.part = a, 0, nil, v.How == ByPart
	r.hashes[v.PlanHash] = true
	var texts []string
	for _, s := range v.Steps {
		texts = append(texts, s.Action)
	}
	steps, ok := parsedSteps(texts)
	if a.steps = steps; !ok || r.p.baseline == nil || !r.sighted() {
		return r.fold()
	}
	c.same("the way back", "valid", validity(validator.Validate(r.homeward(), stepSeq(steps))))
	c.same("severity_now", v.Now, r.p.severity(r.p.state).value())
	if !r.Other {
		c.same("plan_hash", v.PlanHash, PlanHash(r.p.model, "back from "+r.p.GoalName, steps))
		most, within := r.m.Policy.GoingBack()
		c.same("max_actions", v.Actions, most)
		c.same("deadline_s", v.WithinS, within.Seconds())
	}
	if !c.over {
		r.effects(c, a)
	}
	return r.fold()
}

// mayGoBack derives the policy's answer before an action of a way back.
func (r *replayer) mayGoBack(v RestoreDecision) error {
	c := r.decision("answer of the policy", "the policy's answer before an action of a way back")
	c.follows(r.back != nil && r.armed == nil, RestorePlanned)
	c.same("progress.ways", v.Progress.Ways, r.ways)
	c.same("progress.actions", v.Progress.Actions, r.undone)
	want := r.m.Policy.DecideRestore(v.Progress)
	c.answer(v.Decision, want)
	if r.words {
		c.same("reasons", timeless(v.Reasons), timeless(want.Reasons))
	}
	if v.Answer == policy.Continue {
		r.may = map[policy.Point]bool{policy.PointRestore: true}
	}
	return r.fold()
}
