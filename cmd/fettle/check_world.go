package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2"
	"golang.org/x/sync/errgroup"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/world"
)

// worldBound is the longest that the world is tried for.
const worldBound = 30 * time.Second

// tryWorld finds out how far everything that the model speaks of is within
// reach, and whether its times fit together. Nothing is changed and nothing is
// started, but for the programs of observe and discover blocks.
func (a *app) tryWorld(ctx context.Context, l *loaded) []world.Trial {
	ctx, cancel := context.WithTimeoutCause(ctx, worldBound, fmt.Errorf("not done within %s", worldBound))
	defer cancel()
	var g errgroup.Group
	var inside, outside []world.Trial
	g.Go(func() error {
		u, found := discover(ctx, l)
		inside = l.world.Try(ctx, world.Trying{Universe: u, Found: found, Settle: l.settling()})
		return nil
	})
	g.Go(func() error {
		outside = slices.Concat(a.tryStore(ctx, l), tryPlanners(ctx, l), tryNotifies(ctx, l))
		return nil
	})
	_ = g.Wait() // the functions return no error
	out := slices.Concat(inside, outside, a.tryTimes(l))
	for i, t := range out {
		out[i].Says, out[i].Source.Query = l.redact(t.Says), l.redact(t.Source.Query)
	}
	return out
}

// settling tells how long the effects of each action may take to be seen.
func (l *loaded) settling() map[*model.Action]world.Settling {
	out := map[*model.Action]world.Settling{}
	for act, info := range l.Actions {
		out[act] = world.Settling{Timeout: info.Settle.Timeout, Range: info.DeclRange}
	}
	return out
}

// amiss turns the trials that found something amiss into diagnostics.
func amiss(trials []world.Trial) hcl.Diagnostics {
	var out hcl.Diagnostics
	for _, t := range trials {
		if t.Wrong == "" {
			continue
		}
		d := &hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: t.Wrong, Detail: sentence(t)}
		if t.Broken {
			d.Severity = hcl.DiagError
		}
		if t.Range != (hcl.Range{}) {
			d.Subject = t.Range.Ptr()
		}
		out = append(out, d)
	}
	return out
}

// sentence says what was tried and what came of it, and below how to mend it.
func sentence(t world.Trial) string {
	s := "The " + t.Block
	if t.Source.Query != "" {
		s += fmt.Sprintf(" (%s)", t.Source.Query)
	}
	s += ": " + t.Says + "."
	if t.Mend != "" {
		s += "\n" + t.Mend
	}
	return s
}

// writeTrials lists everything that was tried, with what came of it.
func writeTrials(w io.Writer, p paint, trials []world.Trial) {
	blocks := make([]string, len(trials))
	for i, t := range trials {
		blocks[i] = plain(t.Block)
	}
	width := widest(44, blocks...)
	fmt.Fprintln(w, "tried:")
	for i, t := range trials {
		says := plain(t.Says)
		switch {
		case t.Broken:
			says = p.bad(says)
		case t.Wrong != "":
			says = p.warn(says)
		}
		if q := plain(t.Source.Query); q != "" {
			says = p.faint(q) + "  " + says
		}
		fmt.Fprintf(w, "  %s  %s\n", pad(blocks[i], width), says)
	}
}

// checkedJSON is what check prints, with what was tried where --world was given.
type checkedJSON struct {
	checkJSON
	Tried []trialJSON `json:"tried,omitempty"`
}

// trialJSON is one trial of `check --world -o json`.
type trialJSON struct {
	Block  string `json:"block"`
	Kind   string `json:"kind,omitempty"`
	Target string `json:"target,omitempty"`
	Status string `json:"status"` // fine, warning, error
	Says   string `json:"says"`
}

func trialsJSON(trials []world.Trial) []trialJSON {
	out := make([]trialJSON, len(trials))
	for i, t := range trials {
		out[i] = trialJSON{Block: t.Block, Kind: t.Source.Kind, Target: t.Source.Query, Status: "fine", Says: t.Says}
		switch {
		case t.Broken:
			out[i].Status = "error"
		case t.Wrong != "":
			out[i].Status = "warning"
		}
	}
	return out
}
