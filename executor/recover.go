package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/world"
)

// recoverFrom resolves actions in doubt that stand in the way of this step. A
// nil failure means that the way is free.
func (g *guard) recoverFrom(ctx context.Context, intents []lease.Intent) (*failure, error) {
	for _, in := range intents {
		if err := g.resolve(ctx, g.owner(), in); err != nil {
			f := &failure{
				kind: "in_doubt", escalate: "in_doubt",
				reason: fmt.Sprintf("%s is in doubt and could not be resolved: %v", in.Owner.Action, err),
			}
			return g.refuse(ctx, f, nil, 0)
		}
	}
	return nil, nil
}

// settleDoubts resolves what this run itself left in doubt, so that a reached
// goal leaves nothing behind that would stop others. What cannot be resolved
// now stays, and is named at the end of the run.
func (r *run) settleDoubts(ctx context.Context) {
	if len(r.inDoubt) == 0 {
		return
	}
	ctx, cancel := r.patience(ctx)
	defer cancel()
	intents, err := r.Locker.Intents(ctx)
	if err != nil {
		return // They stay named as in doubt.
	}
	for _, in := range intents {
		if _, ours := r.inDoubt[in.ID]; ours {
			_ = r.resolve(ctx, lease.Owner{Run: r.Journal.ID(), Action: in.Owner.Action}, in)
		}
	}
}

// resolve takes an action in doubt over, raises the fence so that nothing late
// can land, observes, and records what is seen. Nothing is ever replayed.
func (r *run) resolve(ctx context.Context, owner lease.Owner, in lease.Intent) error {
	ground, err := r.intended(in)
	if err != nil {
		return err
	}
	if in.Unfenced { // It may still land: nothing but time tells.
		if err := sleep(ctx, in.Timeout); err != nil {
			return err
		}
	}
	held, err := r.Locker.TakeOver(ctx, owner, in)
	var busy *lease.BusyError
	var changed *lease.ChangedError
	switch {
	case errors.As(err, &busy), errors.As(err, &changed):
		return nil // Somebody else is at it.
	case err != nil:
		return err
	}
	if err := r.resolveHeld(ctx, held, ground, in); err != nil {
		_ = held.Release(context.WithoutCancel(ctx)) // The marks stay; the locks expire.
		return err
	}
	delete(r.inDoubt, in.ID)
	return nil
}

func (r *run) resolveHeld(ctx context.Context, held *lease.Held, ground model.Ground, in lease.Intent) error {
	ctx, cancel := held.Context(ctx)
	defer cancel()
	fence := world.Fence{Token: held.Fence(), Run: r.Journal.ID(), ActionID: in.ID}
	for _, res := range resources(r.u, ground) {
		fence.Resources = append(fence.Resources, res.String())
	}
	if err := r.Actuator.Raise(ctx, r.u, ground, fence); err != nil {
		return fmt.Errorf("raise the fence: %w", err)
	}
	fp := ground.Footprint(r.u)
	r.merge(r.Observer.Observe(ctx, r.u, observable(append(fp.Read, fp.Write...)), r.Now()))
	out, seen := r.verdict(ground)
	if out == lease.UnknownResult {
		return errors.New("what it writes cannot be observed now; look, then start again")
	}
	raw, err := json.Marshal(seen)
	if err != nil {
		return fmt.Errorf("encode what was seen: %w", err)
	}
	entry, err := r.Journal.Ride(DoubtResolved, Resolved{
		ActionID: in.ID, Action: r.u.StepText(ground), Run: in.Owner.Run, Fence: held.Fence(), Outcome: string(out), Seen: seen,
	})
	if err != nil {
		return err
	}
	if err := held.Resolve(ctx, lease.Outcome{Result: out, Seen: raw}, entry.Ops()); err != nil {
		return err
	}
	r.recorded(entry)
	return nil
}

// verdict tells from the observed state whether the action took effect: applied
// where all its effects hold, not applied otherwise, unknown where one of them
// cannot be seen.
func (r *run) verdict(ground model.Ground) (lease.Result, []Fact) {
	d := &model.Delta{}
	if fault := ground.Effects(r.state, d); fault != nil {
		return lease.UnknownResult, nil
	}
	var seen []Fact
	out := lease.Applied
	for _, w := range d.Writes {
		if w.Fluent.Initial != nil {
			continue
		}
		seen = append(seen, r.fact(r.atom(w), r.Now()))
		switch {
		case !w.Old.Known() || !w.New.Known():
			return lease.UnknownResult, seen
		case w.Changed():
			out = lease.NotApplied
		}
	}
	if len(seen) == 0 {
		return lease.UnknownResult, nil
	}
	return out, seen
}

// intended reads the action back from its record.
func (r *run) intended(in lease.Intent) (model.Ground, error) {
	var st model.Step
	if err := json.Unmarshal(in.Data, &st); err != nil {
		return model.Ground{}, fmt.Errorf("its record does not say what it was: %w", err)
	}
	ground, fault := r.u.Bind(st, nil)
	if fault != nil {
		return model.Ground{}, errors.New("the model no longer has it: " + fault.Message)
	}
	return ground, nil
}

// sleep waits, or returns early with the context's cause.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
