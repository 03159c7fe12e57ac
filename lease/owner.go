package lease

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// OwnedError says that another process drives the run.
type OwnedError struct {
	Run   string
	Owner Owner
	Since time.Time
}

func (e *OwnedError) Error() string {
	who := e.Owner
	who.Run = ""
	return fmt.Sprintf("lease: run %s is driven by %s since %s", e.Run, who, e.Since.Format(time.RFC3339))
}

// ofRun is what this process holds for a run, apart from its actions.
type ofRun struct {
	owner *RunOwner
	names map[Resource]*Named
}

// of returns what is held for a run. The Locker is locked by the caller.
func (l *Locker) of(run string) *ofRun {
	r := l.mine[run]
	if r == nil {
		r = &ofRun{names: map[Resource]*Named{}}
		l.mine[run] = r
	}
	return r
}

// RunOwner is the right to drive a run. A keeper of its own renews it. It is safe for concurrent use.
type RunOwner struct {
	*hold
	run   string
	owner Owner
}

// ClaimRun makes this process the one that drives a run, and keeps it so until
// Release. The key of one that died goes with its TTL, see AwaitUnclaimed. The ops given ride along.
//
// It returns an *OwnedError where another drives it, and a *RetryableError when etcd's answer was lost.
func (l *Locker) ClaimRun(ctx context.Context, run string, o Owner, ops ...clientv3.Op) (*RunOwner, error) {
	if run == "" {
		return nil, errors.New("lease: a run without an id")
	}
	g, err := l.pool.take(ctx)
	if err != nil {
		return nil, &RetryableError{err}
	}
	o.Run = run
	key := l.keys.RunOwner(run)
	r := &RunOwner{hold: newHold(l, g, []string{key}), run: run, owner: o.filled()}
	resp, err := l.place(ctx, r.hold, record{Owner: r.owner}, []clientv3.Cmp{unclaimed(key)}, ops, []clientv3.Op{clientv3.OpGet(key)})
	switch {
	case err != nil:
		return nil, err
	case !resp.Succeeded:
		l.pool.put(g) // Nothing hangs on it.
		return nil, owned(run, answer(resp, 0))
	}
	if err := r.start(); err != nil {
		l.revokeBehind(g.id)
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of(run).owner = r
	return r, nil
}

func unclaimed(key string) clientv3.Cmp {
	if Without(RunClaim) {
		return always(key)
	}
	return absent(key)
}

func owned(run string, kv *mvccpb.KeyValue) *OwnedError {
	e := &OwnedError{Run: run}
	var rec record
	if json.Unmarshal(kv.Value, &rec) == nil { // Another's own text is shown as no owner.
		e.Owner, e.Since = rec.Owner, rec.Since
	}
	return e
}

// Run returns the run's id.
func (r *RunOwner) Run() string { return r.run }

// Cmp is the condition, for Arm, that this process still drives the run.
func (r *RunOwner) Cmp() clientv3.Cmp { return r.l.keys.OwnsRun(r.run, r.fence) }

// Release gives the run up, for another to drive. It returns a *LostError where it was lost before.
func (r *RunOwner) Release(ctx context.Context) error {
	if errors.Is(context.Cause(r.life), ErrReleased) {
		return errOver
	}
	defer r.forget()
	r.l.eyes.remove(r.hold) // Not to take its own delete for another's.
	resp, err := r.l.txn(ctx, r.created(), deletes(r.locks), nil)
	switch {
	case err != nil:
		if r.abandon(ctx) {
			return nil // Revoked: given up all the same.
		}
		return fmt.Errorf("lease: give run %s up: %w", r.run, err)
	case !resp.Succeeded:
		r.lose(ErrBroken)
		r.giveBack() // What is left of it.
		return &LostError{r.cause()}
	}
	r.giveBack()
	return nil
}

func (r *RunOwner) forget() {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	if mine := r.l.of(r.run); mine.owner == r {
		mine.owner = nil
	}
}

// RunOwnerOf says who drives a run; nil where nobody does.
func (l *Locker) RunOwnerOf(ctx context.Context, run string) (*OwnedError, error) {
	e, _, err := l.ownerOf(ctx, run)
	return e, err
}

func (l *Locker) ownerOf(ctx context.Context, run string) (*OwnedError, int64, error) {
	ctx, cancel := l.bounded(ctx)
	defer cancel()
	resp, err := l.cli.Get(ctx, l.keys.RunOwner(run))
	if err != nil {
		return nil, 0, fmt.Errorf("lease: who drives run %s: %w", run, err)
	}
	if len(resp.Kvs) == 0 {
		return nil, 0, nil
	}
	return owned(run, resp.Kvs[0]), resp.Header.Revision, nil
}

// AwaitUnclaimed returns when nobody drives the run any more: the key of one who
// died goes with its TTL. The end of ctx gives its cause and the *OwnedError.
func (l *Locker) AwaitUnclaimed(ctx context.Context, run string) error {
	wctx, cancel := context.WithCancel(ctx)
	defer cancel()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	var changes clientv3.WatchChan
	var last *OwnedError
	for {
		e, revision, err := l.ownerOf(ctx, run)
		switch {
		case err == nil && e == nil:
			return nil
		case err == nil:
			last = e
		case ctx.Err() == nil && refused(err):
			return err
		}
		if changes == nil && e != nil {
			changes = l.cli.Watch(wctx, l.keys.RunOwner(run), clientv3.WithRev(revision+1), clientv3.WithFilterPut())
		}
		select {
		case <-ctx.Done():
			if last == nil {
				return context.Cause(ctx)
			}
			return fmt.Errorf("%w: %w", context.Cause(ctx), last)
		case _, ok := <-changes:
			if !ok {
				changes = nil
			}
		case <-poll.C:
		}
	}
}
