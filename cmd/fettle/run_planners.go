package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/planner/search"
	"github.com/fettleops/fettle/policy"
	"github.com/fettleops/fettle/validator"
)

// maxPlanFile bounds a plan that is to be carried out, in bytes.
const maxPlanFile = 16 << 20

// proposers returns what a run turns to for plans: the plan that it was given,
// or the model's planners.
func (a *app) proposers(l *loaded, given *executor.PlanFile, goal string) ([]planner.Proposer, error) {
	if given != nil {
		if err := savedFor(given.Text, given.Name, l.Hash, goal); err != nil {
			return nil, err
		}
		return []planner.Proposer{planner.NewFile(given.Name, validator.ReadPlan(bytes.NewReader(given.Text)))}, nil
	}
	out, said, err := plannersOf(l, "", searchOptions(l.policy), l.recorder)
	a.say(said)
	return out, err
}

func searchOptions(p *policy.Policy) search.Options {
	return search.Options{
		MaxNodes: p.Search.MaxNodes.Or(0), MaxMemory: p.Search.MaxMemory.Or(0), Timeout: p.Search.Timeout.Or(0),
	}
}

// planFile reads the plan that is to be carried out; nil where none is named.
func (a *app) planFile(name string) (*executor.PlanFile, error) {
	if name == "" {
		return nil, nil
	}
	r := a.in
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("read the plan: %w", err)
		}
		defer file.Close()
		r = file
	}
	data, err := io.ReadAll(io.LimitReader(r, maxPlanFile+1))
	if err != nil {
		return nil, fmt.Errorf("read the plan: %w", err)
	}
	if len(data) > maxPlanFile {
		return nil, fmt.Errorf("plan %s is larger than %d MiB", name, maxPlanFile>>20)
	}
	return &executor.PlanFile{Name: name, Text: data}, nil
}

// remainder proposes what is left of a plan that may have been carried out in
// part: the longest end of it that is valid from what is observed. Where none is,
// the critique is that of the whole plan.
type remainder struct{ planner.Proposer }

func (p remainder) Propose(ctx context.Context, req planner.Request) (planner.Proposal, error) {
	plan, err := p.Proposer.Propose(ctx, req)
	if err != nil || plan.Unreadable != nil {
		return plan, err
	}
	for i := range plan.Steps {
		if validator.Validate(req.Problem, written(plan.Steps[i:])).Valid {
			plan.Steps = plan.Steps[i:]
			break
		}
	}
	return plan, nil
}

// written yields steps that are already read.
func written(steps []model.Step) iter.Seq2[model.Step, error] {
	return func(yield func(model.Step, error) bool) {
		for _, st := range steps {
			if !yield(st, nil) {
				return
			}
		}
	}
}

// savedFor checks that a plan which `fettle plan --out` saved, and which says
// what it is for, is carried out for nothing else. Any other plan has no hashes.
func savedFor(data []byte, name, modelHash, goal string) error {
	var doc struct {
		Goal   string     `json:"goal"`
		Steps  []planStep `json:"steps"`
		Hashes planHashes `json:"hashes"`
	}
	if json.Unmarshal(data, &doc) != nil || doc.Hashes.Model == "" {
		return nil
	}
	var steps []model.Step
	for _, s := range doc.Steps {
		steps = append(steps, model.Step{Action: s.Action, Args: s.Args})
	}
	again := "; plan again with `fettle plan --out`"
	switch {
	case doc.Hashes.Model != modelHash:
		return fmt.Errorf("plan %s was saved for another version of this model, or for other variables%s", name, again)
	case doc.Goal != goal:
		return fmt.Errorf("plan %s was saved for the goal %s, not for %s; name that goal with --goal", name, doc.Goal, goal)
	case doc.Hashes.Plan != executor.PlanHash(modelHash, goal, steps):
		return fmt.Errorf("plan %s was changed after it was saved%s", name, again)
	}
	return nil
}
