package executor

import (
	"context"
	"errors"
	"fmt"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/validator"
)

// The names under which plans that people decided on stand among the planners.
const (
	approvedPlan = "approved plan"
	editedPlan   = "edited plan"
)

// chosen follows what a person answered while nobody drove the run, or in place
// of an answer to its own plan. A plan that was approved is carried out as it
// is, without planning anew, if it is still valid from what is observed; where
// the run had begun with it, what is left of it is. Nil, with the round open:
// there is none, and it is planned.
func (r *run) chosen(ctx context.Context) (*accepted, *Ended, error) {
	rep := r.answered
	r.answered = nil
	begun := r.begun
	r.begun = begunPlan{}
	if rep == nil {
		a, ok := r.approved[begun.hash]
		if !ok || !r.approvalGood(a) {
			return nil, nil, nil
		}
		p, why, err := r.rest(ctx, a, begun)
		if p == nil && err == nil && r.cut(ctx, "planning") == nil {
			err = r.void(ctx, a, why)
		}
		return p, nil, err
	}
	if !rep.yes() {
		if err := r.tell(ctx, rep.event(r.round)); err != nil {
			return nil, nil, err
		}
		end, err := r.turnDown(ctx, r.whatOf(*rep), *rep)
		return nil, end, err
	}
	p, err := r.carryOut(ctx, *rep, begun)
	return p, nil, err
}

func (r *run) whatOf(rep Reply) string {
	q := Question{Plan: r.plans[rep.PlanHash]}
	if n := rep.Step; n > 0 && n <= len(q.Plan.Steps) {
		q.Step = &q.Plan.Steps[n-1]
	}
	return q.what()
}

// carryOut takes up the plan, or the step, that was approved.
func (r *run) carryOut(ctx context.Context, rep Reply, begun begunPlan) (*accepted, error) {
	a := r.approvalOf(rep)
	if !r.approvalGood(a) {
		ev := rep.event(r.round)
		ev.Answer = AnswerExpired
		return nil, r.tell(ctx, ev)
	}
	if begun.hash != rep.PlanHash {
		begun = begunPlan{hash: rep.PlanHash}
	}
	var p *accepted
	var dropped int
	var why string
	var err error
	if len(rep.Plan) > 0 {
		p, why, err = r.proposed(ctx, editedPlan, rep.Plan)
	} else {
		p, dropped, why, err = r.remains(ctx, begun)
	}
	if err != nil {
		return nil, err
	}
	ev := rep.event(r.round)
	if p == nil {
		if r.cut(ctx, "planning") != nil { // The answer is followed when the run is gone on with.
			return nil, nil
		}
		dropped, err := r.drop(ctx, a)
		if err != nil {
			return nil, err
		}
		if !dropped {
			return nil, r.replaced(ctx, a)
		}
		if err := r.tell(ctx, ev); err != nil {
			return nil, err
		}
		ev.Answer, ev.Reason, ev.Feedback = AnswerVoid, why, ""
		r.voided(ev)
		return nil, r.tell(ctx, ev)
	}
	return p, r.take(ctx, p, rep, a, dropped)
}

// take notes what the yes is for, of the plan that is left.
func (r *run) take(ctx context.Context, p *accepted, rep Reply, a approval, dropped int) error {
	if err := r.tell(ctx, rep.event(r.round)); err != nil {
		return err
	}
	if rep.Step > 0 {
		r.granted = &grantedStep{hash: p.event.PlanHash, step: rep.Step - dropped, approval: a}
		a = r.approved[rep.PlanHash]
	}
	return r.restApproved(ctx, p, a)
}

// restApproved notes that what is left of an approved plan is approved by that.
func (r *run) restApproved(ctx context.Context, p *accepted, a approval) error {
	hash := p.event.PlanHash
	if a.id == "" || a.hash == hash {
		return nil
	}
	r.approved[hash] = a
	return r.tell(ctx, r.coveredBy(a, hash, "the rest of the approved plan"))
}

// rest takes up what is left of a plan that was approved before the run was
// gone on with.
func (r *run) rest(ctx context.Context, a approval, begun begunPlan) (*accepted, string, error) {
	p, _, why, err := r.remains(ctx, begun)
	if p == nil || err != nil {
		return nil, why, err
	}
	return p, "", r.restApproved(ctx, p, a)
}

// remains proposes what is left of a plan: without the steps that the run has
// carried out, and those behind them whose effects hold already where the rest
// is not valid with them. It returns how many steps were left out, and without a
// plan why there is none.
func (r *run) remains(ctx context.Context, begun begunPlan) (*accepted, int, string, error) {
	plan, ok := r.plans[begun.hash]
	if !ok {
		return nil, 0, "the journal does not have it", nil
	}
	var texts []string
	for _, s := range plan.Steps {
		texts = append(texts, s.Action)
	}
	steps, err := r.parseSteps(texts)
	if err != nil {
		return nil, 0, err.Error(), nil
	}
	from := min(begun.done, len(steps))
	for from < len(steps) && !validator.Validate(r.problem(), stepSeq(steps[from:])).Valid {
		g, fault := r.u.Bind(steps[from], nil)
		if fault != nil || !r.holdsAlready(g) {
			break
		}
		from++
	}
	if from == len(steps) { // It did not reach the goal.
		return nil, 0, "all its steps were carried out", nil
	}
	p, why, err := r.proposed(ctx, approvedPlan, texts[from:])
	return p, from, why, err
}

func (r *run) parseSteps(texts []string) ([]model.Step, error) {
	var out []model.Step
	for _, text := range texts {
		name, args, err := model.ParseAtom(text)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be read: %w", text, err)
		}
		out = append(out, model.Step{Action: name, Args: args})
	}
	return out, nil
}

// proposed holds a plan that a person decided on against what is observed, like
// any other proposal. Nil: it is not valid, and why.
func (r *run) proposed(ctx context.Context, name string, texts []string) (*accepted, string, error) {
	steps, err := r.parseSteps(texts)
	if err != nil {
		return nil, err.Error(), nil
	}
	limits := r.limits()
	limits.MaxAttempts = 1
	limits.MaxRepeats = 0 // It was not planned again.
	pctx, cancel := r.bounded(ctx)
	defer cancel()
	var broken error
	res, err := planner.Round(pctx, r.problem(), []planner.Proposer{planner.NewFile(name, stepSeq(steps))}, limits, planner.Unlimited{}, r.tried,
		func(a planner.Attempt) error {
			r.progress.Attempted()
			broken = r.emit(ctx, AttemptMade, r.attempted(a))
			return broken
		})
	switch {
	case broken != nil:
		return nil, "", broken
	case err != nil && pctx.Err() == nil:
		return nil, "", fmt.Errorf("take up the %s: %w", name, err)
	case errors.Is(pctx.Err(), context.Canceled), errors.Is(pctx.Err(), context.DeadlineExceeded), res.Status != planner.Valid:
		return nil, res.Reason, nil
	}
	a, err := r.accept(res)
	if err != nil {
		return nil, "", err
	}
	return a, "", r.emit(ctx, PlanAccepted, a.event)
}

// nothingElse ends a run whose planners propose nothing but what was rejected.
func (r *run) nothingElse() *Ended {
	return &Ended{
		Status: Escalated, Reason: "rejected", Message: "the planners propose nothing but plans that were rejected; " +
			"another can be given with `fettle run --plan`",
	}
}

// sanctioned plans and asks until there is a plan that may be carried out. Nil
// without an end means that the round is over.
func (r *run) sanctioned(ctx context.Context) (*accepted, *Ended, error) {
	for {
		p, end, err := r.chosen(ctx)
		if p == nil && end == nil && err == nil && r.open {
			if r.answered != nil { // Meanwhile.
				continue
			}
			r.stuck = len(r.rejected) > 0
			if p, end, err = r.plan(ctx); p == nil && end == nil && err == nil && r.stuck {
				end = r.nothingElse()
			}
		}
		if p == nil || end != nil || err != nil {
			return nil, end, err
		}
		switch end, err = r.approve(ctx, p); {
		case end != nil || err != nil || !r.open:
			return nil, end, err
		case r.answered == nil:
			return p, nil, nil
		}
	}
}
