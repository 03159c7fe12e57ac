package lease

import (
	"context"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// hold is keys put under one lease of etcd, which a keeper renews, and what may be
// believed of them: until when, and why no longer. What a step holds, a run's
// owner, a named lease and a ticket are all of this kind.
type hold struct {
	l     *Locker
	locks []string // The keys.
	grant *grant
	fence int64 // The revision at which the keys were created.

	life context.Context //nolint:containedctx // Ends when the lease is lost or given back.
	end  context.CancelCauseFunc
	lost chan struct{}
	drop sync.Once
}

func newHold(l *Locker, g *grant, keys []string) *hold {
	h := &hold{l: l, grant: g, locks: keys, lost: make(chan struct{})}
	h.life, h.end = context.WithCancelCause(context.Background())
	return h
}

// start begins to renew and to watch over the keys.
func (h *hold) start() error {
	h.l.eyes.add(h) // First, so that Close finds every keeper's.
	k := &keeper{h: h}
	if !h.l.spawn(k.run) {
		h.lose(errClosed)
		return errClosed
	}
	return nil
}

// Fence returns the token: the revision of the transaction that acquired. It strictly increases in etcd's order.
func (h *hold) Fence() int64 { return h.fence }

// Remaining returns the time left until its own deadline, which comes before the
// keys can expire; zero once it passed or the lease is lost or given back.
func (h *hold) Remaining() time.Duration {
	if h.life.Err() != nil {
		return 0
	}
	return h.grant.remaining(h.l.o.Clock())
}

// Lost is closed when the lease is lost. Giving it back does not close it.
func (h *hold) Lost() <-chan struct{} { return h.lost }

// Err returns why the lease is lost, or ErrReleased; nil while it is held.
func (h *hold) Err() error {
	if h.Remaining() > 0 {
		return nil
	}
	return h.cause()
}

func (h *hold) cause() error {
	if err := context.Cause(h.life); err != nil {
		return err
	}
	return ErrDeadline
}

// lose ends the life of the lease as lost. After it was given back it does nothing.
func (h *hold) lose(cause error) {
	h.drop.Do(func() {
		h.end(cause)
		close(h.lost)
		h.l.eyes.remove(h)
	})
}

// retire ends the life of the lease in an orderly way, and leaves its keys to others.
func (h *hold) retire() {
	h.drop.Do(func() {
		h.end(ErrReleased)
		h.l.eyes.remove(h)
	})
}

// giveBack is retire, and the end of what is left in etcd.
func (h *hold) giveBack() {
	h.retire()
	h.l.revokeBehind(h.grant.id)
}

// abandon gives the lease up although the outcome of a request is not known. It
// revokes before it returns, and reports whether that is certain.
func (h *hold) abandon(ctx context.Context) bool {
	h.lose(ErrUnsure)
	return h.l.giveUp(ctx, h.grant.id)
}

// created are the conditions that every key is the one that was put with our token.
func (h *hold) created() []clientv3.Cmp {
	out := make([]clientv3.Cmp, 0, len(h.locks))
	for _, key := range h.locks {
		out = append(out, created(key, h.fence))
	}
	return out
}

func (h *hold) puts(value string) []clientv3.Op {
	out := make([]clientv3.Op, 0, len(h.locks))
	for _, key := range h.locks {
		out = append(out, clientv3.OpPut(key, value, clientv3.WithLease(h.grant.id)))
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
