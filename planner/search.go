package planner

import (
	"context"
	"fmt"

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
	res, err := search.Search(ctx, search.Problem{
		U: r.Problem.U, Start: r.Problem.Start, Goal: r.Problem.Goal, GoalArgs: r.Problem.GoalArgs, Allowed: r.Problem.Allowed,
	}, s.options)
	if err != nil {
		return Proposal{}, err
	}
	p := Proposal{Final: true, Optimal: res.Optimal, Reason: res.Reason}
	for _, a := range res.Unknown {
		p.Unknown = append(p.Unknown, r.Problem.U.Text(a))
	}
	switch res.Status {
	case search.Solved:
		for _, g := range res.Plan {
			p.Steps = append(p.Steps, r.Problem.U.Step(g))
		}
	case search.Unsolvable:
		p.Verdict, p.Proof = SaysUnsolvable, true
	case search.Unobservable:
		p.Verdict, p.Proof = SaysUnobservable, true
		p.Reason = "no plan is sure to reach the goal (" + res.Reason + ")"
	case search.Exhausted:
		p.Verdict = GaveUp
	default:
		return Proposal{}, fmt.Errorf("the search answered %q, which means nothing", res.Status)
	}
	return p, nil
}
