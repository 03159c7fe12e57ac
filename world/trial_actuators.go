package world

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"golang.org/x/sync/errgroup"

	"github.com/fettleops/fettle/model"
)

// endpoint is one thing that can be tried. Those with the same key are one.
type endpoint struct {
	key, shown string
	try        func(context.Context, *World) (says string, err error)
}

// reachable is a run or a fence body that names an endpoint.
type reachable interface {
	endpoint(*ground, *World) (endpoint, error)
	expressions() []hcl.Expression
}

// block is a run or a fence block that is tried.
type block struct {
	what   string
	kind   string
	at     hcl.Range
	params []model.Param
	body   reachable
	ends   []endpoint
	err    error // why an endpoint could not be told
	more   bool  // there are more instances than are tried
}

// tryActuators tries what acts and what keeps fences: each endpoint once.
func (w *World) tryActuators(ctx context.Context, u *model.Universe) []Trial {
	blocks := w.reachables(u.Model)
	all := map[string]endpoint{}
	for _, b := range blocks {
		b.find(w, u, all)
	}
	came := w.reach(ctx, all)
	var out []Trial
	for _, b := range blocks {
		out = append(out, b.judge(came))
	}
	return out
}

// reachables returns the blocks in the model's order.
func (w *World) reachables(m *model.Model) []*block {
	var out []*block
	for _, a := range m.Actions {
		r := w.actions[a]
		if r == nil {
			continue
		}
		if body, ok := r.act.(reachable); ok {
			out = append(out, &block{what: fmt.Sprintf("run %q of action %q", r.kind, a.Name), kind: r.kind, at: r.at.of("command", "url"), params: a.Params, body: body})
		}
		if r.fence == nil {
			continue
		}
		if body, ok := r.fence.raiser.(reachable); ok {
			out = append(out, &block{what: fmt.Sprintf("fence %q of action %q", r.kind, a.Name), kind: r.kind, at: r.fence.at.of("command", "url"), params: a.Params, body: body})
		}
	}
	return out
}

// find evaluates the block for the first instances of the parameters on which
// it depends.
func (b *block) find(w *World, u *model.Universe, all map[string]endpoint) {
	used := dependsOn(b.params, b.body.expressions())
	free := slices.DeleteFunc(slices.Clone(b.params), func(p model.Param) bool { return !slices.Contains(used, p.Name) })
	n := 0
	for args := range u.Instances(free) {
		if n++; n > maxTried {
			b.more = true
			return
		}
		e, err := b.body.endpoint(w.ground(u, free, args), w)
		if err != nil {
			b.err = err
			continue
		}
		all[e.key] = e
		if !slices.ContainsFunc(b.ends, func(o endpoint) bool { return o.key == e.key }) {
			b.ends = append(b.ends, e)
		}
	}
}

// reached is what came of trying an endpoint.
type reached struct {
	says string
	err  error
}

func (w *World) reach(ctx context.Context, all map[string]endpoint) map[string]reached {
	out := map[string]reached{}
	var mu sync.Mutex
	var g errgroup.Group
	g.SetLimit(maxQueries)
	for key, e := range all {
		g.Go(func() error {
			says, err := e.try(ctx, w)
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			mu.Lock()
			defer mu.Unlock()
			out[key] = reached{says, err}
			return nil
		})
	}
	_ = g.Wait() // the functions return no error
	return out
}

// judge says what came of a block's endpoints.
func (b *block) judge(came map[string]reached) Trial {
	t := Trial{Block: b.what, Source: Source{Kind: b.kind}, Range: b.at}
	var fine, bad []string
	for i, e := range b.ends {
		if i == 0 {
			t.Source.Query = e.shown
		}
		if r := came[e.key]; r.err == nil {
			fine = append(fine, r.says)
		} else if bad = append(bad, r.err.Error()); len(bad) == 1 {
			t.Source.Query = e.shown
		}
	}
	if b.err != nil {
		bad = append(bad, clip(b.err.Error(), 300))
	}
	switch {
	case len(bad) > 0:
		t.Wrong, t.Broken = "Not within reach", len(fine) == 0
		t.Says = bad[0]
		if n := len(bad) + len(fine); n > 1 {
			t.Says += fmt.Sprintf(" (%d of %d are not within reach)", len(bad), n)
		}
		t.Mend = "The action cannot be carried out as things stand."
		if strings.HasPrefix(b.what, "fence") {
			t.Mend = "Where the fence cannot be raised, nothing that it protects is done."
		}
	case len(fine) == 0:
		t.Says = "not tried: there is no object to try it with"
	default:
		t.Says = fine[0]
		if n := len(fine); n > 1 {
			t.Says += fmt.Sprintf(" (likewise %d others)", n-1)
		}
	}
	if b.more {
		t.Says += fmt.Sprintf("; only the first %d instances were tried", maxTried)
	}
	return t
}
