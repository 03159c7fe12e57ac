package program

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/planner/llm"
)

// Critic has a program read plans that the validator accepted. It gets what a
// planner gets, with the plan and without earlier attempts, and answers
// {"accept": true} or {"accept": false, "changes": [{"step": 2, "text": "…"}]}.
type Critic struct{ s Settings }

// NewCritic returns a critic that runs the settings' command.
func NewCritic(s Settings) *Critic { return &Critic{s} }

// Name says who reads: a critic's block has no name of its own.
func (c *Critic) Name() string { return fmt.Sprintf("critic %q", c.s.Command[0]) }

// Review runs the program once.
func (c *Critic) Review(ctx context.Context, v planner.Review) (planner.Opinion, error) {
	r := newRequest(planner.Request{Problem: v.Problem, Goal: v.Goal}, c.s, Options{})
	for _, st := range v.Steps {
		r.Plan = append(r.Plan, st.String())
	}
	in, err := json.Marshal(r)
	if err != nil {
		return planner.Opinion{}, fmt.Errorf("tell the plan: %w", err)
	}
	used := planner.Usage{Calls: 1}
	settle, err := v.Budget.Reserve(used)
	if err != nil {
		return planner.Opinion{}, err
	}
	out, err := run(ctx, c.s, in)
	settle(used)
	if err != nil {
		return planner.Opinion{Usage: used}, err
	}
	op, err := llm.ReadOpinion(string(out), len(v.Steps))
	op.Usage = used
	return op, err
}
