package executor

import (
	"math"
	"regexp"

	"github.com/fettleops/fettle/policy"
)

// decided derives an answer of the policy: from the progress that it was asked
// about, and that progress from the events before it.
func (r *replayer) decided(v Decision) error {
	c := r.decision("answer of the policy", "the policy's answer %s", points[v.Point])
	r.p.roundOver()
	r.p.deciding(v)
	r.inTurn(c, v)
	r.progressed(c, v)
	want := r.m.Policy.Decide(v.Point, v.Progress)
	c.answer(v.Decision, want)
	c.same("next_planner", v.NextPlanner, want.NextPlanner)
	if v.Point == policy.PointAction {
		r.otherRules(c)
	}
	if r.words {
		c.same("reasons", timeless(v.Reasons), timeless(want.Reasons))
	}
	r.p.went(v)
	r.allow(v)
	return nil
}

// answer holds an answer of the policy to the derived one, and tells both with
// their reasons where they differ.
func (c *check) answer(recorded, derived policy.Decision) {
	if recorded.Answer == derived.Answer && recorded.Reason == derived.Reason {
		return
	}
	part := "answer"
	if recorded.Answer == derived.Answer {
		part = "reason"
	}
	spell := func(d policy.Decision) string {
		out := string(d.Answer)
		if d.Reason != "" {
			out += " (" + d.Reason + ")"
		}
		return out + ": " + joined(d.Reasons)
	}
	c.same(part, spell(recorded), spell(derived))
}

// points says for people when the policy is asked.
var points = map[policy.Point]string{
	policy.PointRound: "before a round", policy.PointAttempt: "before a proposal", policy.PointCall: "before a call of a language model",
	policy.PointAction: "before an action", policy.PointRetry: "before a retry",
}

// inTurn holds the moment of the question to where the run is.
func (r *replayer) inTurn(c *check, v Decision) {
	c.follows(r.armed == nil, "the outcome of the action that was armed")
	c.follows(r.stop == nil, "the end of the run, which the policy stopped")
	c.follows(r.cause == nil || v.Point == policy.PointAttempt || v.Point == policy.PointCall, RoundEnded)
	switch v.Point {
	case policy.PointRound:
		c.follows(!r.inside || r.plan != nil && r.done == len(r.plan.steps), RoundEnded)
		c.follows(r.looked, Observed)
		c.follows(!r.holds, RunEnded+", for the goal holds")
	case policy.PointAction:
		c.follows(r.plan != nil && r.done < len(r.plan.steps), PlanAccepted)
		c.follows(r.granted(), Approval+" of the plan")
	case policy.PointAttempt, policy.PointCall:
		c.follows(r.inside && r.plan == nil, RoundStarted)
	}
}

// progressed derives how far the run had come.
func (r *replayer) progressed(c *check, v Decision) {
	got, want := v.Progress, r.p.progress.Progress(v.Progress.Now)
	if r.since.IsZero() { // The first decision of a process tells.
		r.since, r.planners = got.Started, got.Planners
	}
	if r.Other {
		return
	}
	c.same("progress.started", got.Started, r.since)
	c.same("round", v.Round, r.p.round)
	c.same("progress.round", got.Round, want.Round)
	c.same("progress.attempts", got.Attempts, want.Attempts)
	c.same("progress.actions", got.Actions, want.Actions)
	c.same("progress.errors", got.Errors, want.Errors)
	c.same("progress.repeats", got.Repeats, want.Repeats)
	c.same("progress.planners", got.Planners, r.planners)
	c.same("progress.failure", got.Failure, want.Failure)
	c.same("progress.same_failure", got.SameFailure, want.SameFailure)
	if r.blind == "" {
		c.same("progress.rounds_no_evidence", got.RoundsNoEvidence, want.RoundsNoEvidence)
	}
	r.used(c, v)
}

// used derives what calls of language models have used. What a call under way
// has used is told only by the attempt that it is for, and what one used whose
// process ended never is: then it is at least so much.
func (r *replayer) used(c *check, v Decision) {
	got := v.Progress
	if r.exact && v.Point != policy.PointCall {
		c.same("progress.calls", got.Calls, r.calls)
		c.same("progress.tokens", got.Tokens, r.tokens)
		c.same("progress.cost", cents(got.Cost), cents(r.cost))
		return
	}
	if got.Calls < r.calls {
		c.same("progress.calls", got.Calls, r.calls)
	}
	if cents(got.Cost) < cents(r.cost) {
		c.same("progress.cost", got.Cost, r.cost)
	}
	if v.Point != policy.PointCall {
		r.calls, r.tokens, r.cost, r.exact = got.Calls, got.Tokens, got.Cost, true
	}
}

// cents rounds money, which may have been added up in another order.
func cents(usd float64) float64 { return math.Round(usd*1e9) / 1e9 }

// allow notes what the answer allows.
func (r *replayer) allow(v Decision) {
	if v.Answer != policy.Continue {
		r.stop = &v
		r.behind = true // A look right before it may have seen what no event tells.
		return
	}
	if r.may == nil {
		r.may = map[policy.Point]bool{}
	}
	r.may[v.Point] = true
	if v.NextPlanner && r.planners > 1 {
		r.planners--
	}
	if v.Point == policy.PointRound {
		r.inside = false
	}
}

// use takes what the policy allowed, once.
func (r *replayer) use(c *check, p policy.Point) {
	c.follows(r.may[p], Decided+" "+points[p])
	delete(r.may, p)
}

// timeless leaves out of sentences how long it took, which two clocks tell: the
// journal has the one that may be set.
func timeless(sentences []string) []string {
	var out []string
	for _, s := range sentences {
		out = append(out, durations.ReplaceAllString(s, "…"))
	}
	return out
}

var durations = regexp.MustCompile(`\b(\d+(\.\d+)?(h|m|s|ms|µs|ns))+\b`)
