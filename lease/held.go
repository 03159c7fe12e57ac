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
	l     *Locker
	owner Owner
	f     footprint
	locks []string // Keys, in the order of f.
	grant *grant
	fence int64

	life  context.Context //nolint:containedctx // Ends when the lease is lost or given back.
	end   context.CancelCauseFunc
	lost  chan struct{}
	drop  sync.Once
	taken bool // By TakeOver.

	step   sync.Mutex // One of Arm, Finish, Release, … at a time.
	phase  phase
	intent Intent
}

func newHeld(l *Locker, owner Owner, f footprint, g *grant) *Held {
	h := &Held{l: l, owner: owner, f: f, grant: g, locks: f.locks(l.keys, g.id), lost: make(chan struct{})}
	h.life, h.end = context.WithCancelCause(context.Background())
	return h
}

// start begins to renew and to watch over the locks.
func (h *Held) start() error {
	h.l.eyes.add(h) // First, so that Close finds every keeper's.
	k := &keeper{h: h}
	if !h.l.spawn(k.run) {
		h.lose(errClosed)
		return errClosed
	}
	return nil
}

// Fence returns the token: the revision of the transaction that acquired. It strictly increases in etcd's order.
func (h *Held) Fence() int64 { return h.fence }

// Resources returns what is held, after merging and coarsening.
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
	if h.life.Err() != nil {
		return 0
	}
	return h.grant.remaining(h.l.o.Clock())
}

// Lost is closed when the lease is lost. Giving it back does not close it.
func (h *Held) Lost() <-chan struct{} { return h.lost }

// Err returns why the lease is lost, or ErrReleased; nil while it is held.
func (h *Held) Err() error {
	if h.Remaining() > 0 {
		return nil
	}
	return h.cause()
}

func (h *Held) cause() error {
	if err := context.Cause(h.life); err != nil {
		return err
	}
	return ErrDeadline
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

// lose ends the life of the lease as lost. After it was given back it does nothing.
func (h *Held) lose(cause error) {
	h.drop.Do(func() {
		h.end(cause)
		close(h.lost)
		h.l.eyes.remove(h)
	})
}

// giveBack ends the life of the lease in an orderly way.
func (h *Held) giveBack() {
	h.phase = over
	h.drop.Do(func() {
		h.end(ErrReleased)
		h.l.eyes.remove(h)
	})
	h.l.revokeBehind(h.grant.id)
}

// abandon gives the lease up although the outcome of a request is not known. It
// revokes before it returns, and reports whether that is certain.
func (h *Held) abandon(ctx context.Context) bool {
	h.lose(ErrUnsure)
	return h.l.giveUp(ctx, h.grant.id)
}

// owns are the conditions that every lock is the one that was put with our token.
func (h *Held) owns() []clientv3.Cmp {
	out := make([]clientv3.Cmp, 0, len(h.locks))
	for _, key := range h.locks {
		out = append(out, created(key, h.fence))
	}
	return out
}

func deletes(keys []string) []clientv3.Op {
	out := make([]clientv3.Op, 0, len(keys))
	for _, key := range keys {
		out = append(out, clientv3.OpDelete(key))
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
	h.l.eyes.remove(h) // Not to take its own deletes for another's.
	resp, err := h.l.txn(ctx, h.owns(), append(deletes(h.locks), ops...), nil)
	switch {
	case errors.Is(err, errTooMany), refused(err):
		h.l.eyes.add(h)
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
