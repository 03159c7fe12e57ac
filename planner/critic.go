package planner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

// Critic is a second reader of plans that the validator accepted. It can only
// make the outcome stricter. An error means that it could not be asked.
type Critic interface {
	Name() string
	Review(context.Context, Review) (Opinion, error)
}

// Review is what a critic sees: the task and the plan, and nothing of how the
// plan came about.
type Review struct {
	Problem validator.Problem
	Goal    string // the objective in one sentence
	Steps   []model.Step
	Budget  Budget
}

// Opinion is what a critic says of a plan.
type Opinion struct {
	Accept  bool
	Changes []Change // required before it accepts
	Usage   Usage
}

// Change is what a critic requires of one step.
type Change struct {
	Step int    `json:"step"` // from 1
	Text string `json:"text"`
}

// Objected is the kind of an attempt that the validator accepted and a critic
// did not.
const Objected validator.Kind = "critic"

// review has the critics read a plan that passed. What they require makes the
// attempt fail, except where they were heard as often as the limits say or
// require the same again: then it stays as a remark for whoever approves.
func (r *round) review(ctx context.Context, a *Attempt) {
	if len(r.critics) == 0 || r.limits.CriticRounds == 0 {
		return
	}
	if r.reviews >= r.limits.CriticRounds {
		a.Remarks = append(a.Remarks, fmt.Sprintf("not read by a critic: critic_rounds = %d used", r.limits.CriticRounds))
		return
	}
	r.reviews++
	var required []string
	for _, c := range r.critics {
		op, err := c.Review(ctx, Review{Problem: r.problem, Goal: r.goal, Steps: slices.Clone(a.Steps), Budget: r.budget})
		a.Usage = a.Usage.Add(op.Usage)
		switch {
		case err != nil:
			a.Remarks = append(a.Remarks, "not read by "+c.Name()+": "+reason(err))
		case !op.Accept:
			for _, ch := range op.Changes {
				required = append(required, fmt.Sprintf("step %d: %s", ch.Step, ch.Text))
			}
		}
	}
	slices.Sort(required)
	required = slices.Compact(required)
	switch {
	case len(required) == 0:
	case slices.Equal(required, r.required):
		a.Remarks = append(a.Remarks, required...)
	default:
		r.required = required
		spare := *a
		spare.Remarks = append(slices.Clone(a.Remarks), required...)
		r.spare = &spare
		a.failed(Objected, "a critic requires: "+strings.Join(required, "; "))
	}
}

func reason(err error) string {
	var stopped *StopError
	if errors.As(err, &stopped) {
		return stopped.Error()
	}
	return err.Error()
}
