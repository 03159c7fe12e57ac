package lease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// phase is how far a Held has come.
type phase uint8

const (
	acquired phase = iota
	armed
	over // Finished, released or given up: nothing more can be done with it.
)

// Held is a footprint that is held, until it is finished, released or lost. A
// keeper of its own renews it. Its methods are safe for concurrent use, but
// the steps of one action are one after another.
type Held struct {
	*hold
	owner Owner
	f     footprint
	names []*Named // Leases of the same run that its footprint relies on.
	taken bool     // By TakeOver.

	step   sync.Mutex // One of Arm, Finish, Release, … at a time.
	phase  phase
	intent Intent
}

func newHeld(l *Locker, owner Owner, f footprint, g *grant) *Held {
	return &Held{hold: newHold(l, g, f.locks(l.keys, g.id)), owner: owner, f: f}
}

// Resources returns what is held, after merging and coarsening, without what the run's named leases cover.
func (h *Held) Resources() []Resource { return slices.Clone(h.f) }

// Intent returns the record of the armed or taken-over action; the zero Intent before Arm.
func (h *Held) Intent() Intent {
	h.step.Lock()
	defer h.step.Unlock()
	return h.intent
}

// Remaining returns the time left until its own deadline, which comes before the
// keys can expire; zero once it passed or the lease is lost or given back.
func (h *Held) Remaining() time.Duration {
	left := h.hold.Remaining()
	for _, n := range h.names {
		if !n.given.Load() {
			left = min(left, n.Remaining())
		}
	}
	return left
}

// Err returns why the lease is lost, or ErrReleased; nil while it is held.
func (h *Held) Err() error {
	if h.Remaining() > 0 {
		return nil
	}
	return h.cause()
}

// begin starts to keep what has just been acquired.
func (h *Held) begin() error {
	if err := h.start(); err != nil {
		h.l.revokeBehind(h.grant.id)
		return err
	}
	h.rely()
	return nil
}

// rely lets the end of a named lease that the footprint relies on end this one too.
func (h *Held) rely() {
	for _, n := range h.names {
		stop := context.AfterFunc(n.life, func() {
			if !n.given.Load() {
				h.lose(n.cause())
			}
		})
		context.AfterFunc(h.life, func() { stop() })
	}
}

// Context returns a context that ends at the deadline, or when the lease is lost
// or given back, with one of the package's errors as its cause.
func (h *Held) Context(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	stop := context.AfterFunc(h.life, func() { cancel(h.cause()) })
	if h.Remaining() <= 0 {
		cancel(h.cause())
	}
	return ctx, func() {
		stop()
		cancel(context.Canceled)
	}
}

func (h *Held) giveBack() {
	h.phase = over
	h.hold.giveBack()
}

// Abandon ends it where neither the outcome nor a withdrawal could be recorded:
// it is renewed no longer. What was armed stays in doubt, for whoever takes it over.
func (h *Held) Abandon() {
	h.step.Lock()
	defer h.step.Unlock()
	if h.phase != over {
		h.phase = over
		h.lose(ErrUnsure)
		h.l.revokeBehind(h.grant.id)
	}
}

// owns are the conditions that every lock is the one that was put with our
// token, and every named lease that is relied on still the run's.
func (h *Held) owns() []clientv3.Cmp {
	if Without(ArmCompare) {
		return nil
	}
	out := h.created()
	for _, n := range h.names {
		if !n.given.Load() {
			out = append(out, n.ours())
		}
	}
	return out
}

var (
	errOver     = errors.New("lease: already finished, released or given up")
	errArmed    = errors.New("lease: armed: use Finish, or Unknown when the lease is lost")
	errNotArmed = errors.New("lease: not armed")
)

// Release gives up before Arm, or before Resolve what was taken over: then the
// marks stay. The ops given ride along. It returns a *LostError when there was nothing left to give back.
func (h *Held) Release(ctx context.Context, ops ...clientv3.Op) error {
	h.step.Lock()
	defer h.step.Unlock()
	switch {
	case h.phase == over:
		return errOver
	case h.phase == armed && !h.taken:
		return errArmed
	}
	h.l.eyes.remove(h.hold) // Not to take its own deletes for another's.
	resp, err := h.l.txn(ctx, h.created(), append(deletes(h.locks), ops...), nil)
	switch {
	case errors.Is(err, errTooMany), refused(err):
		h.l.eyes.add(h.hold)
		return fmt.Errorf("lease: release: %w", err)
	case err != nil:
		h.phase = over
		if h.abandon(ctx) && len(ops) == 0 {
			return nil // Revoked: given back all the same.
		}
		return fmt.Errorf("lease: release: %w", err)
	case !resp.Succeeded:
		h.lose(ErrBroken)
		h.giveBack() // What is left of it.
		return &LostError{h.cause()}
	}
	h.giveBack()
	return nil
}
