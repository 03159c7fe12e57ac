package main

import (
	"fmt"
	"os"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/planner/llm"
	planprogram "github.com/fettleops/fettle/planner/llm/program"
)

// criticsOf returns the model's critics, and how many plans they may read.
// Passed tells of those that cannot be asked.
func criticsOf(l *loaded, rec *llm.Recorder) (critics []planner.Critic, rounds int, passed []string, err error) {
	if l.policy == nil {
		return nil, 0, nil, nil // Nothing but the search is asked then.
	}
	for _, b := range l.Critics {
		if b.Kind == "exec" {
			s, diags := planprogram.Decode("", b.Body, l.Eval, l.Folder)
			if diags.HasErrors() {
				return nil, 0, nil, diags
			}
			critics = append(critics, planprogram.NewCritic(s))
			continue
		}
		s, diags := llm.Decode(b.Kind, "", b.Body, l.Eval, l.Folder, os.LookupEnv)
		if diags.HasErrors() {
			return nil, 0, nil, diags
		}
		if why := s.Unready(); why != "" {
			passed = append(passed, fmt.Sprintf("critic %q (%s): %s; plans go unread", b.Kind, place(b.Range), why))
			continue
		}
		critics = append(critics, llm.NewCritic(llm.NewCaller(l.client(b, "critic", s, rec), s), s, l.modelOptions()))
	}
	return critics, l.policy.CriticRounds.Or(l.policy.MaxAttempts), passed, nil
}

// ownCritic warns of a critic that is the model of a planner: who made a
// mistake rarely sees it.
func (l *loaded) ownCritic() hcl.Diagnostics {
	var diags hcl.Diagnostics
	models := map[string]string{}
	for _, b := range l.Planners {
		if clients[b.Kind] != nil {
			if s, d := llm.Decode(b.Kind, b.Name, b.Body, l.Eval, l.Folder, nil); !d.HasErrors() {
				models[b.Kind+" "+s.BaseURL+" "+s.Model] = b.Name
			}
		}
	}
	for _, b := range l.Critics {
		if clients[b.Kind] == nil {
			continue
		}
		s, d := llm.Decode(b.Kind, "", b.Body, l.Eval, l.Folder, nil)
		if own, ok := models[b.Kind+" "+s.BaseURL+" "+s.Model]; ok && !d.HasErrors() {
			diags = append(diags, &hcl.Diagnostic{
				Severity: hcl.DiagWarning, Summary: "The critic is the planner's own model", Subject: b.Range.Ptr(),
				Detail: fmt.Sprintf("%s is the model of planner %q too. A model rarely sees its own mistakes: let another read its plans.", s.Model, own),
			})
		}
	}
	return diags
}
