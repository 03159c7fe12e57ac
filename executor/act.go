package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/policy"
	"github.com/fettleops/fettle/world"
)

// The outcomes of an action, by observation.
const (
	applied    = "applied"
	notApplied = "not_applied"
	diverged   = "diverged" // the actuator and the observation disagree
	unknown    = "unknown"
)

// actAndFinish performs the armed action, looks for its effects and records
// what came of it.
func (g *guard) actAndFinish(ctx context.Context) (*failure, error) {
	g.actions++
	g.progress.Acted()
	out := g.act(ctx)
	g.lastActed = out.Ended
	seen, all := g.confirm(ctx, out)
	outcome := judge(out.Status, all, seen)
	ev := Finished{
		StepRef: g.ref, Fence: g.held.Fence(), Outcome: outcome, Status: string(out.Status), Message: out.Message,
		Seen: seen, ActMS: ms(out.Ended.Sub(out.Started)), MS: ms(g.Now().Sub(g.began)),
	}
	if out.Status != world.Done {
		ev.Tail = tail(out.Output)
	}
	var blobs []journal.Blob
	if len(out.Output) > 0 {
		b := journal.NewBlob(out.Output)
		ev.Output, ev.Cut = &b.Ref, out.Cut || b.Ref.Cut
		blobs = append(blobs, b)
	}
	if err := g.record(ctx, ev, blobs); err != nil {
		return nil, err
	}
	if outcome == applied {
		g.progress.Confirmed(g.ref.Action)
		return nil, nil
	}
	return &failure{
		kind: outcome, action: g.ref.Action, key: policy.NewFailureKey(outcome, g.ref.Action, unseen(seen)...), reason: describe(ev), acted: true,
		infra: out.Status == world.InDoubt,
	}, nil
}

func (g *guard) act(ctx context.Context) world.Outcome {
	ctx, cancel := context.WithTimeout(ctx, g.set.Timeout)
	defer cancel()
	call := world.Call{
		Ground: g.ground, Run: g.Journal.ID(), Step: g.ref.Step, ActionID: g.ref.ActionID, Fence: g.held.Fence(),
	}
	for _, w := range g.writes {
		call.Writes = append(call.Writes, g.u.RefText(w))
	}
	return g.Actuator.Act(ctx, g.u, call)
}

// confirm observes the written fluents, with samples taken after the action
// ended, until they have their declared values or the settle time is over. One
// look suffices where the actuator said that it did nothing.
func (g *guard) confirm(ctx context.Context, out world.Outcome) (seen []Seen, all bool) {
	refs, want := g.expectations()
	if len(refs) == 0 {
		return g.assumed(out), out.Status == world.Done
	}
	ctx, cancel := context.WithTimeout(ctx, g.set.Settle)
	defer cancel()
	for {
		readings := g.Observer.Observe(ctx, g.u, refs, out.Ended)
		if ctx.Err() == nil || len(seen) == 0 {
			g.merge(readings)
			seen, all = g.compare(readings, want, out.Ended)
		}
		if all || out.Status == world.Failed || out.Status == world.Rejected || !g.pause(ctx) {
			return append(seen, g.assumed(out)...), all
		}
	}
}

// pause waits for the next look; false when the settle time is over.
func (g *guard) pause(ctx context.Context) bool {
	t := time.NewTimer(g.set.Interval)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// expectations returns the observable atoms that should have a known value now.
func (g *guard) expectations() (refs []model.Ref, want map[string]model.Value) {
	want = map[string]model.Value{}
	for _, w := range g.expected {
		if w.Fluent.Initial != nil || !w.New.Known() {
			continue
		}
		ref := model.Ref{Fluent: w.Fluent, Args: g.u.Args(w.Fluent, w.Index)}
		refs = append(refs, ref)
		want[g.u.RefText(ref)] = w.New
	}
	return refs, want
}

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
			Fluent: text, Want: g.json(rd.Atom.Fluent, w), Value: g.json(rd.Atom.Fluent, rd.Value), Verified: "observed",
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
		if w.Fluent.Initial == nil {
			continue
		}
		s := Seen{Fluent: g.u.Text(g.atom(w)), Want: g.json(w.Fluent, w.New), Verified: "assumed"}
		if out.Status == world.Done {
			s.Value = s.Want
		}
		seen = append(seen, s)
	}
	return seen
}

func (v *view) atom(w model.Write) model.Atom {
	return model.Atom{Fluent: w.Fluent, Args: v.u.Args(w.Fluent, w.Index)}
}

// judge joins what the actuator said with what was seen.
func judge(s world.Status, all bool, seen []Seen) string {
	observed := false
	for _, e := range seen {
		observed = observed || e.Verified != "assumed"
	}
	switch {
	case s == world.Done && all:
		return applied
	case s == world.Rejected:
		return notApplied
	case s == world.Done, all && observed:
		return diverged
	case s == world.Failed:
		return notApplied
	}
	return unknown
}

// record ends the step in the store: the outcome, the beliefs, the journal's
// event, and the locks and marks that go, in one transaction. Where the lease
// was lost meanwhile, the outcome is recorded as unknown and the marks stay.
func (g *guard) record(ctx context.Context, ev Finished, blobs []journal.Blob) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	seen, err := json.Marshal(ev.Seen)
	if err != nil {
		return fmt.Errorf("encode what was seen: %w", err)
	}
	entry, err := g.Journal.Ride(StepFinished, ev, blobs...)
	if err != nil {
		return err
	}
	outcome := lease.Outcome{Result: result(ev.Outcome), Seen: seen, Note: ev.Message}
	if ev.Outcome == diverged && len(unseen(ev.Seen)) == 0 {
		outcome.Result = lease.Applied
	}
	err = g.held.Finish(ctx, outcome, append(g.believe(ev), entry.Ops()...))
	if err == nil {
		g.recorded(entry)
		return nil
	}
	return g.lost(ctx, ev, outcome, err)
}

// recordTimeout bounds the recording of an outcome.
const recordTimeout = 20 * time.Second

// lost records the outcome of an action whose lease was lost: unknown, with
// what was seen. It stays in doubt until somebody takes it over.
func (g *guard) lost(ctx context.Context, ev Finished, outcome lease.Outcome, cause error) error {
	g.inDoubt[g.ref.ActionID] = g.ref.Action
	ev.Outcome, outcome.Result = unknown, lease.UnknownResult
	ev.Message = strings.TrimPrefix(ev.Message+"; ", "; ") + cause.Error()
	entry, err := g.Journal.Ride(StepFinished, ev)
	if err != nil {
		return err
	}
	if err := g.held.Unknown(ctx, outcome, append(g.believe(ev), entry.Ops()...)...); err != nil {
		return fmt.Errorf("the outcome of %s could not be recorded, it stays in doubt: %w", g.ref.Action, errors.Join(cause, err))
	}
	g.recorded(entry)
	return nil
}

// believe updates the beliefs that the action writes: known after an applied
// action, untouched where nothing was done, unknown otherwise.
func (g *guard) believe(ev Finished) []clientv3.Op {
	if ev.Status == string(world.Rejected) {
		return nil
	}
	var ops []clientv3.Op
	for _, w := range g.expected {
		if w.Fluent.Initial == nil {
			continue
		}
		v := w.New
		if ev.Outcome != applied {
			v = model.Value{}
		}
		a := g.atom(w)
		g.state.Set(a, v)
		ops = append(ops, g.Beliefs.Put(g.u.Text(a), g.json(w.Fluent, v)))
	}
	return ops
}

func result(outcome string) lease.Result {
	switch outcome {
	case applied:
		return lease.Applied
	case notApplied:
		return lease.NotApplied
	}
	return lease.UnknownResult
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

// describe says in one sentence what went wrong with an action.
func describe(ev Finished) string {
	said := ev.Message
	if said == "" {
		said = ev.Status
	}
	switch {
	case ev.Outcome == diverged && ev.Status == string(world.Done):
		return fmt.Sprintf("%s said it was done, but %s was not seen", ev.Action, strings.Join(unseen(ev.Seen), ", "))
	case ev.Outcome == diverged:
		return fmt.Sprintf("%s failed (%s), though its effects were seen", ev.Action, said)
	case ev.Status == string(world.Rejected):
		return fmt.Sprintf("%s was refused by the actuator: %s", ev.Action, said)
	case ev.Outcome == unknown:
		return fmt.Sprintf("whether %s took effect is unknown: %s", ev.Action, said)
	}
	return fmt.Sprintf("%s failed: %s", ev.Action, said)
}

// tail returns the last lines of an output.
func tail(out []byte) string {
	lines := strings.Split(strings.TrimRight(string(out), "\n"), "\n")
	if len(lines) > tailLines {
		lines = lines[len(lines)-tailLines:]
	}
	return strings.Join(lines, "\n")
}

const tailLines = 10
