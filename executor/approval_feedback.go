package executor

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/fettleops/fettle/planner"
)

// advised is a planner that is told which plans people rejected, and why. One of
// those counts as a failed attempt, whatever the state it is proposed from.
type advised struct {
	planner.Proposer
	r *run
}

// advised wraps the run's planners once a person has rejected a plan.
func (r *run) advised() []planner.Proposer {
	if len(r.rejected) == 0 {
		return r.Proposers
	}
	out := make([]planner.Proposer, len(r.Proposers))
	for i, p := range r.Proposers {
		out[i] = advised{p, r}
	}
	return out
}

// Model returns the name of the language model that is asked, "" for none.
func (p advised) Model() string {
	if m, ok := p.Proposer.(interface{ Model() string }); ok {
		return m.Model()
	}
	return ""
}

// Propose asks the planner, and turns down what a person rejected.
func (p advised) Propose(ctx context.Context, req planner.Request) (planner.Proposal, error) {
	req.Rejected = p.r.said()
	out, err := p.Proposer.Propose(ctx, req)
	if err != nil || out.Verdict != planner.HasPlan || out.Unreadable != nil {
		p.r.stuck = false
		return out, err
	}
	rep, ok := p.r.rejected[PlanHash(p.r.ModelHash, p.r.GoalName, out.Steps)]
	p.r.stuck = p.r.stuck && ok
	if ok {
		out.Verdict, out.Reason = planner.Rejected, fmt.Sprintf("%s rejected this plan: %s; propose another", rep.By, rep.Feedback)
	}
	return out, nil
}

// said are the plans that people rejected, in one order.
func (r *run) said() []planner.Rejection {
	var out []planner.Rejection
	for _, hash := range slices.Sorted(maps.Keys(r.rejected)) {
		rep := r.rejected[hash]
		rej := planner.Rejection{By: rep.By, Feedback: rep.Feedback, Step: rep.Step}
		var texts []string
		for _, s := range r.plans[hash].Steps {
			texts = append(texts, s.Action)
		}
		if steps, err := r.parseSteps(texts); err == nil {
			rej.Steps = steps
		}
		out = append(out, rej)
	}
	return out
}
