package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
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

// proposers returns what a run turns to for plans: the plan file, or the
// model's planners.
func (a *app) proposers(l *loaded, f runFlags, goal string) ([]planner.Proposer, error) {
	if f.plan != "" {
		p, err := a.planFile(l, f.plan, goal)
		if err != nil {
			return nil, err
		}
		return []planner.Proposer{p}, nil
	}
	out, passed, err := plannersOf(l, "", searchOptions(l.policy))
	for _, s := range passed {
		fmt.Fprintln(a.err, "Warning:", s)
	}
	return out, err
}

func searchOptions(p *policy.Policy) search.Options {
	return search.Options{
		MaxNodes: p.Search.MaxNodes.Or(0), MaxMemory: p.Search.MaxMemory.Or(0), Timeout: p.Search.Timeout.Or(0),
	}
}

// planFile reads the plan that is to be carried out. One that `fettle plan
// --out` saved says what it is for, and is refused for anything else.
func (a *app) planFile(l *loaded, name, goal string) (planner.Proposer, error) {
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
	if err := savedFor(data, name, l.Hash, goal); err != nil {
		return nil, err
	}
	return planner.NewFile(name, validator.ReadPlan(bytes.NewReader(data))), nil
}

// savedFor checks the hashes of a saved plan; any other plan has none.
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
