package lease

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// record is the value of the key of a lock, a ticket or a run's owner.
type record struct {
	Owner Owner     `json:"owner"`
	Since time.Time `json:"since"`
	Named bool      `json:"named,omitempty"`
	For   string    `json:"for,omitempty"`
	Until time.Time `json:"until,omitzero"`

	Want []Resource `json:"want,omitempty"` // Of a ticket: what it is drawn for, all fluents of it.
}

// request is what one acquisition puts, and what it wants to be so.
type request struct {
	l       *Locker
	owner   Owner
	f       footprint
	names   []*Named   // Of the same run, which it relies on.
	free    []keyRange // Empty, but for those names.
	waiting []string   // Fluents whose queues it respects.
}

func (l *Locker) request(owner Owner, want []Resource) (request, error) {
	names := l.ownNames(owner.Run, want)
	f, err := newFootprint(want, 2*len(names)) // Each parts a range and is compared itself.
	if err != nil {
		return request{}, err
	}
	r := request{l: l, owner: owner.filled(), names: names}
	r.f = slices.DeleteFunc(f, func(res Resource) bool {
		return slices.ContainsFunc(names, func(n *Named) bool { return n.covers(res) })
	})
	if len(r.f) == 0 {
		r.f = nothing
	}
	var keys []string
	for _, n := range names {
		keys = append(keys, n.key())
	}
	slices.Sort(keys)
	if !Without(Locks) {
		for _, one := range r.f.free(l.keys) {
			r.free = append(r.free, one.around(keys)...)
		}
	}
	for _, fluent := range r.f.fluents() {
		own := slices.ContainsFunc(names, func(n *Named) bool { return n.resource.Fluent == fluent })
		if !own && !Without(Tickets) {
			r.waiting = append(r.waiting, fluent)
		}
	}
	return r, nil
}

// queues returns the ranges of the tickets of the footprint's fluents.
func (r request) queues() []keyRange {
	out := make([]keyRange, 0, len(r.waiting))
	for _, fluent := range r.waiting {
		out = append(out, prefixed(r.l.keys.Queue(fluent)))
	}
	return out
}

// conditions are those of a first try: everything free, and nobody waiting.
func (r request) conditions() []clientv3.Cmp {
	var out []clientv3.Cmp
	for _, one := range append(slices.Clone(r.free), r.queues()...) {
		out = append(out, one.empty())
	}
	return append(out, r.stillMine()...)
}

// stillMine are the conditions that the names relied on are still the run's.
func (r request) stillMine() []clientv3.Cmp {
	var out []clientv3.Cmp
	for _, n := range r.names {
		out = append(out, n.ours())
	}
	return out
}

// looks reads what conditions compares, names last.
func (r request) looks() []clientv3.Op {
	return append(looks(append(slices.Clone(r.free), r.queues()...)), readAll(r.names)...)
}

// why turns what looks read into an error.
func (r request) why(ctx context.Context, resp *clientv3.TxnResponse) error {
	ranges := len(r.free) + len(r.waiting)
	if err := lostName(r.names, resp, ranges); err != nil {
		return err
	}
	return r.l.inTheWay(ctx, foundFirst(resp, ranges))
}

// Acquire takes the resources all at once, or none: one try, one transaction, in
// which the ops given ride along. Resources are merged, and coarsened to whole
// fluents where too many for one transaction. A named lease that the run holds
// already counts as held, and is compared in its place.
//
// It returns a *BusyError or *InDoubtError when something is in the way, a
// *LostError when a named lease that it relies on is no longer the run's, and a
// *RetryableError when etcd's answer was lost; the lease of that try is then revoked.
func (l *Locker) Acquire(ctx context.Context, owner Owner, want []Resource, ops ...clientv3.Op) (*Held, error) {
	r, err := l.request(owner, want)
	if err != nil {
		return nil, err
	}
	g, err := l.pool.take(ctx)
	if err != nil {
		return nil, &RetryableError{err}
	}
	h, resp, err := r.attempt(ctx, g, r.conditions(), ops, r.looks())
	if h != nil || err != nil {
		return h, err
	}
	l.pool.put(g) // Nothing hangs on it.
	return nil, r.why(ctx, resp)
}

// attempt takes what is requested under a lease, if the conditions hold. Neither
// a Held nor an error means that they do not; the lease is as it was then.
func (r request) attempt(ctx context.Context, g *grant, cmps []clientv3.Cmp, ops, otherwise []clientv3.Op) (*Held, *clientv3.TxnResponse, error) {
	h := newHeld(r.l, r.owner, r.f, g)
	h.names = r.names
	resp, err := r.l.place(ctx, h.hold, record{Owner: r.owner}, cmps, ops, otherwise)
	if err != nil || !resp.Succeeded {
		return nil, resp, err
	}
	if err := h.begin(); err != nil {
		return nil, resp, err
	}
	return h, resp, nil
}

// place puts the keys of a hold under its lease, with the ops given, if the
// conditions hold. After an error the lease is revoked.
func (l *Locker) place(ctx context.Context, h *hold, rec record, cmps []clientv3.Cmp, ops, otherwise []clientv3.Op) (*clientv3.TxnResponse, error) {
	if rec.Since.IsZero() {
		rec.Since = l.o.Now().UTC()
	}
	raw, err := json.Marshal(rec)
	if err != nil {
		l.revokeBehind(h.grant.id)
		return nil, fmt.Errorf("lease: owner: %w", err)
	}
	resp, err := l.txn(ctx, cmps, append(h.puts(string(raw)), ops...), otherwise)
	switch {
	case errors.Is(err, errTooMany), refused(err) && !errors.Is(err, rpctypes.ErrLeaseNotFound):
		l.revokeBehind(h.grant.id)
		return nil, fmt.Errorf("lease: acquire: %w", err)
	case err != nil:
		l.giveUp(ctx, h.grant.id)
		return nil, &RetryableError{err}
	}
	h.fence = resp.Header.Revision
	return resp, nil
}
