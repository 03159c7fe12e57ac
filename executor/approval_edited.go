package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/validator"
)

// Checked is what a plan came to that was held against what a run observed last.
type Checked struct {
	planner.Attempt               // Critique "": it is valid
	Read            []model.Step  // with the arguments in the order of the parameters
	Planned         []PlannedStep // what a valid plan is to do
	Why             []string      // what it would be asked about because of
}

// CheckPlan holds a plan against the model, the policy, and what the run's
// journal says was observed last. The world is not looked at.
func CheckPlan(ctx context.Context, c Config, j *journal.Journal, id string, plan *PlanFile) (Checked, error) {
	r := newRun(c)
	var err error
	if r.Journal, err = j.Resume(ctx, id); err != nil {
		return Checked{}, err
	}
	if err := r.restore(ctx, j); err != nil {
		return Checked{}, fmt.Errorf("restore run %s from its journal: %w", id, err)
	}
	if err := r.consult(ctx); err != nil {
		return Checked{}, err
	}
	p := r.problem()
	p.StartedAs = "as observed last"
	limits := r.limits()
	limits.MaxAttempts, limits.MaxRepeats = 1, 0
	file := planner.NewFile(plan.Name, validator.ReadPlan(bytes.NewReader(plan.Text)))
	res, err := planner.Round(ctx, p, []planner.Proposer{file}, limits, planner.Unlimited{}, nil, nil)
	if err != nil {
		return Checked{}, fmt.Errorf("read the plan: %w", err)
	}
	out := Checked{Attempt: res.Attempts[0]}
	for _, st := range out.Steps {
		g, fault := r.u.Bind(st, nil)
		if fault != nil {
			break
		}
		out.Read = append(out.Read, r.u.Step(g))
	}
	if res.Status != planner.Valid {
		return out, nil
	}
	a, err := r.accept(res)
	if err != nil {
		return out, err
	}
	if len(r.Policy.Rules) > 0 {
		ruled := r.ruler.Plan(r.state, a.ground)
		r.ruled, a.asks = &ruled, ruled.Asks()
	}
	if r.Policy.PauseBeforePlan() {
		a.asks = append(a.asks, pausesAtPlan)
	}
	out.Planned, out.Why = a.event.Steps, r.whyAsk(a)
	return out, nil
}

// Shown returns the steps of what a question is about, as the journal tells of
// them: of the plan, or of the way back. Nil where it does not.
func (k Approver) Shown(ctx context.Context, p Pending) ([]PlannedStep, error) {
	var found []PlannedStep
	events, err := eventsOf(ctx, k.Journal, p.Run)
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		if e.Kind != PlanAccepted && e.Kind != RestorePlanned {
			continue
		}
		var plan struct {
			PlanHash string        `json:"plan_hash"`
			Steps    []PlannedStep `json:"steps"`
		}
		if err := json.Unmarshal(e.Data, &plan); err != nil {
			return nil, fmt.Errorf("event %d of run %s (%s) cannot be read: %w", e.Seq, p.Run, e.Kind, err)
		}
		if plan.PlanHash == p.PlanHash {
			found = plan.Steps
		}
	}
	return found, nil
}
