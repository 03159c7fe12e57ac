package main

import (
	"context"
	"fmt"
	"os"

	"github.com/fettleops/fettle/model/load"
	"github.com/fettleops/fettle/planner/llm"
	planprogram "github.com/fettleops/fettle/planner/llm/program"
	"github.com/fettleops/fettle/server/notify"
	"github.com/fettleops/fettle/world"
	worldprocess "github.com/fettleops/fettle/world/process"
)

// tryPlanners tells whether the planners and critics could be asked: the key of
// a model is there, a program could be started, a recording can be read. No model
// is called.
func tryPlanners(ctx context.Context, l *loaded) []world.Trial {
	var out []world.Trial
	for _, b := range l.Planners {
		if b.Kind != builtin {
			out = append(out, tryPlanner(ctx, l, b, fmt.Sprintf("planner %q %q", b.Kind, b.Name)))
		}
	}
	for _, b := range l.Critics {
		out = append(out, tryPlanner(ctx, l, b, fmt.Sprintf("critic %q", b.Kind)))
	}
	return out
}

func tryPlanner(ctx context.Context, l *loaded, b *load.Block, what string) world.Trial {
	t := world.Trial{Block: what, Source: world.Source{Kind: b.Kind}, Range: b.Range}
	says, err := askable(ctx, l, b)
	if t.Says = says; err != nil {
		t.Says, t.Wrong, t.Mend = err.Error(), "Cannot be asked", "Without it the others are asked for plans, the built-in search at last."
	}
	return t
}

func askable(ctx context.Context, l *loaded, b *load.Block) (says string, err error) {
	switch b.Kind {
	case "exec":
		s, diags := planprogram.Decode(b.Name, b.Body, l.Eval, l.Folder)
		if diags.HasErrors() {
			return "", diags
		}
		return startable(s.Command, s.Dir)
	case "replay":
		file, diags := llm.DecodeReplay(b.Body, l.Eval, l.Folder)
		if diags.HasErrors() {
			return "", diags
		}
		_, err := os.Stat(file)
		return "its recording is there", err
	}
	s, diags := llm.Decode(b.Kind, b.Name, b.Body, l.Eval, l.Folder, os.LookupEnv)
	if diags.HasErrors() {
		return "", diags
	}
	if why := s.Unready(); why != "" {
		return "", fmt.Errorf("%s", why)
	}
	if s.BaseURL != "" {
		says, err := world.Connect(ctx, s.BaseURL)
		return says + "; no model was called", err
	}
	return "has a key; no model was called", nil
}

// startable tells whether a program could be started.
func startable(argv []string, dir string) (says string, err error) {
	return "could be started; it was not run", worldprocess.Process{Argv: argv, Dir: dir}.Startable()
}

// tryNotifies tells whether those who are to be told could be. Nobody is.
func tryNotifies(ctx context.Context, l *loaded) []world.Trial {
	var out []world.Trial
	for _, b := range l.Notifies {
		t := world.Trial{Block: fmt.Sprintf("notify %q %q", b.Kind, b.Name), Source: world.Source{Kind: b.Kind}, Range: b.Range}
		says, err := tellable(ctx, l, b)
		if t.Says = says; err != nil {
			t.Says, t.Wrong, t.Mend = err.Error(), "Not within reach", "Nobody is told by it as things stand; a run does not stop for that."
		}
		out = append(out, t)
	}
	return out
}

func tellable(ctx context.Context, l *loaded, b *load.Block) (says string, err error) {
	s, diags := notify.Decode(b.Kind, b.Name, b.Body, l.Eval, l.Folder)
	if diags.HasErrors() {
		return "", diags
	}
	if s.Kind == "exec" {
		return startable(s.Command, s.Dir)
	}
	says, err = world.Connect(ctx, s.URL)
	return says + "; nobody was told", err
}
