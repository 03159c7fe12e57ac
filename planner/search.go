package planner

import (
	"context"
	"fmt"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner/search"
)

// searcher is the built-in search as a proposer.
type searcher struct {
	name    string
	options search.Options
}

// NewSearch returns the built-in search as a proposer of this name. It takes no
// critiques: its plans follow from the problem, and the same problem gives the
// same answer. It alone proves that there is no plan.
func NewSearch(name string, o search.Options) Proposer { return &searcher{name, o} }

func (s *searcher) Name() string { return s.name }

func (s *searcher) Propose(ctx context.Context, r Request) (Proposal, error) {
	p := search.Problem{
		U: r.Problem.U, Start: r.Problem.Start, Goal: r.Problem.Goal, GoalArgs: r.Problem.GoalArgs, Allowed: r.Problem.Allowed,
		MaxSteps: r.MaxPlanSteps,
	}
	for _, rule := range r.Problem.Rules {
		p.Rules = append(p.Rules, rule)
	}
	res, err := search.Search(ctx, p, s.options)
	if err != nil {
		return Proposal{}, err
	}
	return proposed(r.Problem.U, res)
}

// proposed turns the search's answer into a proposal.
func proposed(u *model.Universe, res search.Result) (Proposal, error) {
	p := Proposal{Final: true, Optimal: res.Optimal, Reason: res.Reason, Without: planSteps(u, res.Without)}
	for _, a := range res.Unknown {
		p.Unknown = append(p.Unknown, u.Text(a))
	}
	for _, d := range res.Denials {
		p.Denials = append(p.Denials, Denial{Step: d.Step, Action: u.StepText(d.Ground), Reason: d.Reason})
	}
	switch res.Status {
	case search.Solved:
		p.Steps = planSteps(u, res.Plan)
	case search.Unsolvable:
		p.Verdict, p.Proof = SaysUnsolvable, true
	case search.Unobservable:
		p.Verdict, p.Proof = SaysUnobservable, true
		p.Reason = "no plan is sure to reach the goal (" + res.Reason + ")"
	case search.Denied:
		p.Verdict, p.Proof = SaysDenied, true
	case search.Exhausted:
		p.Verdict = GaveUp
	default:
		return Proposal{}, fmt.Errorf("the search answered %q, which means nothing", res.Status)
	}
	return p, nil
}

func planSteps(u *model.Universe, plan []model.Ground) []model.Step {
	var steps []model.Step
	for _, g := range plan {
		steps = append(steps, u.Step(g))
	}
	return steps
}
