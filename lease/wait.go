package lease

import (
	"context"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Wait is how AcquireWait deals with its caller. The zero value is fine.
type Wait struct {
	// OnBusy is told once, when the wait begins, what is in the way.
	OnBusy func(*BusyError)
	// Ops makes what rides along, anew for each try, and may return a function
	// that is told whether that try was committed. Where the answer was lost it is told false.
	Ops func() ([]clientv3.Op, func(committed bool), error)
}

// try makes the ops, lets f use them, and says what came of it.
func (w Wait) try(f func(ops []clientv3.Op) (*Held, *clientv3.TxnResponse, error)) (*Held, *clientv3.TxnResponse, error) {
	if w.Ops == nil {
		return f(nil)
	}
	ops, done, err := w.Ops()
	if err != nil {
		return nil, nil, fmt.Errorf("lease: what rides along: %w", err)
	}
	h, resp, err := f(ops)
	if done != nil {
		done(resp != nil && resp.Succeeded)
	}
	return h, resp, err
}

// errRequeue says that a ticket was lost, so that another has to be drawn.
var errRequeue = errors.New("lease: the ticket is gone")

// AcquireWait is Acquire, and where others hold what is wanted it waits for its
// turn. It draws a ticket for each fluent, and takes the resources as soon as
// they are free and nobody with an older ticket waits for one of these fluents: first come,
// first served, whole fluents too. The ticket of one who died goes with its TTL.
//
// After a wait the world has moved: observe and validate anew. The end of ctx
// gives an error that is ctx's cause and the last *BusyError; an *InDoubtError
// or *LostError is returned at once, a *RetryableError when etcd could not be
// reached for long. The tickets are gone when it returns, or go with their TTL.
func (l *Locker) AcquireWait(ctx context.Context, owner Owner, want []Resource, w Wait) (*Held, error) {
	for {
		r, err := l.request(owner, want)
		if err != nil {
			return nil, err
		}
		g, err := l.pool.take(ctx)
		if err != nil {
			return nil, &RetryableError{err}
		}
		h, resp, err := w.try(func(ops []clientv3.Op) (*Held, *clientv3.TxnResponse, error) {
			return r.attempt(ctx, g, r.conditions(), ops, r.looks())
		})
		if h != nil || err != nil {
			if resp == nil {
				l.revokeBehind(g.id)
			}
			return h, err
		}
		err = r.why(ctx, resp)
		var busy *BusyError
		if !errors.As(err, &busy) {
			l.pool.put(g)
			return nil, err
		}
		h, err = l.queue(ctx, g, r, &w, busy)
		if !errors.Is(err, errRequeue) {
			return h, err
		}
	}
}

// ticket is a place in the queues of some fluents.
type ticket struct {
	*hold
	r    request
	busy *BusyError // What was in the way, last.
}

// queue draws a ticket under the lease of the first try, and waits with it.
func (l *Locker) queue(ctx context.Context, g *grant, r request, w *Wait, busy *BusyError) (*Held, error) {
	keys := make([]string, 0, len(r.waiting))
	for _, fluent := range r.waiting {
		keys = append(keys, l.keys.Ticket(fluent, g.id))
	}
	t := &ticket{hold: newHold(l, g, keys), r: r, busy: busy}
	if _, err := l.place(ctx, t.hold, record{Owner: r.owner, Want: r.f}, nil, nil, nil); err != nil {
		return nil, err
	}
	defer t.retire()
	if err := t.start(); err != nil {
		l.giveUp(ctx, g.id)
		return nil, err
	}
	if w.OnBusy != nil {
		w.OnBusy(busy)
		w.OnBusy = nil
	}
	h, err := t.wait(ctx, *w)
	if h == nil {
		t.retire()
		l.giveUp(ctx, g.id)
	}
	return h, err
}

// pollEvery backs the watch: what it misses is found this much later.
const pollEvery = time.Second

func (t *ticket) wait(ctx context.Context, w Wait) (*Held, error) {
	wctx, cancel := context.WithCancel(ctx)
	defer cancel()
	from, to := string(t.l.keys)+"k/", clientv3.GetPrefixRangeEnd(string(t.l.keys)+"q/")
	changes := t.l.cli.Watch(wctx, from, clientv3.WithRange(to), clientv3.WithRev(t.fence+1), clientv3.WithFilterPut())
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for {
		ahead, seen, err := t.look(ctx)
		if err != nil && ctx.Err() == nil && t.life.Err() == nil && !transient(err) {
			return nil, err
		}
		if err == nil && len(ahead) == 0 {
			if h, err := t.take(ctx, w); h != nil || err != nil {
				return h, err
			}
			continue
		}
		if changes, err = t.await(ctx, changes, poll.C, ahead, seen); err != nil {
			return nil, err
		}
	}
}

// transient reports whether a look may be worth repeating: etcd elects a leader, say.
func transient(err error) bool {
	var doubt *InDoubtError
	var lost *LostError
	return !errors.As(err, &doubt) && !errors.As(err, &lost) && !errors.Is(err, errRequeue) && !errors.Is(err, errTooMany) && !refused(err)
}

// await returns once something ahead may have changed.
func (t *ticket) await(ctx context.Context, changes clientv3.WatchChan, poll <-chan time.Time, ahead []keyRange, seen int64) (clientv3.WatchChan, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", context.Cause(ctx), t.busy)
		case <-t.Lost():
			if err := t.cause(); errors.Is(err, errClosed) {
				return nil, err
			}
			return nil, errRequeue
		case resp, ok := <-changes:
			if !ok {
				changes = nil // Compacted or closed: polling goes on.
			} else if resp.Header.Revision > seen && touches(resp, ahead) {
				return changes, nil
			}
		case <-poll:
			return changes, nil
		}
	}
}

// look reads what has to go before it is this ticket's turn: older tickets or,
// where there are none, what is held.
func (t *ticket) look(ctx context.Context) (ahead []keyRange, revision int64, err error) {
	ops := append(looks(t.r.free), readAll(t.r.names)...)
	for _, q := range t.r.queues() { // Its own comes first.
		ops = append(ops, q.get(clientv3.WithMaxCreateRev(t.fence), clientv3.WithLimit(maxShown),
			clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortDescend)))
	}
	resp, err := t.l.txn(ctx, nil, ops, nil)
	if err != nil {
		return nil, 0, fmt.Errorf("lease: look at what is in the way: %w", err)
	}
	if err := lostName(t.r.names, resp, len(t.r.free)); err != nil {
		return nil, 0, err
	}
	older, err := t.older(resp)
	if err != nil {
		return nil, 0, err
	}
	held := foundFirst(resp, len(t.r.free))
	if len(held) > 0 {
		if err := t.l.inTheWay(ctx, held); !errors.As(err, &t.busy) {
			return nil, 0, err
		}
	}
	switch {
	case len(older) > 0:
		return older, resp.Header.Revision, nil
	case len(held) > 0:
		return t.r.free, resp.Header.Revision, nil
	}
	return nil, resp.Header.Revision, nil
}

// older returns the tickets drawn before this one.
func (t *ticket) older(resp *clientv3.TxnResponse) ([]keyRange, error) {
	var out []keyRange
	first := len(t.r.free) + len(t.r.names)
	for i := range t.r.waiting {
		kvs := resp.Responses[first+i].GetResponseRange().GetKvs()
		if len(kvs) == 0 || kvs[0].CreateRevision != t.fence {
			return nil, errRequeue
		}
		for _, kv := range kvs[1:] {
			out = append(out, keyRange{string(kv.Key), string(kv.Key) + "\x00"})
			if len(out) == 1 {
				t.busy = &BusyError{Holders: []Holder{t.l.ticket(kv)}}
			}
		}
	}
	return out, nil
}

// take takes the locks and hands the tickets in, in one transaction. Neither a
// Held nor an error means that something came in between.
func (t *ticket) take(ctx context.Context, w Wait) (*Held, error) {
	var cmps []clientv3.Cmp
	for _, one := range t.r.free {
		cmps = append(cmps, one.empty())
	}
	for _, q := range t.r.queues() { // No older one, and its own is there: an empty queue fails this.
		cmps = append(cmps, clientv3.Compare(clientv3.CreateRevision(q.from), ">", t.fence-1).WithRange(q.to))
	}
	cmps = append(cmps, t.r.stillMine()...)
	t.l.eyes.remove(t.hold) // Not to take its own deletes for another's.
	h, _, err := w.try(func(ops []clientv3.Op) (*Held, *clientv3.TxnResponse, error) {
		return t.r.attempt(ctx, t.grant, cmps, append(deletes(t.locks), ops...), nil)
	})
	if h == nil && err == nil {
		t.l.eyes.add(t.hold)
	}
	return h, err
}
