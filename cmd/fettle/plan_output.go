package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/validator"
)

// planStep is a step as plans in JSON write it.
type planStep struct {
	Action string   `json:"action"`
	Args   []string `json:"args"`
}

func planSteps(steps []model.Step) []planStep {
	out := []planStep{}
	for _, st := range steps {
		out = append(out, planStep{st.Action, append([]string{}, st.Args...)})
	}
	return out
}

// planHashes say what a plan is for.
type planHashes struct {
	Model string `json:"model"`
	State string `json:"state"`
	Plan  string `json:"plan,omitempty"`
}

// planDocument is the result of plan as JSON.
type planDocument struct {
	Status  planner.Status `json:"status"`
	Goal    string         `json:"goal"`
	Planner string         `json:"planner,omitempty"`
	Optimal bool           `json:"optimal"`
	Cost    *float64       `json:"cost"`
	Steps   []planStep     `json:"steps"`
	Reason  string         `json:"reason,omitempty"`
	Unknown []string       `json:"unknown,omitempty"`
	Remarks []string       `json:"remarks,omitempty"` // critics' on a plan that is valid all the same
	// Without is the plan that there would be without the policy's rules, where
	// they leave none, and Denied what they deny.
	Without  []planStep       `json:"without,omitempty"`
	Denied   []planner.Denial `json:"denied,omitempty"`
	Attempts []planAttempt    `json:"attempts"`
	Hashes   planHashes       `json:"hashes"`
}

// planAttempt is one proposal as JSON; calls of models, tokens and cost, in USD,
// are what it took to ask. Notes say how it came about.
type planAttempt struct {
	Planner  string         `json:"planner"`
	Model    string         `json:"model,omitempty"`
	Steps    []planStep     `json:"steps"`
	Valid    bool           `json:"valid"`
	Critique string         `json:"critique,omitempty"`
	Kind     validator.Kind `json:"kind,omitempty"`
	Calls    int            `json:"calls"`
	Tokens   int            `json:"tokens"`
	Cost     float64        `json:"cost"`
	Notes    []string       `json:"notes,omitempty"`
}

func (p *planning) document() (planDocument, error) {
	res := &p.result
	start, err := p.hashStart()
	if err != nil {
		return planDocument{}, err
	}
	d := planDocument{
		Status: res.Status, Goal: p.problem.GoalName, Planner: res.Proposer, Optimal: res.Optimal, Steps: planSteps(res.Plan),
		Reason: res.Reason, Unknown: res.Unknown, Remarks: res.Remarks, Without: planSteps(res.Without), Denied: res.Denials,
		Attempts: []planAttempt{}, Hashes: planHashes{Model: p.loaded.Hash, State: start},
	}
	if res.Status == planner.Valid {
		d.Hashes.Plan = p.planHash()
		if !res.Report.CostUnknown {
			d.Cost = &res.Cost
		}
	}
	for _, at := range res.Attempts {
		d.Attempts = append(d.Attempts, planAttempt{
			Planner: at.Proposer, Model: at.Model, Steps: planSteps(at.Steps), Valid: at.Outcome == planner.Pass, Critique: at.Critique, Kind: at.Kind,
			Calls: at.Usage.Calls, Tokens: at.Usage.TokensIn + at.Usage.TokensOut, Cost: at.Usage.Cost, Notes: at.Proposal.Notes,
		})
	}
	return d, nil
}

func (p *planning) hashStart() (string, error) {
	if p.startHash != "" {
		return p.startHash, nil
	}
	state, err := json.Marshal(p.problem.Start)
	if err != nil {
		return "", fmt.Errorf("hash the state: %w", err)
	}
	sum := sha256.Sum256(state)
	return hex.EncodeToString(sum[:]), nil
}

// save writes the plan with what it is for, whole or not at all.
func (p *planning) save(file string) error {
	d, err := p.document()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := writeJSON(&b, struct {
		Goal    string     `json:"goal"`
		Planner string     `json:"planner"`
		Optimal bool       `json:"optimal"`
		Cost    *float64   `json:"cost"`
		Steps   []planStep `json:"steps"`
		Hashes  planHashes `json:"hashes"`
	}{d.Goal, d.Planner, d.Optimal, d.Cost, d.Steps, d.Hashes}); err != nil {
		return err
	}
	if err := writeWhole(file, b.Bytes()); err != nil {
		return fmt.Errorf("save the plan: %w", err)
	}
	return nil
}

// writeWhole replaces a file by way of another beside it.
func writeWhole(file string, data []byte) error {
	t, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(t.Name()) //nolint:errcheck // It is gone once renamed.
	_, err = t.Write(data)
	if err == nil {
		err = t.Chmod(0o644)
	}
	if cerr := t.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(t.Name(), file)
}

// printPlan prints the result; the exit code is the answer.
func (a *app) printPlan(p *planning, format string) error {
	if format == "json" {
		d, err := p.document()
		if err != nil {
			return err
		}
		if err := writeJSON(a.out, d); err != nil {
			return err
		}
	} else if err := a.printPlanText(p); err != nil {
		return err
	}
	switch p.result.Status {
	case planner.Valid:
		return nil
	case planner.Unsolvable:
		return answer(exitNo)
	}
	return answer(exitEscalated)
}

// printPlanText writes the plan, or to stderr why there is none.
func (a *app) printPlanText(p *planning) error {
	res := &p.result
	if res.Status == planner.Valid {
		for _, s := range res.Remarks {
			fmt.Fprintf(a.err, "critic of %s's plan: %s\n", plain(res.Proposer), plain(s))
		}
		for _, st := range res.Plan {
			if _, err := fmt.Fprintln(a.out, st); err != nil {
				return err
			}
		}
		return nil
	}
	reason := res.Reason
	if n := len(res.Attempts); n > 0 && reason == res.Attempts[n-1].Critique && res.Status == planner.Exhausted {
		reason = "no valid plan after " + count(n, "attempt") // the attempt's line says why
	}
	fmt.Fprintf(a.err, "%s: %s\n", res.Status, plain(reason))
	if len(res.Attempts) == 0 {
		return nil
	}
	last := res.Attempts[len(res.Attempts)-1]
	switch {
	case len(last.Report.Missing) > 0:
		fmt.Fprintln(a.err)
		return last.Report.WriteText(a.err)
	case last.Proposal.Verdict == planner.GaveUp && p.loaded.policy == nil:
		fmt.Fprintln(a.err, "\nTo search further, raise --max-nodes, --max-memory or --timeout.")
	case last.Proposal.Verdict == planner.GaveUp:
		fmt.Fprintln(a.err, "\nTo search further, raise the limits of the search block in the model's policy.")
	}
	return nil
}
