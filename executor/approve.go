package executor

import (
	"context"
	"fmt"
	"slices"

	"github.com/fettleops/fettle/policy"
)

// approve obtains the approval that the policy's mode asks for. An approval
// binds to the model, the goal and the plan: it stays good for as long as that
// very plan validates, and no other plan has it.
func (r *run) approve(ctx context.Context, p *accepted) (*Ended, error) {
	r.approval = nil
	switch r.Policy.Mode {
	case policy.Suggest:
		return &Ended{
			Status: Escalated, Reason: "denied", Message: `the policy's mode is "suggest": a plan is proposed, nothing is carried out`,
		}, nil
	case policy.Auto:
		if !unprotected(p.event) {
			return nil, nil
		}
	}
	given, ok := r.approved[p.event.PlanHash]
	if !ok || !r.approvalGood(given) {
		if end, err := r.ask(ctx, Question{Plan: p.event}); end != nil || err != nil {
			return end, err
		}
		given = r.approved[p.event.PlanHash]
	}
	r.approval = &given
	return nil, nil
}

// unprotected tells whether a step of the plan may act late without anything to
// stop it, which is asked about in every mode.
func unprotected(p Plan) bool {
	return slices.ContainsFunc(p.Steps, func(s PlannedStep) bool { return s.Unprotected })
}

// approvalWanted is the reason of a run that waits for an approval.
const approvalWanted = "approval"

// ask puts a question to a person and records the answer.
func (r *run) ask(ctx context.Context, q Question) (*Ended, error) {
	var a Answer
	if r.Ask != nil {
		actx, cancel := r.bounded(ctx)
		var err error
		a, err = r.Ask(actx, q)
		cancel()
		if end := r.cut(ctx, "a person was asked"); end != nil {
			return end, nil
		}
		if err != nil {
			return nil, fmt.Errorf("ask for approval: %w", err)
		}
	}
	ev := Approved{Round: r.round, By: a.By, Answer: "no", PlanHash: q.Plan.PlanHash, Feedback: a.Feedback}
	what := "the plan"
	if q.Step != nil {
		ev.Step = q.Step.Step
		what = fmt.Sprintf("step %d, %s", q.Step.Step, q.Step.Action)
	}
	switch {
	case !a.Asked:
		ev.Answer = "none"
	case a.Yes:
		ev.Answer = "yes"
		if q.Step == nil {
			if err := r.grant(ctx, q.Plan.PlanHash, a.By); err != nil {
				return nil, err
			}
		}
	}
	if err := r.emit(ctx, Approval, ev); err != nil {
		return nil, err
	}
	switch ev.Answer {
	case "none":
		return &Ended{
			Status: WaitingStatus, Reason: approvalWanted,
			Message: fmt.Sprintf("%s needs a person's approval, and there is no terminal to ask on; "+
				"fettle resume goes on with it, on a terminal or with --approve", what),
		}, nil
	case "no":
		return &Ended{Status: Escalated, Reason: "rejected", Message: what + " was not approved"}, nil
	}
	if q.Step == nil {
		r.progress.Learned(policy.Evidence{Kind: policy.PersonDecided, What: "the plan was approved"})
	}
	return nil, nil
}
