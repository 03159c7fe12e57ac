package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

// atFlag adds the flag that says when the policy's rules are asked.
func atFlag(fl *pflag.FlagSet, at *string) {
	fl.StringVar(at, "at", "", "the time at which the policy's rules are asked, as in 2026-12-24T18:00:00+01:00 (default: now)")
}

// ruler asks the rules of a model's policy offline: a person asks, and nobody
// has done anything before. It is nil where there are none.
func (a *app) ruler(l *loaded, u *model.Universe, goal, at string) (*executor.Ruler, error) {
	now := time.Now()
	if at != "" {
		var err error
		if now, err = time.Parse(time.RFC3339, at); err != nil {
			return nil, fmt.Errorf("--at takes a time as in 2026-12-24T18:00:00+01:00, not %q", at)
		}
	}
	if l.policy == nil || len(l.policy.Rules) == 0 {
		return nil, nil
	}
	locker := lease.New(nil, "", lease.Options{TTL: a.leaseTTL})
	defer locker.Close()
	ttl, margin := locker.Times()
	return &executor.Ruler{
		Policy: l.policy, Universe: u, Settings: settings(l), Fenced: l.world.Fenced, Safe: ttl - margin, Goal: goal, Now: now,
	}, nil
}

// ruling asks the rules about a plan while it is validated, and once it is valid.
type ruling struct {
	*executor.Ruler
	start *model.State
	steps []model.Ground
}

// follow has the rules asked about each step of a plan, which it notes.
func (r *ruling) follow(p *validator.Problem) {
	if r.Ruler == nil {
		return
	}
	r.start, p.Rules = p.Start, r.Rules(0)
	told := p.Trace
	p.Trace = func(step int, g model.Ground, writes []model.Write) {
		r.steps = append(r.steps, model.Ground{Action: g.Action, Args: slices.Clone(g.Args)})
		if told != nil {
			told(step, g, writes)
		}
	}
}

// hold holds a valid plan against the rules that look at it as a whole. What a
// person would be asked about because of rules is returned.
func (r *ruling) hold(rep *validator.Report) []string {
	if r.Ruler == nil || !rep.Valid {
		return nil
	}
	ruled := r.Plan(r.start, r.steps)
	why, of, no := ruled.Denial()
	if !no {
		return ruled.Asks()
	}
	denied := validator.Report{Steps: rep.Steps, Kind: validator.Policy, Goal: rep.Goal, Cost: rep.Cost, State: rep.State, Critique: "plan denied by " + why}
	if of != nil {
		denied.Step, denied.Action = of.Facts.Step, model.Clip(of.Facts.Ground)
		denied.Critique = fmt.Sprintf("step %d: %s denied by %s", denied.Step, denied.Action, why)
		denied.Cost, denied.State = r.until(denied.Step)
	}
	*rep = denied
	return nil
}

// until returns the cost of the steps before one, and the state that it begins in.
func (r *ruling) until(step int) (float64, *model.State) {
	state, d, sum := r.start.Clone(), &model.Delta{}, 0.0
	for _, g := range r.steps[:step-1] {
		cost, _ := g.Cost(state, d)
		sum += cost
		if g.Effects(state, d) == nil {
			d.Commit(state)
		}
	}
	return sum, state
}
