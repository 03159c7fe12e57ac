package executor

import (
	"context"
	"time"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/world"
)

// confirm observes the written fluents, with samples taken after the action
// ended, until they have their declared values or the settle time is over. One
// look suffices where the actuator said that it failed: a late effect is met by
// the next observation.
func (g *guard) confirm(ctx context.Context, out world.Outcome) (seen []Seen, all bool) {
	refs, want := g.expectations()
	if len(refs) == 0 {
		return g.assumed(out), out.Status == world.Done
	}
	ctx, cancel := context.WithTimeout(ctx, g.set.Settle)
	defer cancel()
	for {
		readings := g.Observer.Confirm(ctx, g.u, refs, out.Ended)
		if ctx.Err() != nil {
			readings = cutOff(readings)
		}
		if ctx.Err() == nil || len(seen) == 0 { // A look that was cut tells less than the one before.
			g.merge(readings)
			before := seen
			seen, all = g.compare(readings, want, out.Ended)
			sinceFirst(seen, before)
		}
		if all || out.Status == world.Failed || out.Status == world.Rejected || pause(ctx, g.set.Interval) != nil {
			return append(seen, g.assumed(out)...), all
		}
	}
}

// sinceFirst gives effects that were seen by the look before, too, its time: how
// long others kept it waiting tells nothing of an effect.
func sinceFirst(seen, before []Seen) {
	after := map[string]float64{}
	for _, s := range before {
		if s.Verified == "observed" {
			after[s.Fluent] = s.AfterS
		}
	}
	for i := range seen {
		if s, ok := after[seen[i].Fluent]; ok && seen[i].Verified == "observed" {
			seen[i].AfterS = s
		}
	}
}

// cutOff says of what is unknown that it was not looked at to the end.
func cutOff(readings []world.Reading) []world.Reading {
	for i := range readings {
		if rd := &readings[i]; !rd.Value.Known() {
			rd.Err = "it could not be looked at any more"
		}
	}
	return readings
}

// pause waits, or returns early with the context's cause.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// expectations returns the observable atoms that should have a known value now.
func (g *guard) expectations() (refs []model.Ref, want map[string]model.Value) {
	want = map[string]model.Value{}
	for _, w := range g.expected {
		if isBelief(w.Fluent) || !w.New.Known() {
			continue
		}
		a := g.atom(w)
		refs = append(refs, model.Ref(a))
		want[g.u.Text(a)] = w.New
	}
	return refs, want
}

// compare tells which effects are seen. Everything that is expected must be.
func (g *guard) compare(readings []world.Reading, want map[string]model.Value, ended time.Time) ([]Seen, bool) {
	var seen []Seen
	all := true
	for _, rd := range readings {
		text := g.u.Text(rd.Atom)
		w, ok := want[text]
		if !ok {
			continue
		}
		s := Seen{
			Fluent: text, Want: g.u.Plain(rd.Atom.Fluent, w), Value: g.u.Plain(rd.Atom.Fluent, rd.Value), Verified: "observed",
			Source: rd.Source.Query, Error: rd.Err, AfterS: max(0, rd.Sampled.Sub(ended).Seconds()),
		}
		if rd.Value != w {
			s.Verified, s.AfterS, all = "no", 0, false
		}
		seen = append(seen, s)
	}
	return seen, all && len(seen) == len(want)
}

// assumed lists the effects on beliefs, which nothing can observe.
func (g *guard) assumed(out world.Outcome) []Seen {
	var seen []Seen
	for _, w := range g.expected {
		if !isBelief(w.Fluent) {
			continue
		}
		s := Seen{Fluent: g.u.Text(g.atom(w)), Want: g.u.Plain(w.Fluent, w.New), Verified: "assumed"}
		if out.Status == world.Done {
			s.Value = s.Want
		}
		seen = append(seen, s)
	}
	return seen
}

// unseen lists the effects that were not seen.
func unseen(seen []Seen) []string {
	var out []string
	for _, s := range seen {
		if s.Verified == "no" {
			out = append(out, s.Fluent)
		}
	}
	return out
}

func (v *view) atom(w model.Write) model.Atom {
	return model.Atom{Fluent: w.Fluent, Args: v.u.Args(w.Fluent, w.Index)}
}
