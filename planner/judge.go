package planner

import (
	"fmt"
	"iter"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

// judge validates a proposal and fills in the attempt.
func (r *round) judge(a *Attempt, p Proposal) {
	a.Proposal, a.Steps, a.Usage = p, p.Steps, p.Usage
	switch {
	case p.Verdict == GaveUp:
		a.failed(NoPlan, "no plan found: "+p.Reason)
	case p.Verdict != HasPlan && p.Proof:
		a.Outcome, a.Critique = NeedsPerson, p.Reason
	case p.Verdict == SaysUnsolvable || p.Verdict == SaysUnobservable || p.Verdict == SaysDenied:
		a.failed(NoPlan, fmt.Sprintf("the goal is said to be %s, without proof: %s", p.Verdict, p.Reason))
	case p.Verdict != HasPlan:
		a.failed(validator.Kind(p.Verdict), p.Reason)
	default:
		r.judgePlan(a, p)
	}
}

// judgePlan holds a plan against the model, the policy's length, and memory.
func (r *round) judgePlan(a *Attempt, p Proposal) {
	a.Report = validator.Validate(r.problem, sequence(p.Steps, p.Unreadable))
	rep := &a.Report
	if most := r.limits.MaxPlanSteps; most > 0 && rep.Steps > most && (rep.Step == 0 || rep.Step > most) {
		r.tooLong(a, most)
		return
	}
	if !rep.Valid {
		a.Outcome, a.Kind, a.Critique, a.key = Fail, rep.Kind, rep.Critique, rep.Key()
		return
	}
	if reason, denied := r.denied(p.Steps); denied {
		r.planDenied(a, reason)
		return
	}
	key := Key(r.problem, p.Steps)
	if n := r.tried.Count(key); r.limits.MaxRepeats > 0 && n >= r.limits.MaxRepeats {
		a.failed(Repeat, fmt.Sprintf("this plan was tried %s from an equal state; propose another", times(n)))
		return
	}
	a.Outcome, a.Cost = Pass, rep.Cost
}

// denied asks the limits' rule on whole plans.
func (r *round) denied(steps []model.Step) (reason string, denied bool) {
	if r.limits.PlanRule == nil {
		return "", false
	}
	return r.limits.PlanRule(steps)
}

// planDenied makes a rule on the plan as a whole the violation: of no step.
func (r *round) planDenied(a *Attempt, reason string) {
	rep := validator.Report{Steps: a.Report.Steps, Kind: validator.Policy, Goal: a.Report.Goal, Critique: "plan denied by " + reason}
	a.Report, a.Outcome, a.Kind, a.Critique = rep, Fail, rep.Kind, rep.Critique
	a.key = rep.Key() + rep.Critique
}

// tooLong makes the policy's limit the violation: its step is the first that
// the limit does not allow. What the validator found comes after it.
func (r *round) tooLong(a *Attempt, most int) {
	rep := validator.Report{Steps: a.Report.Steps, Step: most + 1, Kind: validator.Policy, Goal: a.Report.Goal}
	what := "this line" // one that cannot be read
	if most < len(a.Steps) {
		rep.Action = model.Clip(a.Steps[most].String())
		what = rep.Action
	}
	rep.Critique = fmt.Sprintf("step %d: %s denied by max_plan_steps: the plan has %d steps, at most %d are allowed", rep.Step, what, rep.Steps, most)
	a.Report, a.Outcome, a.Kind, a.Critique, a.key = rep, Fail, rep.Kind, rep.Critique, rep.Key()
}

// sequence yields the steps, then what could not be read.
func sequence(steps []model.Step, unreadable *validator.SyntaxError) iter.Seq2[model.Step, error] {
	return func(yield func(model.Step, error) bool) {
		for _, st := range steps {
			if !yield(st, nil) {
				return
			}
		}
		if unreadable != nil {
			yield(model.Step{Line: unreadable.Line}, unreadable)
		}
	}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
