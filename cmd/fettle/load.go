package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/model/load"
	"github.com/fettleops/fettle/planner/llm"
	"github.com/fettleops/fettle/planner/llm/prompt"
	"github.com/fettleops/fettle/policy"
	"github.com/fettleops/fettle/world"
)

// loaded is a model with its policy and its world.
type loaded struct {
	*load.Loaded
	policy *policy.Policy // nil where the model has none
	world  *world.World
	// recorder writes exchanges with language models; nil: nobody asked for it.
	recorder *llm.Recorder
	// lessons are those that a person approved, once the store is open.
	lessons []prompt.Lesson
}

// load reads a model for use. Its mistakes are printed, and answer 2; a file
// that cannot be read is an error. Warnings are for check to tell.
func (a *app) load(path string) (*loaded, error) {
	l, diags, err := a.read(path)
	if err != nil {
		return nil, err
	}
	if diags.HasErrors() {
		a.printDiagnostics(l.Loaded, onlyErrors(diags))
		l.world.Close()
		return nil, answer(exitNo)
	}
	return l, nil
}

// read loads a model and everything that can be checked of it without touching
// the world.
func (a *app) read(path string) (*loaded, hcl.Diagnostics, error) {
	if strings.EqualFold(filepath.Ext(path), ".pddl") {
		return nil, nil, fmt.Errorf("%s: check, validate and plan take a PDDL domain and problem; `fettle import pddl` writes a model of them", path)
	}
	vars, err := parseVars(a.vars)
	if err != nil {
		return nil, nil, err
	}
	m, diags := load.Model(path, load.Options{Vars: vars, LookupEnv: os.LookupEnv})
	if err := load.Trouble(diags); err != nil {
		return nil, nil, err
	}
	l := &loaded{Loaded: m}
	if p := m.Policy; p != nil {
		var d hcl.Diagnostics
		l.policy, d = policy.Decode(p.Body, m.Eval, p.Range)
		diags = append(diags, d...)
		if l.policy != nil {
			diags = append(diags, l.policy.Check(m.Model)...)
			if callsModels(m) {
				diags = append(diags, l.policy.ForModels()...)
			}
		}
	}
	if !diags.HasErrors() {
		diags = append(diags, l.askedInVain()...)
		diags = append(diags, onCommandLines(m)...)
		diags = append(diags, notifyMistakes(m)...)
	}
	var d hcl.Diagnostics
	l.world, d = world.Compile(m.Model, worldConfig(m))
	return l, load.Sort(append(diags, d...)), nil
}

// callsModels tells whether a planner or a critic calls a language model.
func callsModels(l *load.Loaded) bool {
	return slices.ContainsFunc(slices.Concat(l.Planners, l.Critics), func(b *load.Block) bool { return clients[b.Kind] != nil })
}

func worldConfig(l *load.Loaded) world.Config {
	c := world.Config{
		Folder: l.Folder, Eval: l.Eval, Observe: map[*model.Fluent]world.Block{},
		Run: map[*model.Action]world.Block{}, Timeout: map[*model.Action]time.Duration{},
		Discover: map[*model.Type]world.Block{}, Providers: map[string]world.Block{}, Secrets: l.Secrets, Redact: l.Redact,
	}
	for _, b := range l.Providers {
		c.Providers[b.Kind] = world.Block{Kind: b.Kind, Body: b.Body, Range: b.Range}
	}
	for t, b := range l.Discover {
		c.Discover[t] = world.Block{Kind: b.Kind, Body: b.Body, Range: b.Range}
	}
	for f, info := range l.Fluents {
		if b := info.Observe; b != nil {
			c.Observe[f] = world.Block{Kind: b.Kind, Body: b.Body, Range: b.Range}
		}
	}
	for act, info := range l.Actions {
		c.Timeout[act] = info.Timeout
		if b := info.Run; b != nil {
			c.Run[act] = world.Block{Kind: b.Kind, Body: b.Body, Range: b.Range}
		}
	}
	return c
}

// parseVars reads the values of --var name=value.
func parseVars(given []string) (map[string]string, error) {
	vars := map[string]string{}
	for _, g := range given {
		name, value, ok := strings.Cut(g, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("--var takes name=value, not %q", g)
		}
		vars[name] = value
	}
	return vars, nil
}

func onlyErrors(diags hcl.Diagnostics) hcl.Diagnostics {
	var out hcl.Diagnostics
	for _, d := range diags {
		if d.Severity == hcl.DiagError {
			out = append(out, d)
		}
	}
	return out
}
