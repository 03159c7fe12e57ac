package lease

import (
	"context"
	"fmt"
	"sync"
	"time"

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
	mine   map[string]*ofRun
}

// New returns a Locker for the keys below prefix, which is that of one scope
// ("<prefix>/v1/<scope>/"). It asks nothing of etcd before the first Acquire.
func New(cli *clientv3.Client, prefix string, o Options) *Locker {
	ctx, end := context.WithCancel(context.Background())
	l := &Locker{cli: cli, keys: Keys(prefix), o: o.filled(), end: end}
	l.pool = &pool{l: l, kicked: make(chan struct{}, 1)}
	l.eyes = &watcher{l: l, ctx: ctx, held: map[string]map[*hold]bool{}}
	l.mine = map[string]*ofRun{}
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
