package executor

import (
	"context"
	"fmt"
	"strings"

	"github.com/fettleops/fettle/policy"
)

// approve obtains the approval that the policy asks for. An approval binds to
// the model, the goal and the plan, for the round in which it is given: no other
// plan has it, nor the same one planned anew, unless the policy says within which
// bounds, nor that plan once there is another reason to ask.
// Where a person wants another plan the round is over, or it is asked for again.
func (r *run) approve(ctx context.Context, p *accepted) (*Ended, error) {
	r.approval, r.stepYes = nil, nil
	if r.Policy.Mode == policy.Suggest {
		return &Ended{
			Status: Escalated, Reason: "denied", Message: `the policy's mode is "suggest": a plan is proposed, nothing is carried out`,
		}, nil
	}
	if end, err := r.ruleOn(ctx, p); end != nil || err != nil || !r.open {
		return end, err
	}
	why := r.whyAsk(p)
	if len(why) == 0 {
		r.plans[p.event.PlanHash] = p.event
		return nil, r.unask(ctx)
	}
	given, err := r.approvedBefore(ctx, p.event.PlanHash)
	if r.answered != nil {
		return nil, err
	}
	if given != nil && !r.suffices(*given, p) {
		given = nil
	}
	if err == nil && given == nil {
		given, err = r.covered(ctx, p)
	}
	r.plans[p.event.PlanHash] = p.event
	switch {
	case err != nil:
		return nil, err
	case given != nil:
		r.approval = given
		return nil, r.unask(ctx)
	}
	end, err := r.ask(ctx, Question{Plan: p.event, Why: why})
	if end != nil || err != nil || !r.open || r.answered != nil {
		return end, err
	}
	a := r.approved[p.event.PlanHash]
	r.approval = &a
	return nil, nil
}

// modeAsks is why every plan is asked about in the mode approve.
const modeAsks = `mode = "approve"`

// pausesAtPlan is why every plan is asked about where the policy pauses before them.
const pausesAtPlan = `pause_before = ["plan"]`

// whyAsk tells because of what a person is asked about the plan, the mode last;
// nothing where it may be carried out as it is.
func (r *run) whyAsk(p *accepted) []string {
	why := r.ownReasons(p)
	if r.Policy.Mode == policy.Approve && (len(why) > 0 || !p.allowed) {
		why = append(why, modeAsks)
	}
	return why
}

// ownReasons is what the plan itself is asked about because of: what rules say, and
// steps that may act late without anything to stop them, in every mode.
func (r *run) ownReasons(p *accepted) []string {
	why := append([]string(nil), p.asks...)
	if names := unprotected(p.event); len(names) > 0 {
		why = append(why, unprotectedAsks+strings.Join(names, ", "))
	}
	return append(why, r.wayAsks(p)...)
}

// unprotected names the steps of a plan that may act late, once each.
func unprotected(p Plan) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range p.Steps {
		if s.Unprotected && !seen[s.Action] {
			seen[s.Action] = true
			out = append(out, s.Action)
		}
	}
	return out
}

// approvedBefore finds the yes that a person gave to the plan already, nil where
// there is none that is good.
func (r *run) approvedBefore(ctx context.Context, planHash string) (*approval, error) {
	id := approvalID(r.Journal.ID(), planHash)
	if a, ok := r.approved[planHash]; ok {
		id = a.id
	}
	rep, err := r.replyAt(ctx, id)
	if err != nil {
		return nil, err
	}
	delete(r.approved, planHash)
	switch {
	case rep == nil:
		return nil, nil
	case !rep.yes():
		if r.untold(*rep) { // Taken back since.
			r.answered = rep
		}
		return nil, nil
	}
	a := r.approvalOf(*rep)
	if !r.approvalGood(a) {
		return nil, nil
	}
	r.approved[planHash] = a
	if r.untold(*rep) { // It was given before it was asked for.
		return &a, r.tell(ctx, rep.event(r.round))
	}
	return &a, nil
}

// approvalWanted is the reason of a run that waits for an approval.
const approvalWanted = "approval"

// ask puts a question to a person, wherever that person answers, and follows the
// answer. Afterwards the round may be over, or another plan to be carried out
// (r.answered).
func (r *run) ask(ctx context.Context, q Question) (*Ended, error) {
	q.Restore = r.back != nil
	if q.Step != nil {
		r.stepYes = nil
		if r.confirmed(q) {
			return nil, nil
		}
	}
	rep, end, err := r.obtain(ctx, q)
	switch {
	case end != nil || err != nil:
		return end, err
	case rep == nil:
		ev := Approved{Round: r.round, Answer: AnswerNone, PlanHash: q.Plan.PlanHash, Step: q.step()}
		return &Ended{
			Status: WaitingStatus, Reason: approvalWanted,
			Message: fmt.Sprintf("%s needs a person's approval: `fettle approve %s` or `fettle reject %s`, then `fettle resume %s`",
				q.what(), r.Journal.ID(), r.Journal.ID(), r.Journal.ID()),
		}, r.tell(ctx, ev)
	case rep.yes() && rep.PlanHash != q.Plan.PlanHash:
		r.answered = rep
		return nil, nil
	}
	return r.follow(ctx, q, *rep)
}

// confirmed tells whether a person said yes to the step while the run waited.
func (r *run) confirmed(q Question) bool {
	g := r.granted
	r.granted = nil
	if g == nil || g.hash != q.Plan.PlanHash || g.step != q.Step.Step || !r.approvalGood(g.approval) || r.unheard(q.Why, g.why) {
		return false
	}
	r.stepYes = &g.approval
	return true
}

// follow does what a person answered to the question.
func (r *run) follow(ctx context.Context, q Question, rep Reply) (*Ended, error) {
	if err := r.tell(ctx, rep.event(r.round)); err != nil {
		return nil, err
	}
	if !rep.yes() {
		return r.turnDown(ctx, q.what(), rep)
	}
	a := r.approvalOf(rep)
	if q.Step != nil {
		r.stepYes = &a
		return nil, nil
	}
	r.approved[rep.PlanHash] = a
	return nil, nil
}

// turnDown ends the run, or where the person said what to do otherwise the round.
func (r *run) turnDown(ctx context.Context, what string, rep Reply) (*Ended, error) {
	if rep.Feedback == "" {
		return rep.end(what), nil
	}
	r.rejected[rep.PlanHash] = rep
	return r.endRound(ctx, rep.failure(what), 0)
}

// tell records an answer, and what it teaches.
func (r *run) tell(ctx context.Context, ev Approved) error {
	if err := r.emit(ctx, Approval, ev); err != nil {
		return err
	}
	if ev.Answer == AnswerYes || ev.Answer == AnswerNo {
		r.recalled[ev.told()] = ev.Round
		r.progress.Learned(policy.Evidence{Kind: policy.PersonDecided, What: decidedWhat(ev)})
	}
	return nil
}

// RejectedKind is the kind of a round that ended because a person wants another plan.
const RejectedKind = "rejected"

func (rep Reply) failure(what string) *failure {
	hash := rep.PlanHash[:min(len(rep.PlanHash), shortHash)]
	return &failure{
		kind: RejectedKind, key: policy.NewFailureKey(RejectedKind, hash),
		reason: fmt.Sprintf("%s was rejected by %s: %s", what, rep.By, rep.Feedback),
	}
}

// shortHash is how much of a plan's hash is shown to people.
const shortHash = 12

func (rep Reply) end(what string) *Ended {
	return &Ended{Status: Escalated, Reason: "rejected", Message: what + " was not approved"}
}

// step is the number of the step that is asked about, 0 for the plan.
func (q Question) step() int {
	if q.Step == nil {
		return 0
	}
	return q.Step.Step
}

func (q Question) what() string {
	switch {
	case q.Step == nil && q.Restore:
		return "going back"
	case q.Step == nil:
		return "the plan"
	}
	return fmt.Sprintf("step %d, %s", q.Step.Step, q.Step.Action)
}
