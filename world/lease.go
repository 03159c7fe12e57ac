package world

import (
	"context"
	"time"

	"github.com/expr-lang/expr/types"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// leaseKind observes, takes and gives back leases that live across steps,
// under a name. They are kept in the store of the run, see [World.UseLeases].
//
// A lease offers held, mine (held by this run), for (what the holder took it
// for, "" where it did not say), holder and since (RFC 3339), both "" where
// nobody holds it. Only the store grants it, and the store itself refuses a
// late act, so that the kind is fenced and has no fence block.
func leaseKind() kind {
	return kind{
		name:       "lease",
		attributes: []hcl.AttributeSchema{{Name: "value", Required: true}, {Name: "name", Required: true}},
		observe:    func(d *decoder) asker { return &leaseObserve{d.lease("name")} },
		answers: types.Map{
			"held": types.Bool, "mine": types.Bool, "for": types.String, "holder": types.String, "since": types.String,
		},
		runAttributes: []hcl.AttributeSchema{{Name: "acquire"}, {Name: "for"}, {Name: "release"}},
		run:           func(d *decoder) actuator { return decodeLeaseRun(d) },
		fenced:        true,
	}
}

type leaseObserve struct{ name hcl.Expression }

func (o *leaseObserve) expressions() []hcl.Expression { return []hcl.Expression{o.name} }

func (o *leaseObserve) query(g *ground) (query, error) {
	name, err := g.lease(o.name)
	if err != nil {
		return nil, err
	}
	return leaseQuery(name), nil
}

// leaseQuery asks who holds the lease of that name.
type leaseQuery string

func (q leaseQuery) key() string { return "lease " + string(q) }

func (q leaseQuery) source() Source { return Source{Kind: "lease", Query: string(q)} }

func (q leaseQuery) ask(ctx context.Context, w *World) answer {
	a := answer{sampled: time.Now()}
	if w.leases == nil {
		a.err = noLeases
		return a
	}
	ctx, cancel := context.WithTimeout(ctx, defaultAskTime)
	defer cancel()
	s, err := w.leases.State(ctx, string(q))
	if err != nil {
		a.err = err.Error()
		return a
	}
	a.env = map[string]any{"held": s.Held, "mine": s.Mine, "for": s.For, "holder": s.Holder, "since": ""}
	if !s.Since.IsZero() {
		a.env["since"] = s.Since.UTC().Format(time.RFC3339)
	}
	a.note = s.String()
	return a
}

// leaseRun acquires a lease, or releases one where acquire is nil.
type leaseRun struct{ acquire, what, release hcl.Expression }

func decodeLeaseRun(d *decoder) *leaseRun {
	r := &leaseRun{d.lease("acquire"), d.expr("for", cty.String), d.lease("release")}
	switch {
	case d.has("acquire") && d.has("release"):
		d.errorf(d.attrs["release"].NameRange, "Acquire and release", "The %s either acquires a lease or releases one. Make it two actions.", d.what)
	case !d.has("acquire") && !d.has("release"):
		d.errorf(d.rng, "Neither acquire nor release", "The %s must say which lease it acquires or releases, as in acquire = \"deploy\".", d.what)
	case d.has("for") && d.has("release"):
		d.errorf(d.attrs["for"].NameRange, "Unsuitable attribute", "The %s releases a lease; for belongs to the one that acquires it.", d.what)
	}
	return r
}

// act takes the lease or gives it back. It never waits: one that somebody else
// holds is a failure, which says who does.
func (r *leaseRun) act(ctx context.Context, w *World, g *ground, c Call) (Outcome, int) {
	if w.leases == nil {
		return Outcome{Status: Failed, Message: "not started: " + noLeases}, 0
	}
	if r.acquire == nil {
		name, err := g.lease(r.release)
		if err != nil {
			return notStarted(err), 0
		}
		return leaseOutcome(w.leases.Release(ctx, name, c), "released "+name), 0
	}
	name, err := g.lease(r.acquire)
	if err != nil {
		return notStarted(err), 0
	}
	what, err := g.text(r.what)
	if err != nil {
		return notStarted(err), 0
	}
	done := "acquired " + name
	if what != "" {
		done += " for " + what
	}
	return leaseOutcome(w.leases.Acquire(ctx, name, what, c), done), 0
}

func notStarted(err error) Outcome {
	return Outcome{Status: Failed, Message: "not started: " + clip(err.Error(), 300)}
}
