package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/world"
)

// record ends the step in the store: the outcome, the beliefs, the journal's
// event, and the locks and marks that go, in one transaction. Where the lease
// was lost meanwhile, the outcome becomes unknown, in the event too.
func (g *guard) record(ctx context.Context, ev *Finished, bodies []journal.Blob) error {
	ctx, cancel := g.recording(ctx)
	defer cancel()
	was := g.held.Err()
	seen, err := json.Marshal(ev.Seen)
	if err != nil {
		return fmt.Errorf("encode what was seen: %w", err)
	}
	ops := g.believe(*ev)
	vals, more := g.values()
	ev.Values = vals
	entry, err := g.Journal.Ride(StepFinished, ev, append(more, bodies...)...)
	if err != nil {
		return g.unrecorded(err)
	}
	g.driveStill(ctx)
	outcome := lease.Outcome{Result: result(*ev), Seen: seen, Note: ev.Message}
	if err = g.held.Finish(ctx, outcome, append(ops, g.ride(entry)...)); err != nil {
		if changed := (*lease.ChangedError)(nil); was != nil && !errors.As(err, &changed) {
			err = was // What came after that says less.
		}
		return g.lost(ctx, ev, outcome, err)
	}
	if outcome.Result == lease.UnknownResult {
		g.doubt()
	}
	g.journalled()
	g.recorded(entry)
	return nil
}

// lost records the outcome of an action whose lease was lost: unknown, with
// what was seen. It stays in doubt until it is taken over, by this run or
// another; where another did so already, what it found out stands.
func (g *guard) lost(ctx context.Context, ev *Finished, outcome lease.Outcome, cause error) error {
	ev.Outcome, ev.Lost, outcome.Result = unknown, true, lease.UnknownResult
	said := strings.Replace(ev.Message, ": "+cause.Error(), "", 1) // What cut it off is told once.
	ev.Message = strings.TrimPrefix(said+"; ", "; ") + g.why(cause)
	ev.Values, ev.Output = Values{}, nil // The next observation tells them.
	var changed *lease.ChangedError
	if !errors.As(cause, &changed) {
		g.doubt()
		entry, err := g.Journal.Ride(StepFinished, ev)
		if err != nil {
			return g.unrecorded(err)
		}
		err = g.held.Unknown(ctx, outcome, append(g.believe(*ev), g.ride(entry)...)...)
		if err == nil {
			g.recorded(entry)
			return nil
		}
		if !errors.As(err, &changed) {
			g.mute = true
			g.held.Abandon()
			g.unwritten(entry)
			return fmt.Errorf("the outcome of %s could not be recorded, it stays in doubt: %s", g.ref.Action, g.why(cause))
		}
	}
	if changed.Intent.State == lease.StateDone {
		delete(g.inDoubt, g.ref.ActionID)
	} else {
		g.doubt()
	}
	return g.emit(ctx, StepFinished, ev)
}

// why says for people how a lease was lost while acting.
func (g *guard) why(cause error) string {
	var changed *lease.ChangedError
	switch {
	case errors.Is(cause, lease.ErrDeadline):
		return fmt.Sprintf("stopped at its own deadline, %s after the last renewal that etcd acknowledged", seconds(g.safe()))
	case !errors.As(cause, &changed):
		return cause.Error()
	}
	in := changed.Intent
	by, found := "somebody else", ""
	if out := in.Outcome; out != nil {
		by = out.By.String()
		found = ": " + strings.ReplaceAll(string(out.Result), "_", " ")
	} else if in.Taken != nil {
		by = in.Taken.Owner.String()
	}
	return "its lease ran out, and it was taken over by " + by + found
}

// result is the outcome as the lease's record knows it. Where the actuator has
// answered and its settle time is over, what is observed instead of the effects
// decides; where they cannot be seen, or it has not answered, the action stays
// in doubt.
func result(ev Finished) lease.Result {
	switch {
	case ev.Outcome == diverged && ev.Status == string(world.Done) && seenOtherwise(ev.Seen):
		return lease.NotApplied
	case ev.Outcome == applied, ev.Outcome == diverged && len(unseen(ev.Seen)) == 0:
		return lease.Applied
	case ev.Outcome == notApplied:
		return lease.NotApplied
	}
	return lease.UnknownResult
}

// seenOtherwise tells whether every effect that did not show was observed to be
// something else, rather than not observed.
func seenOtherwise(seen []Seen) bool {
	some := false
	for _, s := range seen {
		if s.Verified == "no" {
			some = true
			if s.Value == nil {
				return false
			}
		}
	}
	return some
}
