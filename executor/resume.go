package executor

import (
	"context"
	"fmt"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/lease"
)

// Resume goes on with a run that waits, or whose process ended without a word.
// What it had used, tried and learned counts on, the time it was not driven
// does not, and what its former process left in doubt is taken over first.
// Nothing of what that one observed is relied on, and no approval stands where
// the model has changed.
//
// It returns a *lease.OwnedError where another process drives the run, and
// otherwise what Run returns.
func Resume(ctx context.Context, c Config, j *journal.Journal, id string) (Ended, error) {
	if _, err := resumable(ctx, c, j, id); err != nil {
		return Ended{}, err
	}
	r := newRun(c)
	if err := r.claim(ctx, id); err != nil {
		return Ended{}, err
	}
	defer r.leave(ctx)
	head, err := resumable(ctx, c, j, id) // It may have ended meanwhile.
	if err != nil {
		return Ended{}, err
	}
	if r.Journal, err = j.Resume(ctx, id); err != nil {
		return Ended{}, err
	}
	r.Journal.Redact(c.Secrets...)
	r.Journal.RedactBy(hiding(c.Redact))
	if err := r.restore(ctx, j); err != nil {
		return Ended{}, fmt.Errorf("restore run %s from its journal: %w", id, err)
	}
	r.watch(ctx)
	if err := r.reopen(ctx, head); err != nil {
		return Ended{}, err
	}
	if err := r.awaitFormer(ctx); r.mute {
		return Ended{}, err // Another error ends the wait; the loop meets what is behind it.
	}
	return r.drive(ctx)
}

// resumable reads the head of a run that can be gone on with.
func resumable(ctx context.Context, c Config, j *journal.Journal, id string) (Head, error) {
	h, err := readHead(ctx, j, id)
	switch {
	case err != nil:
		return h, err
	case h.over():
		return h, fmt.Errorf("run %s has ended: %s; start a new run", id, h.ending())
	case h.Goal != c.GoalName:
		return h, fmt.Errorf("run %s is for the goal %s, not for %s", id, h.Goal, c.GoalName)
	}
	return h, nil
}

// takeBack takes back what is the run's: its actions in doubt, and the leases
// that it holds by name.
func (r *run) takeBack(ctx context.Context) ([]*lease.Named, error) {
	intents, err := r.Locker.Intents(ctx)
	if err != nil {
		return nil, err
	}
	for _, in := range intents {
		if in.Owner.Run == r.Journal.ID() {
			r.inDoubt[in.ID] = in.Owner.Action
		}
	}
	return r.Locker.Adopt(ctx, r.Journal.ID())
}

// reopen records that the run is gone on with, and takes back what is the run's.
func (r *run) reopen(ctx context.Context, head Head) error {
	names, err := r.takeBack(ctx)
	if err != nil {
		return err
	}
	ev := Resumed{
		By: r.By, ModelHash: r.ModelHash, Version: r.Version, Was: head.Status, Changed: r.changed,
		UsedS: r.Now().Sub(r.started).Seconds(), InDoubt: r.doubts(), Adopted: namesOf(names),
		Plan: r.PlanFile.given(),
	}
	ev.Host, ev.PID = identity()
	blobs := r.PlanFile.blobs()
	if r.changed {
		var model []journal.Blob
		ev.Model, model = r.Recorded.record(r.Journal.WithoutSecrets)
		blobs = append(blobs, model...)
	}
	if err := r.emit(ctx, RunResumed, ev, blobs...); err != nil {
		return err
	}
	r.hands++
	h := NewHead(r.GoalName, r.Scope, ev.Host, ev.PID)
	h.Rounds, h.Actions = r.round, r.actions
	return r.Journal.SetHead(ctx, h)
}
