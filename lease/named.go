package lease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Named is a lease that a run holds across its steps, on the resource of a name:
// the one that an action's locks and fettle lease NAME take. A keeper of its own
// renews it. It never blocks its own run. It is safe for concurrent use.
type Named struct {
	*hold
	name     string
	resource Resource
	rec      record
	given    atomic.Bool // Back, or about to be: its end is no loss.
}

// Name returns the name.
func (n *Named) Name() string { return n.name }

// For returns what it was taken for.
func (n *Named) For() string {
	n.l.mu.Lock()
	defer n.l.mu.Unlock()
	return n.rec.For
}

func (n *Named) key() string { return n.locks[0] }

// ours is the condition that the key is this process's: it hangs on our lease.
func (n *Named) ours() clientv3.Cmp {
	return clientv3.Compare(clientv3.LeaseValue(n.key()), "=", n.grant.id)
}

// covers reports whether holding the name is holding the resource.
func (n *Named) covers(r Resource) bool {
	return r.Fluent == n.resource.Fluent && (n.resource.Instance == "" || n.resource.Instance == r.Instance)
}

// readAll reads the keys of names.
func readAll(names []*Named) []clientv3.Op {
	out := make([]clientv3.Op, 0, len(names))
	for _, n := range names {
		out = append(out, clientv3.OpGet(n.key()))
	}
	return out
}

// lostName looks at what readAll read at the place given. A name that is another's by now is lost.
func lostName(names []*Named, resp *clientv3.TxnResponse, from int) error {
	for i, n := range names {
		if kv := answer(resp, from+i); kv == nil || kv.Lease != int64(n.grant.id) {
			n.lose(ErrBroken)
			return &LostError{n.cause()}
		}
	}
	return nil
}

// ownNames returns the names that a run holds here and that bear on the resources, sorted.
func (l *Locker) ownNames(run string, want []Resource) []*Named {
	return slices.DeleteFunc(l.names(run), func(n *Named) bool {
		return !slices.ContainsFunc(want, func(r Resource) bool { return r.Fluent == n.resource.Fluent })
	})
}

// names returns what a run holds here and has not lost, sorted by key.
func (l *Locker) names(run string) []*Named {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []*Named
	if r := l.mine[run]; r != nil && run != "" {
		for _, n := range r.names {
			if n.Remaining() > 0 && !n.given.Load() {
				out = append(out, n)
			}
		}
	}
	slices.SortFunc(out, func(a, b *Named) int { return cmp.Compare(a.key(), b.key()) })
	return out
}

// AcquireNamed takes the lease of a name for the run owner.Run, for the run's
// life: until Release, ReleaseAllNamed or Keep. It never waits. Where the run has
// it already, only what it is for is changed. The conditions given must hold (see
// Keys.StillArmed), that this process drives the run is one where it was
// claimed here, and the ops given ride along.
//
// An action that acquires a name must not have it among its locks: it would find itself in the way.
//
// It returns a *BusyError or *InDoubtError when something is in the way, a
// *RefusedError when a condition does not hold, and a *RetryableError when etcd's answer was lost.
func (l *Locker) AcquireNamed(ctx context.Context, owner Owner, name, forWhat string, cmps []clientv3.Cmp, ops ...clientv3.Op) (*Named, error) {
	if owner.Run == "" {
		return nil, fmt.Errorf("lease: the named lease %s needs a run to be bound to", name)
	}
	r, err := l.request(Owner{}, []Resource{ParseResource(name)}) // Of no run: its own names do not count as held here.
	if err != nil {
		return nil, err
	}
	cmps = append(slices.Clone(cmps), l.drives(owner.Run)...)
	for _, have := range l.names(owner.Run) {
		if have.resource == r.f[0] {
			return have, have.relabel(ctx, forWhat, cmps, ops)
		}
	}
	g, err := l.pool.take(ctx)
	if err != nil {
		return nil, &RetryableError{err}
	}
	n := &Named{hold: newHold(l, g, r.f.locks(l.keys, g.id)), name: name, resource: r.f[0]}
	n.rec = record{Owner: owner.filled(), Since: l.o.Now().UTC(), Named: true, For: forWhat}
	resp, err := l.place(ctx, n.hold, n.rec, append(r.conditions(), cmps...), ops, append(r.looks(), conditionKeys(cmps)...))
	if err != nil {
		return nil, err
	}
	if !resp.Succeeded {
		l.pool.put(g) // Nothing hangs on it.
		ranges := len(r.free) + len(r.waiting)
		if len(foundFirst(resp, ranges)) > 0 {
			return nil, r.why(ctx, resp)
		}
		return nil, l.refusal(cmps, resp, ranges)
	}
	return n, n.begin(owner.Run)
}

// drives is the condition that this process drives a run, where it was claimed here.
func (l *Locker) drives(run string) []clientv3.Cmp {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.mine[run]; r != nil && r.owner != nil {
		return []clientv3.Cmp{r.owner.Cmp()}
	}
	return nil
}

// begin starts to keep what has just been acquired, for a run.
func (n *Named) begin(run string) error {
	if err := n.start(); err != nil {
		n.l.revokeBehind(n.grant.id)
		return err
	}
	n.l.mu.Lock()
	defer n.l.mu.Unlock()
	n.l.of(run).names[n.resource] = n
	return nil
}

// relabel says what the lease is for from now on.
func (n *Named) relabel(ctx context.Context, forWhat string, cmps []clientv3.Cmp, ops []clientv3.Op) error {
	n.l.mu.Lock()
	rec := n.rec
	n.l.mu.Unlock()
	rec.For = forWhat
	raw, err := rec.encode()
	if err != nil {
		return err
	}
	resp, err := n.l.txn(ctx, append([]clientv3.Cmp{n.ours()}, cmps...), append(n.puts(raw), ops...), append(readAll([]*Named{n}), conditionKeys(cmps)...))
	switch {
	case err != nil:
		return &RetryableError{err} // The same again changes nothing.
	case !resp.Succeeded:
		return n.refusedBy(cmps, resp)
	}
	n.l.mu.Lock()
	n.rec = rec
	n.l.mu.Unlock()
	return nil
}

func (n *Named) refusedBy(cmps []clientv3.Cmp, resp *clientv3.TxnResponse) error {
	if err := lostName([]*Named{n}, resp, 0); err != nil {
		return err
	}
	return n.l.refusal(cmps, resp, 1)
}

// Release gives the lease back, if the conditions given hold; the ops given ride
// along. It returns a *LostError when it was lost before, a *RefusedError when a
// condition does not hold, and a *RetryableError when etcd's answer was lost and
// it is not known to be gone: then it is held on.
func (n *Named) Release(ctx context.Context, cmps []clientv3.Cmp, ops ...clientv3.Op) error {
	if errors.Is(context.Cause(n.life), ErrReleased) {
		return errOver
	}
	n.given.Store(true)
	n.l.eyes.remove(n.hold) // Not to take its own delete for another's.
	resp, err := n.l.txn(ctx, append([]clientv3.Cmp{n.ours()}, cmps...), append(deletes(n.locks), ops...), append(readAll([]*Named{n}), conditionKeys(cmps)...))
	switch {
	case err != nil && !n.gone(ctx):
		n.holdOn()
		return &RetryableError{err}
	case err == nil && !resp.Succeeded:
		n.holdOn()
		return n.refusedBy(cmps, resp)
	}
	n.giveBack()
	n.forget()
	if err != nil && len(ops) > 0 {
		return &RetryableError{err} // It is gone; whether by this transaction is not known.
	}
	return nil
}

// holdOn takes it that it was not given back.
func (n *Named) holdOn() {
	n.given.Store(false)
	n.l.eyes.add(n.hold)
}

// gone reports whether the key is certainly no longer ours.
func (n *Named) gone(ctx context.Context) bool {
	ctx, cancel := n.l.rescue(ctx)
	defer cancel()
	resp, err := n.l.cli.Get(ctx, n.key())
	return err == nil && (len(resp.Kvs) == 0 || resp.Kvs[0].Lease != int64(n.grant.id))
}

func (n *Named) forget() {
	n.l.mu.Lock()
	defer n.l.mu.Unlock()
	if r := n.l.mine[n.rec.Owner.Run]; r != nil && r.names[n.resource] == n {
		delete(r.names, n.resource)
	}
}

// NamedOf returns the lease of that name that the run holds here, nil where it does not.
func (l *Locker) NamedOf(run, name string) *Named {
	want := ParseResource(name)
	for _, n := range l.names(run) {
		if n.resource == want {
			return n
		}
	}
	return nil
}

// ReleaseAllNamed gives back every named lease that a run holds here, at its
// end. What etcd does not acknowledge is revoked, and else expires.
func (l *Locker) ReleaseAllNamed(ctx context.Context, run string) error {
	var errs []error
	for _, n := range l.names(run) {
		err := n.Release(ctx, nil)
		var lost *LostError
		if err == nil || errors.As(err, &lost) {
			continue
		}
		n.given.Store(true)
		n.retire()
		n.forget()
		if !l.giveUp(ctx, n.grant.id) {
			errs = append(errs, fmt.Errorf("lease: release %s: %w", n.name, err))
		}
	}
	return errors.Join(errs...)
}
