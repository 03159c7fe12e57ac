package executor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/lease"
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
	lease.Point("acted")
	g.lastActed = out.Ended
	seen, all := g.confirm(ctx, out)
	lease.Point("confirmed")
	ev := Finished{
		StepRef: g.ref, Fence: g.held.Fence(), Outcome: judge(out.Status, seen, all, ctx.Err() != nil),
		Status: string(out.Status), Message: out.Message,
		Seen: seen, ActMS: ms(out.Ended.Sub(out.Started)), HeldMS: ms(g.Now().Sub(g.since)), MS: ms(g.Now().Sub(g.began)),
	}
	if out.Status != world.Done {
		ev.Tail = tail(out.Output)
	}
	var bodies []journal.Blob
	if len(out.Output) > 0 {
		b := journal.NewBlob(out.Output)
		ev.Output, ev.Cut = &b.Ref, out.Cut || b.Ref.Cut
		bodies = append(bodies, b)
	}
	if err := g.record(ctx, &ev, bodies); err != nil {
		return nil, err
	}
	g.outcome(g.ref.ActionID, ev.Outcome)
	lease.Point("finished")
	if ev.Outcome == applied {
		g.progress.Confirmed(g.ref.Action)
		return nil, nil
	}
	return &failure{
		kind: ev.Outcome, action: g.ref.Action, key: policy.NewFailureKey(ev.Outcome, g.ref.Action, unseen(seen)...),
		reason: describe(ev), spent: true, infra: out.Status == world.InDoubt || ev.Outcome == unknown,
	}, nil
}

// actGrace is how much longer than an action's time-out an actuator gets to
// stop by itself, a process group to be killed and its output to be read.
const actGrace = 2 * time.Second

func (g *guard) act(ctx context.Context) world.Outcome {
	ctx, cancel := context.WithTimeout(ctx, g.set.Timeout+actGrace)
	defer cancel()
	call := world.Call{
		Ground: g.ground, Run: g.Journal.ID(), Step: g.ref.Step, ActionID: g.ref.ActionID, Fence: g.held.Fence(),
		Armed: g.held.Intent().Revision,
	}
	if lease.Without(lease.Fencing) {
		call.Fence = 0
	}
	for _, w := range g.writes {
		call.Writes = append(call.Writes, g.u.RefText(w))
	}
	return g.Actuator.Act(ctx, g.u, call)
}

// judge joins what the actuator said with what was seen. Where the look was
// cut, or could not see, what was not seen tells nothing.
func judge(s world.Status, seen []Seen, all, cut bool) string {
	observed, blind := false, cut
	for _, e := range seen {
		observed = observed || e.Verified != "assumed"
		blind = blind || e.Verified == "no" && e.Value == nil
	}
	switch {
	case s == world.Done && all:
		return applied
	case s == world.Rejected:
		return notApplied
	case all && observed:
		return diverged
	case s == world.Done && !cut:
		return diverged
	case blind, s != world.Failed:
		return unknown
	}
	return notApplied
}

// describe says in one sentence what went wrong with an action.
func describe(ev Finished) string {
	said := ev.Message
	if said == "" {
		said = ev.Status
	}
	switch {
	case ev.Outcome == unknown:
		return fmt.Sprintf("whether %s took effect is unknown: %s", ev.Action, said)
	case ev.Outcome == diverged && ev.Status == string(world.Done):
		return fmt.Sprintf("%s said it was done, but %s was not seen", ev.Action, strings.Join(unseen(ev.Seen), ", "))
	case ev.Outcome == diverged:
		return fmt.Sprintf("%s failed (%s), though its effects were seen", ev.Action, said)
	case ev.Status == string(world.Rejected):
		return fmt.Sprintf("%s was refused by the actuator: %s", ev.Action, said)
	}
	return fmt.Sprintf("%s failed: %s", ev.Action, said)
}

// tail returns the last lines of an output.
func tail(out []byte) string {
	lines := strings.Split(strings.TrimRight(strings.ToValidUTF8(string(out), "\uFFFD"), "\n"), "\n")
	if len(lines) > tailLines {
		lines = lines[len(lines)-tailLines:]
	}
	text := strings.Join(lines, "\n")
	if len(text) > tailBytes {
		text = "…" + strings.ToValidUTF8(text[len(text)-tailBytes:], "")
	}
	return text
}

// An event shows so much of an output; the body has the rest.
const (
	tailLines = 10
	tailBytes = 4 << 10
)
