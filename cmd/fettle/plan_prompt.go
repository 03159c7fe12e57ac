package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model/load"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/planner/llm"
	planprogram "github.com/fettleops/fettle/planner/llm/program"
	"github.com/fettleops/fettle/planner/llm/reply"
)

// promptDocument is what a language model would be asked, as JSON.
type promptDocument struct {
	Planner string          `json:"planner"`
	Model   string          `json:"model"`
	System  string          `json:"system"`
	User    string          `json:"user"`
	Schema  json.RawMessage `json:"schema"` // of the answer
	LeftOut []string        `json:"left_out"`
	Tokens  int             `json:"tokens"` // estimated
}

// showPrompt prints what a planner would be asked first, and asks nobody.
func (a *app) showPrompt(ctx context.Context, p *planning, f planFlags) error {
	b, err := askedBlock(p.loaded, f.planner)
	if err != nil {
		return err
	}
	r := planner.Request{Problem: p.problem, Goal: objective(p), MaxPlanSteps: p.limits.MaxPlanSteps, Budget: planner.Unlimited{}}
	if b.Kind == "exec" {
		s, diags := planprogram.Decode(b.Name, b.Body, p.loaded.Eval, p.loaded.Folder)
		if diags.HasErrors() {
			return diags
		}
		return writeJSON(a.out, planprogram.New(s, planprogram.Options{}).Question(r))
	}
	s, diags := p.loaded.modelSettings(b)
	if diags.HasErrors() {
		return diags
	}
	o := p.loaded.modelOptions()
	asked, err := llm.New(llm.NewCaller(nil, s), s, o).Question(ctx, r)
	if err != nil {
		return fmt.Errorf("%s: %w", blockName(b), err)
	}
	a.say(append([]string{fmt.Sprintf("%s: a question of about %s tokens; nobody was asked", blockName(b), grouped(asked.Tokens))}, asked.Trimmed...))
	if found, err := o.Search.Propose(ctx, r); err == nil && found.Proof {
		a.say([]string{fmt.Sprintf("this would not be asked: the search proved the goal %s: %s", found.Verdict, found.Reason)})
	}
	if f.format == "json" {
		return writeJSON(a.out, promptDocument{
			b.Name, s.Model, asked.System, asked.User, reply.Schema(p.problem.U, p.problem.Allowed, r.MaxPlanSteps), append([]string{}, asked.Trimmed...), asked.Tokens,
		})
	}
	_, err = fmt.Fprintf(a.out, "---- system ----\n\n%s\n\n---- user ----\n\n%s\n", asked.System, asked.User)
	return err
}

// askedBlock returns the planner that is named, or the first that is asked
// anything.
func askedBlock(l *loaded, name string) (*load.Block, error) {
	var names []string
	for _, b := range l.Planners {
		if b.Kind == builtin {
			continue
		}
		if name == "" || name == b.Name {
			return b, nil
		}
		names = append(names, b.Name)
	}
	if name == "" || len(names) == 0 {
		return nil, errors.New(`no planner of this model is asked anything: the search takes no questions. Add a block, such as planner "openai" "main" { model = "…" }`)
	}
	return nil, unknownName("planner with a question", name, names)
}

// modelSettings are those of a planner that asks a language model, be it one
// whose answers are recorded.
func (l *loaded) modelSettings(b *load.Block) (llm.Settings, hcl.Diagnostics) {
	if b.Kind == "replay" {
		return replaySettings(b), nil
	}
	return llm.Decode(b.Kind, b.Name, b.Body, l.Eval, l.Folder, os.LookupEnv)
}

// objective is the sentence of the goal that is planned for.
func objective(p *planning) string {
	for _, g := range p.problem.U.Goals {
		if g.Cond == p.problem.Goal {
			return g.Doc
		}
	}
	return ""
}

// askedInVain finds what is wrong with blocks of planners and critics beyond
// their shape: templates that are not there or name what there is not.
func (l *loaded) askedInVain() hcl.Diagnostics {
	var out hcl.Diagnostics
	for _, blocks := range [][]*load.Block{l.Planners, l.Critics} {
		for _, b := range blocks {
			if clients[b.Kind] != nil {
				_, diags := llm.Decode(b.Kind, b.Name, b.Body, l.Eval, l.Folder, nil)
				out = append(out, diags...)
			}
		}
	}
	return out
}
