package world

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2"
	"golang.org/x/sync/errgroup"

	"github.com/fettleops/fettle/model"
)

// Bounds of [World.Try].
const (
	maxTried    = 16              // instances of one block
	connectTime = 5 * time.Second // until a server accepts a connection
)

// Trial is what came of trying one block of the model, in one respect.
type Trial struct {
	Block  string    // observe "http" of fluent "up"
	Source Source    // what was tried
	Range  hcl.Range // where that is written
	Says   string    // what came of it, one line
	// Wrong is a diagnostic's summary where something is amiss, "" where nothing is.
	Wrong  string
	Mend   string // how to mend it
	Broken bool   // it cannot work as things stand; else what is amiss may pass
}

// Trying is what a model is tried with.
type Trying struct {
	Universe *model.Universe
	Found    []Found // as [World.Discover] told
	Settle   map[*model.Action]Settling
}

// Settling is how long the effects of an action may take to be seen.
type Settling struct {
	Timeout time.Duration
	Range   hcl.Range // of the action
}

// Try finds out how far the world is as the model says, and changes nothing in
// it. Every observe block is asked, for no more than 16 instances where each is a
// question of its own. Of a run block no more is tried than whether its program
// could be started, or its server accepts a connection. The server of a fence is
// asked OPTIONS; a program that raises one is not run, since it may do so.
//
// At most 32 trials are under way at a time, each is bounded by the time-out of
// its block, a connection by five seconds, and all of them by ctx. The trials
// come in the order of the text.
func (w *World) Try(ctx context.Context, t Trying) []Trial {
	var g errgroup.Group
	var asked, reached []Trial
	g.Go(func() error { asked = w.tryObserve(ctx, t); return nil })
	g.Go(func() error { reached = w.tryActuators(ctx, t.Universe); return nil })
	_ = g.Wait() // the functions return no error
	out := slices.Concat(w.tryDiscover(t.Found), asked, reached)
	slices.SortStableFunc(out, func(a, b Trial) int {
		return comparePlaces(a.Range, b.Range)
	})
	for i := range out {
		s := &out[i]
		s.Says, s.Source = w.sensitive.text(s.Says), s.Source.with(w.sensitive.text)
	}
	return out
}

// tryDiscover judges what was discovered.
func (w *World) tryDiscover(found []Found) []Trial {
	var out []Trial
	for _, f := range found {
		t := Trial{Source: f.Source, Says: fmt.Sprintf("%d found", len(f.Objects))}
		for _, d := range w.discoverers {
			if d.typ == f.Type {
				t.Block, t.Range = fmt.Sprintf("discover %q of type %q", f.Source.Kind, f.Type.Name), d.at.of("query", "url", "command")
			}
		}
		if f.Note != "" {
			t.Says += "; " + f.Note
		}
		if f.Err != "" {
			t.Says += "; " + f.Err
			t.Wrong, t.Broken = "Discovery failed", len(f.Objects) == 0
			t.Mend = fmt.Sprintf("What is said of every %s is unknown as long as there may be more of them.", f.Type.Name)
		}
		out = append(out, t)
	}
	return out
}

// places are where a block and its attributes are written.
type places struct {
	block hcl.Range
	attrs map[string]hcl.Range
}

func (d *decoder) places() places {
	p := places{d.rng, map[string]hcl.Range{}}
	for name, a := range d.attrs {
		p.attrs[name] = a.Expr.Range()
	}
	return p
}

// of returns the place of the first of the attributes that is given, or else of
// the block.
func (p places) of(names ...string) hcl.Range {
	for _, n := range names {
		if r, ok := p.attrs[n]; ok {
			return r
		}
	}
	return p.block
}
