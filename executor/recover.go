package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/model"
)

// recoverFrom resolves actions in doubt that stand in the way of this step. A
// nil failure means that they are resolved, or that somebody else is at it.
func (g *guard) recoverFrom(ctx context.Context, intents []lease.Intent) (*failure, error) {
	bctx, cancel := g.bounded(ctx)
	defer cancel()
	g.elsewhere = false
	for _, in := range intents {
		done, err := g.resolve(ctx, bctx, g.owner(), in)
		if err == nil && !done {
			g.elsewhere = true
			err = g.breathe(bctx, g.want)
		}
		g.settled = append(g.settled, in)
		if err == nil {
			continue
		}
		if g.mute {
			return nil, err
		}
		return g.unresolved(ctx, in, err), nil
	}
	return nil, nil
}

// unresolved says what an action that stays in doubt means for this step.
func (g *guard) unresolved(ctx context.Context, in lease.Intent, err error) *failure {
	if end := g.cut(ctx, in.Owner.Action+" was in doubt"); end != nil {
		return &failure{kind: "stopped", reason: end.Message, end: end}
	}
	f := &failure{kind: "in_doubt", reason: fmt.Sprintf("%s is in doubt and could not be resolved: %v", in.Owner.Action, err)}
	var retry *lease.RetryableError
	var lost *lease.LostError
	if errors.As(err, &retry) || errors.As(err, &lost) {
		f.infra = true
		return f
	}
	g.inDoubt[in.ID] = in.Owner.Action
	f.end = &Ended{Status: Escalated, Reason: "in_doubt", Message: f.reason}
	return f
}

// doubts are the ids of the actions in doubt that the run knows of, in order.
func (r *run) doubts() []string { return slices.Sorted(maps.Keys(r.inDoubt)) }

// settleDoubts takes over from itself what this run left in doubt, so that the
// next round starts from what is observed with nothing late to land. What
// cannot be resolved now stays, and is named at the end of the run. The error
// is that of the journal.
func (r *run) settleDoubts(ctx context.Context) error {
	if len(r.inDoubt) == 0 || r.stopped(ctx) {
		return nil
	}
	pctx, cancel := r.patience(ctx)
	defer cancel()
	for _, id := range r.doubts() {
		if err := r.settle(ctx, pctx, id); r.mute {
			return err
		}
	}
	return nil
}

func (r *run) settle(ctx, pctx context.Context, id string) error {
	wctx, cancel := r.bounded(ctx) // An unfenced action is waited for whatever the patience with others is.
	defer cancel()
	for {
		in, ok, err := r.Locker.Intent(pctx, id)
		if err != nil {
			return err
		}
		if !ok || in.State == lease.StateDone {
			delete(r.inDoubt, id)
			return r.saidSo(ctx, in)
		}
		done, err := r.resolve(ctx, wctx, lease.Owner{Run: r.Journal.ID(), Step: in.Owner.Step, Action: in.Owner.Action}, in)
		if done || err != nil {
			return err
		}
		if in.Owner.Run == r.Journal.ID() {
			pctx = wctx // Its own locks, which expire.
		}
		if err := r.breathe(pctx, in.Marks); err != nil {
			return err
		}
	}
}

// underway tells whether somebody still has locks of the action: it is not in
// doubt then, and the wait for what it may do has not begun.
func (r *run) underway(ctx context.Context, in lease.Intent) (bool, error) {
	holders, err := r.Locker.Holders(ctx, in.Marks)
	return len(holders) > 0, err
}

// resolve takes an action in doubt over, raises the fence so that nothing late
// can land, observes, and records what is seen. Nothing is ever replayed. False
// without an error means that somebody else is at it. Waiting ends with wctx.
func (r *run) resolve(ctx, wctx context.Context, owner lease.Owner, in lease.Intent) (bool, error) {
	ground, expect, err := pledged(r.u, in)
	if err != nil {
		return false, err
	}
	if in.Unfenced && !lease.Without(lease.DoubtWait) { // It may still land: nothing but time tells.
		if busy, err := r.underway(wctx, in); busy || err != nil {
			return false, err
		}
		ref := StepRef{Round: r.round, Step: owner.Step, Action: owner.Action, ActionID: in.ID}
		why := fmt.Sprintf("%s of run %s is in doubt and its actuator keeps no fence: it may take effect for another %s", in.Owner.Action, in.Owner.Run, seconds(in.Timeout))
		if err := r.emit(ctx, StepWaiting, Waiting{StepRef: ref, Busy: why}); err != nil {
			return false, err
		}
		if err := pause(wctx, in.Timeout); err != nil {
			return false, err
		}
	}
	held, err := r.Locker.TakeOver(wctx, owner, in)
	since := r.Now()
	var busy *lease.BusyError
	var changed *lease.ChangedError
	switch {
	case errors.As(err, &busy), errors.As(err, &changed):
		return false, nil
	case err != nil:
		return false, err
	}
	if err := r.resolveHeld(ctx, held, since, ground, expect, in); err != nil {
		_ = held.Release(context.WithoutCancel(ctx)) // The marks stay; the locks expire.
		return false, err
	}
	delete(r.inDoubt, in.ID)
	return true, nil
}

func (r *run) resolveHeld(ctx context.Context, held *lease.Held, since time.Time, ground model.Ground, expect *expectation, in lease.Intent) error {
	lctx, cancel := held.Context(ctx)
	defer cancel()
	if err := r.raiseAt(lctx, ground, r.fence(held, in.ID, resources(r.u, ground))); err != nil {
		return fmt.Errorf("raise the fence: %w", err)
	}
	fp := ground.Footprint(r.u)
	r.merge(r.confirming(lctx, r.Settings[ground.Action], observable(append(fp.Read, fp.Write...))))
	out, seen := r.verdict(expect)
	if out == lease.UnknownResult {
		return errors.New("what it writes cannot be observed now; look, then start again")
	}
	raw, err := json.Marshal(seen)
	if err != nil {
		return fmt.Errorf("encode what was seen: %w", err)
	}
	vals, blobs := r.values()
	entry, err := r.Journal.Ride(DoubtResolved, Resolved{
		Values: vals, ActionID: in.ID, Action: r.u.StepText(ground), Run: in.Owner.Run, Fence: held.Fence(), Outcome: string(out), Seen: seen,
		HeldMS: ms(r.Now().Sub(since)),
	}, blobs...)
	if err != nil {
		return r.unrecorded(err)
	}
	rctx, end := r.recording(ctx)
	defer end()
	if err := held.Resolve(rctx, lease.Outcome{Result: out, Seen: raw}, append(r.Beliefs.after(r.u, in, out, expect), r.ride(entry)...)); err != nil {
		return err
	}
	r.journalled()
	r.recorded(entry)
	r.outcome(in.ID, string(out))
	return nil
}

// verdict tells from the observed state whether the action took effect: applied
// where everything is as was expected, not applied otherwise, unknown where
// something cannot be seen.
func (r *run) verdict(expect *expectation) (lease.Result, []Fact) {
	var seen []Fact
	out := lease.Applied
	for _, a := range expect.atoms {
		if isBelief(a.Fluent) {
			continue
		}
		seen = append(seen, r.fact(a, r.Now()))
		switch v := r.state.Get(a); {
		case !v.Known():
			return lease.UnknownResult, seen
		case v != expect.state.Get(a):
			out = lease.NotApplied
		}
	}
	if len(seen) == 0 {
		return lease.UnknownResult, nil
	}
	return out, seen
}
