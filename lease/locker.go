package lease

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Locker acquires leases in one scope. It is safe for concurrent use.
type Locker struct {
	cli  *clientv3.Client
	keys Keys
	o    Options
	pool *pool
	eyes *watcher

	end    context.CancelFunc
	own    sync.WaitGroup // Its own goroutines, keepers included.
	behind sync.WaitGroup // Revocations under way.

	mu     sync.Mutex
	closed bool
}

// New returns a Locker for the keys below prefix, which is that of one scope
// ("<prefix>/v1/<scope>/"). It asks nothing of etcd before the first Acquire.
func New(cli *clientv3.Client, prefix string, o Options) *Locker {
	ctx, end := context.WithCancel(context.Background())
	l := &Locker{cli: cli, keys: Keys(prefix), o: o.filled(), end: end}
	l.pool = &pool{l: l, kicked: make(chan struct{}, 1)}
	l.eyes = &watcher{l: l, ctx: ctx, held: map[string]map[*Held]bool{}}
	l.own.Go(func() { l.pool.run(ctx) })
	return l
}

// Keys returns the layout of the keys.
func (l *Locker) Keys() Keys { return l.keys }

// Close gives up what is still held, without deleting its locks (what they
// protect may still be going on; they expire), ends all goroutines and waits for the
// revocations under way, each bounded by the request timeout.
func (l *Locker) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	l.mu.Unlock()
	l.end()
	l.eyes.loseAll(errClosed)
	l.own.Wait()
	for g := l.pool.pop(); g != nil; g = l.pool.pop() {
		l.behind.Go(func() { _ = l.revoke(context.Background(), g.id) })
	}
	l.behind.Wait()
	return nil
}

// spawn starts a goroutine that Close waits for; false once closed.
func (l *Locker) spawn(f func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.own.Go(f)
	return true
}

// record is the value of a lock's key.
type record struct {
	Owner Owner     `json:"owner"`
	Since time.Time `json:"since"`
}

// Acquire takes the resources all at once, or none: one try, one transaction, in
// which the ops given ride along. Resources are merged, and coarsened to whole
// fluents where too many for one transaction.
//
// It returns a *BusyError or *InDoubtError when something is in the way, and a
// *RetryableError when etcd's answer was lost; the lease of that try is then revoked.
func (l *Locker) Acquire(ctx context.Context, owner Owner, want []Resource, ops ...clientv3.Op) (*Held, error) {
	f, err := newFootprint(want)
	if err != nil {
		return nil, err
	}
	var cmps []clientv3.Cmp
	ranges := append(f.free(l.keys), f.queues(l.keys)...)
	for _, r := range ranges {
		cmps = append(cmps, r.empty())
	}
	h, ok, err := l.take(ctx, owner, f, cmps, func(*Held) ([]clientv3.Op, error) { return ops, nil }, looks(ranges))
	if err != nil {
		return nil, err
	}
	if !ok.Succeeded {
		return nil, l.inTheWay(ctx, ok)
	}
	return h, nil
}

// take puts the locks of a footprint under a lease of their own, if the conditions hold.
func (l *Locker) take(ctx context.Context, owner Owner, f footprint, cmps []clientv3.Cmp,
	more func(*Held) ([]clientv3.Op, error), otherwise []clientv3.Op,
) (*Held, *clientv3.TxnResponse, error) {
	g, err := l.pool.take(ctx)
	if err != nil {
		return nil, nil, &RetryableError{err}
	}
	h := newHeld(l, owner.filled(), f, g)
	puts, err := h.puts()
	if err == nil {
		var extra []clientv3.Op
		extra, err = more(h)
		puts = append(puts, extra...)
	}
	if err != nil {
		l.revokeBehind(g.id)
		return nil, nil, err
	}
	resp, err := l.txn(ctx, cmps, puts, otherwise)
	switch {
	case errors.Is(err, errTooMany), refused(err) && !errors.Is(err, rpctypes.ErrLeaseNotFound):
		l.revokeBehind(g.id)
		return nil, nil, fmt.Errorf("lease: acquire: %w", err)
	case err != nil:
		l.giveUp(ctx, g.id)
		return nil, nil, &RetryableError{err}
	case !resp.Succeeded:
		l.pool.put(g) // Nothing hangs on it.
		return nil, resp, nil
	}
	h.fence = resp.Header.Revision
	if err := h.start(); err != nil {
		l.revokeBehind(g.id)
		return nil, nil, err
	}
	return h, resp, nil
}

// giveUp revokes a lease within what is left of ctx, and else behind. It reports whether that is certain.
func (l *Locker) giveUp(ctx context.Context, id clientv3.LeaseID) bool {
	ctx, cancel := l.rescue(ctx)
	defer cancel()
	if ctx.Err() == nil && l.revoke(ctx, id) == nil {
		return true
	}
	l.revokeBehind(id)
	return false
}

func (h *Held) puts() ([]clientv3.Op, error) {
	raw, err := json.Marshal(record{Owner: h.owner, Since: h.l.o.Now().UTC()})
	if err != nil {
		return nil, fmt.Errorf("lease: owner: %w", err)
	}
	var out []clientv3.Op
	for _, key := range h.locks {
		out = append(out, clientv3.OpPut(key, string(raw), clientv3.WithLease(h.grant.id)))
	}
	return out, nil
}

var errTooMany = fmt.Errorf("lease: more than %d conditions or operations in one transaction", maxOps)

// txn commits one transaction within the bounds of a request.
func (l *Locker) txn(ctx context.Context, cmps []clientv3.Cmp, then, otherwise []clientv3.Op) (*clientv3.TxnResponse, error) {
	if max(len(cmps), len(then), len(otherwise)) > maxOps {
		return nil, errTooMany
	}
	ctx, cancel := l.bounded(ctx)
	defer cancel()
	return l.cli.Txn(ctx).If(cmps...).Then(then...).Else(otherwise...).Commit()
}

// bounded gives one request the request timeout, and no more than six tenths of
// what is left of ctx, so that a lost answer leaves time to revoke and to look.
func (l *Locker) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := l.o.RequestTimeout
	if end, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(end)*6/10)
	}
	return context.WithTimeout(ctx, limit)
}

// rescue is for what must be done after ctx was cancelled or a request timed out. It still keeps ctx's deadline.
func (l *Locker) rescue(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := l.o.RequestTimeout
	if end, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(end))
	}
	return context.WithTimeout(context.WithoutCancel(ctx), limit)
}
