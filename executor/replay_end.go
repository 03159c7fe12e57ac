package executor

import (
	"slices"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/policy"
	"github.com/fettleops/fettle/validator"
)

// roundStarted derives that another round could begin.
func (r *replayer) roundStarted(v Round) error {
	c := r.decision("round begun", "that round %d could begin", v.Round)
	c.follows(r.looked, Observed)
	c.follows(!r.holds, RunEnded+", for the goal holds")
	want := r.p.round + 1
	if v.Again {
		want = r.p.round
		c.follows(r.again, RunResumed)
	} else {
		r.use(c, policy.PointRound)
	}
	c.same("round", v.Round, want)
	if !r.Other {
		c.same("of", v.Of, r.m.Policy.MaxRounds)
	}
	r.turn = turn{inside: true}
	return r.fold()
}

// roundEnded derives why a round ended.
func (r *replayer) roundEnded(v RoundEnd) error {
	r.leaves()
	c := r.decision("end of a round", "why round %d ended", v.Round)
	c.follows(r.inside, RoundStarted)
	c.follows(r.armed == nil || v.Infra, "the outcome of the action that was armed")
	c.same("round", v.Round, r.p.round)
	if r.plan != nil && v.Kind != "lease" {
		c.same("steps", v.Steps, r.acted)
	}
	switch {
	case r.plan == nil && r.cause == nil:
		r.planless(c, v)
	case v.Key == policy.NewFailureKey(LeaseLost, ""): // This process, or etcd, stood still.
	case r.cause != nil:
		c.same("kind", v.Kind, r.cause.kind)
		if r.cause.key != "" {
			c.same("action", v.Action, r.cause.action)
			c.same("failure_key", v.Key, r.cause.key)
		}
		if r.words && r.cause.reason != "" {
			c.same("reason", v.Reason, r.cause.reason)
		}
	case !v.Infra:
		c.follows(false, "a step that was refused or failed")
	}
	r.inside, r.last, r.cause, r.armed, r.held, r.proof = false, &failure{kind: v.Kind, infra: v.Infra}, nil, nil, "", false
	return r.fold()
}

// planless derives why a round ended in which no plan was accepted.
func (r *replayer) planless(c *check, v RoundEnd) {
	c.follows(v.Infra || len(r.passed) == 0, PlanAccepted)
	switch {
	case v.Infra:
	case r.proof: // Others are at work, or the world has changed meanwhile.
		r.taken("whether others are at work")
	case r.asked[string(planner.Repeat)] > 0:
		c.same("kind", v.Kind, repeated)
	default:
		c.same("kind", v.Kind, string(planner.NoPlan))
	}
}

// runEnded derives how the run ended.
func (r *replayer) runEnded(v Ended) error {
	c := r.decision("end of the run", "how the run ended")
	r.out.Whole = true
	c.same("rounds", v.Rounds, r.p.round)
	c.same("actions", v.Actions, r.begun())
	if cents(v.Cost) < cents(r.cost) || r.exact && r.plan != nil && cents(v.Cost) != cents(r.cost) {
		c.same("cost_usd", cents(v.Cost), cents(r.cost))
	}
	if fromOutside(v) {
		r.taken("ends from outside: cancelled, cut off, or at the deadline")
	} else {
		r.ending(c, v)
	}
	switch {
	case v.LastSeen != nil:
		r.lastSeen(c, v)
	case r.sighted() && !r.behind:
		r.evidenced(c, v)
	}
	return r.fold()
}

// begun counts the actions that were begun, one under way too.
func (r *replayer) begun() int {
	if r.p.armed != "" {
		return r.p.actions + 1
	}
	return r.p.actions
}

// fromOutside tells whether a run may end so at any moment.
func fromOutside(v Ended) bool {
	return v.Status == Cancelled || v.Reason == LeaseLost || v.Status == FailedStatus && v.Reason == policy.Errors ||
		v.Status == Escalated && v.Reason == policy.Deadline || v.Status == WaitingStatus && v.Reason == policy.Busy
}

// ending derives the status and the reason of the end.
func (r *replayer) ending(c *check, v Ended) {
	c.follows(r.cause == nil && r.armed == nil, RoundEnded)
	c.follows(v.Status != Succeeded || r.looked, Observed)
	ruledOut := r.inside && r.plan == nil && r.asked[string(validator.Policy)] > 0
	if (r.proof || ruledOut) && slices.Contains(proofs, v.Reason) { // Which of them it is the planner or the rules said.
		r.proof, r.proved = true, v.Reason
		r.closed(v)
	}
	if r.shut != nil && r.shut.opens && !r.sighted() {
		r.worse = v.Status == Escalated
	}
	status, reason := r.status()
	c.same("status", v.Status, status)
	c.same("reason", v.Reason, reason)
	if r.words && r.stop != nil && r.stop.Reason != policy.Paused {
		c.same("message", timeless([]string{v.Message}), timeless([]string{joined(r.stop.Reasons)}))
	}
}

// proofs are the reasons of a run whose goal was proved out of reach.
var proofs = []string{string(planner.Unsolvable), string(planner.Unobservable), policy.Denied, policy.Limited, Window}

// status is how the run ends from where it is; "" where nothing makes it end.
func (r *replayer) status() (status, reason string) {
	switch {
	case r.stop != nil:
		return endOf(r.stop)
	case r.shut != nil:
		return r.barred(*r.shut)
	case r.proof:
		return Escalated, r.proved
	case r.inside && r.plan != nil && r.m.Policy.Mode == policy.Suggest:
		return Escalated, policy.Denied
	case r.inside && (r.answer == AnswerNone || r.answer == AnswerExpired):
		return WaitingStatus, approvalWanted
	case r.answer == AnswerNo:
		return Escalated, "rejected"
	case r.last != nil && r.last.kind == "no_plan" && len(r.asked) == 1 && r.asked[string(planner.Rejected)] > 0:
		return Escalated, "rejected" // Nothing else was proposed.
	case r.last != nil && !r.last.infra && (r.last.kind == policy.Paused || r.last.kind == approvalWanted):
		return WaitingStatus, r.last.kind
	case r.last != nil && !r.last.infra && r.last.kind == "in_doubt":
		return Escalated, r.last.kind
	case r.looked && r.holds && r.rests() == "assumed":
		return Escalated, string(planner.Unobservable)
	case r.looked && r.holds:
		return Succeeded, ""
	}
	return "", ""
}

// endOf is how a run ends that the policy does not let go on.
func endOf(d *Decision) (status, reason string) {
	switch {
	case d.Answer == policy.Checkpoint:
		return WaitingStatus, d.Reason
	case d.Reason == policy.Errors:
		return FailedStatus, d.Reason
	}
	return Escalated, d.Reason
}

// rests tells how the least certain condition of the goal is verified.
func (r *replayer) rests() string {
	how := "observed"
	for _, e := range r.p.evidence() {
		if e.Verified == "assumed" {
			how = e.Verified
		}
	}
	return how
}

// evidenced derives the evidence of a run that succeeded, and what one that did
// not leaves undone.
func (r *replayer) evidenced(c *check, v Ended) {
	failures := r.p.Goal.Cond.Explain(r.p.state, r.p.GoalArgs)
	if v.Status != Succeeded {
		r.leftUndone(c, v, failures)
		return
	}
	c.same("that the goal holds", true, len(failures) == 0)
	want := r.p.evidence()
	more := 0
	for _, n := range v.EvidenceMore {
		more += n
	}
	c.same("conditions with evidence", len(v.Evidence)+more, len(want))
	for i, e := range v.Evidence[:min(len(v.Evidence), len(want))] {
		c.same("evidence", e.Condition, want[i].Condition)
		c.same("how "+e.Condition+" was verified", e.Verified, want[i].Verified)
		c.same("facts of "+e.Condition, valuesOf(e.Facts), valuesOf(want[i].Facts))
	}
}

// lastSeen derives what a run whose process had ended without a word leaves
// undone, as whoever cancelled it did.
func (r *replayer) lastSeen(c *check, v Ended) {
	if !r.sighted() {
		return
	}
	k, err := Known(r.events, r.body, func(string, string, *RecordedModel) (ReplayModel, error) { return r.m, nil })
	if err != nil {
		c.same("what is known of the world", "", err.Error())
		return
	}
	defer func(was *past) { r.p = was }(r.p)
	r.p = k.past
	r.leftUndone(c, v, k.past.Goal.Cond.Explain(k.past.state, k.past.GoalArgs))
}

// leftUndone derives the conditions that do not hold at the end.
func (r *replayer) leftUndone(c *check, v Ended, failures []model.Failure) {
	if len(v.Undone) > 0 {
		r.missing(c, "undone", v.Undone, failures)
		c.same("conditions undone", len(v.Undone)+v.UndoneMore, len(failures))
	}
}

// valuesOf lists facts by their values alone.
func valuesOf(facts []Fact) []string {
	var out []string
	for _, f := range facts {
		out = append(out, f.Fluent+" = "+told(f.Value))
	}
	slices.Sort(out)
	return out
}

// ruledStep is the step that a critique of rules is about; many where it is the whole plan.
func ruledStep(critique string) int {
	const many = 1 << 30
	m := stepNumbers.FindStringSubmatch(critique)
	if m == nil {
		return many
	}
	n := 0
	for _, d := range m[2] {
		n = n*10 + int(d-'0')
	}
	return n
}
