package executor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/lease"
)

// driver is the right of this process to drive the run, and what may end it
// from outside: a cancellation, or the loss of that right.
type driver struct {
	owner *lease.RunOwner
	lost  bool            // The right was lost: nothing more is begun until it is regained.
	gone  bool            // Another process has the run: nothing more is written of it here.
	who   string          // That process, and since when, as far as is known.
	rode  []journal.Entry // The last events that were told of.
	hands int             // How often the journal says that the run was gone on with, or ended.

	wanted atomic.Pointer[Cancellation] // Somebody cancelled the run.
	halt   chan struct{}                // Closed once wanted is set.
	quit   func()                       // Ends the watch for a cancellation.
}

// claim makes this process the one that drives the run.
func (r *run) claim(ctx context.Context, id string) error {
	owner, err := r.Locker.ClaimRun(ctx, id, lease.Owner{Reason: "goal " + r.GoalName})
	if err != nil {
		return fmt.Errorf("drive run %s: %w", id, err)
	}
	r.owner = owner
	return nil
}

// watch looks out for a cancellation until the run is over.
func (r *run) watch(ctx context.Context) {
	r.halt = make(chan struct{})
	wctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	wg.Go(func() {
		if c := awaitCancellation(wctx, r.Beliefs.Client, r.Locker.Keys(), r.Journal.ID()); c != nil {
			r.wanted.Store(c)
			close(r.halt)
		}
	})
	r.quit = func() {
		cancel()
		wg.Wait()
	}
}

// leave gives the right to drive the run back, once everything is recorded.
func (r *run) leave(ctx context.Context) {
	r.quit()
	ctx, cancel := r.recording(ctx)
	defer cancel()
	_ = r.owner.Release(ctx) // What cannot be given back expires.
}

// halted tells how the run is to end before its next action, nil where it goes on.
func (r *run) halted(ctx context.Context) *Ended {
	if r.lost || r.owner.Err() != nil {
		return r.lostRun()
	}
	if c := r.wanted.Load(); c != nil {
		return c.end()
	}
	if ctx.Err() != nil && len(r.inDoubt) > 0 {
		return &Ended{Status: Cancelled, Message: "stopped, and the action in flight cut off, as asked"}
	}
	select {
	case <-r.Stop:
		return cancelled()
	case <-ctx.Done():
		return cancelled()
	default:
		return nil
	}
}

func (r *run) lostRun() *Ended {
	r.lost = true
	e := &Ended{Status: Escalated, Reason: LeaseLost, Message: "this process lost the right to drive the run: it or etcd stood still for too long"}
	if r.gone {
		e.Message += ", and " + r.who + "; nothing more is done here, see fettle show " + r.Journal.ID()
	}
	return e
}

// LeaseLost is the reason of a run whose process lost the right to drive it.
const LeaseLost = "lease_lost"

// drives tells whether this process may write of the run. Where it lost the
// right it claims the run once more, to record what it has done; whether it goes
// on with it is decided by regain. Where another has the run by then, that one's record counts.
func (r *run) drives(ctx context.Context) (bool, error) {
	if r.gone || r.owner.Err() == nil {
		return !r.gone, nil
	}
	return r.reclaim(ctx)
}

// reclaim claims the run once more.
func (r *run) reclaim(ctx context.Context) (bool, error) {
	r.lost = true
	_ = r.owner.Release(ctx) // It may not have expired yet.
	owner, err := r.Locker.ClaimRun(ctx, r.Journal.ID(), lease.Owner{Reason: "goal " + r.GoalName})
	var owned *lease.OwnedError
	switch {
	case err == nil:
		r.owner = owner
		return r.rewrite(ctx)
	case errors.As(err, &owned):
		by := owned.Owner
		by.Run = ""
		r.taken(fmt.Sprintf("%s drives it since %s", by, owned.Since.Local().Format(time.DateTime)))
		return false, nil
	}
	return false, err
}

// rewrite writes the events that rode in transactions after the right was lost
// and before that was noticed: those took place without them.
func (r *run) rewrite(ctx context.Context) (bool, error) {
	for _, e := range r.rode {
		switch err := r.Journal.Write(ctx, e); {
		case errors.Is(err, journal.ErrNotWriter):
			r.handedOver(ctx, r.events())
			return false, nil
		case err != nil:
			return false, err
		}
	}
	return true, nil
}

// rodeLately is how many events may have been told of before a loss of the
// right is noticed: nothing is armed after it.
const rodeLately = 4

// driveStill is drives before an outcome is recorded, for which it leaves time:
// where the store does not answer, what follows says so.
func (r *run) driveStill(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, recordTimeout/2)
	defer cancel()
	_, _ = r.drives(ctx)
}

// taken notes that another process has the run.
func (r *run) taken(who string) { r.lost, r.gone, r.who = true, true, who }

// ride is what an entry puts in another's transaction: nothing where this
// process no longer drives the run, or another has written that event.
func (r *run) ride(e journal.Entry) []clientv3.Op {
	return []clientv3.Op{clientv3.OpTxn(append(e.Cmps(), r.owner.Cmp()), e.Ops(), nil)}
}

// conditions are what an action is armed under, beside its own leases: nobody
// else drives the run, nothing is paused, nobody cancelled it, and the approval
// of its plan stands and has not expired.
func (r *run) conditions() []clientv3.Cmp {
	k := r.Locker.Keys()
	out := []clientv3.Cmp{k.NotPaused(), r.owner.Cmp(), notCancelled(k, r.Journal.ID())}
	if a := r.approval; a != nil {
		out = append(out, r.stands(*a))
	}
	return out
}
