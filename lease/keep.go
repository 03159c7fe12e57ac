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

func (r record) encode() (string, error) {
	raw, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("lease: owner: %w", err)
	}
	return string(raw), nil
}

// Keep binds the named leases of a run to a time, for a run that stops to wait for
// an approval: nobody renews them any more, and they last until then. Adopt takes
// them back. It returns their names. After an error all is as it was.
func (l *Locker) Keep(ctx context.Context, run string, until time.Time) ([]string, error) {
	names := l.names(run)
	if len(names) == 0 {
		return nil, nil
	}
	ttl := max(until.Sub(l.o.Now()), l.o.TTL)
	rctx, cancel := l.bounded(ctx)
	defer cancel()
	granted, err := l.cli.Grant(rctx, int64((ttl+time.Second-1)/time.Second))
	if err != nil {
		return nil, fmt.Errorf("lease: keep the leases of run %s: %w", run, err)
	}
	if err := l.rebind(ctx, names, granted.ID, until.UTC()); err != nil {
		l.giveUp(ctx, granted.ID)
		return nil, fmt.Errorf("lease: keep the leases of run %s: %w", run, err)
	}
	var out []string
	for _, n := range names {
		n.given.Store(true)
		n.giveBack() // Of its old lease, which nothing hangs on any more.
		n.forget()
		out = append(out, n.name)
	}
	return out, nil
}

// rebind hangs the keys of names on another lease, all or none.
func (l *Locker) rebind(ctx context.Context, names []*Named, id clientv3.LeaseID, until time.Time) error {
	var cmps []clientv3.Cmp
	var puts []clientv3.Op
	for _, n := range names {
		l.mu.Lock()
		rec := n.rec
		l.mu.Unlock()
		rec.Until = until
		raw, err := rec.encode()
		if err != nil {
			return err
		}
		cmps = append(cmps, n.ours())
		puts = append(puts, clientv3.OpPut(n.key(), raw, clientv3.WithLease(id)))
	}
	resp, err := l.txn(ctx, cmps, puts, readAll(names))
	if err != nil {
		return err
	}
	if !resp.Succeeded {
		return errors.Join(lostName(names, resp, 0), errors.New("lease: a named lease is no longer the run's"))
	}
	return nil
}

// Adopt takes back the named leases of a run that is gone on with, wherever they
// were acquired and kept: from now on this process renews them. It must
// drive the run (see ClaimRun). It returns what it took back, and with an error what it had taken by then.
func (l *Locker) Adopt(ctx context.Context, run string) ([]*Named, error) {
	drives := l.drives(run)
	if len(drives) == 0 {
		return nil, fmt.Errorf("lease: run %s is not driven by this process; claim it first", run)
	}
	var out []*Named
	err := l.each(ctx, string(l.keys)+"k/", func(kv *mvccpb.KeyValue) error {
		var rec record
		k, ok := l.keys.parse(string(kv.Key))
		if !ok || k.mark || json.Unmarshal(kv.Value, &rec) != nil || !rec.Named || rec.Owner.Run != run {
			return nil
		}
		if l.eyes.holderOf(string(kv.Key), kv.CreateRevision) != nil {
			return nil // Held here already.
		}
		n, err := l.adopt(ctx, k.Resource, kv, rec, drives)
		if n != nil {
			out = append(out, n)
		}
		return err
	})
	return out, err
}

// adopt takes one back: its key stays, with its token, and hangs on a lease of ours. It
// returns nil where it has changed meanwhile.
func (l *Locker) adopt(ctx context.Context, r Resource, kv *mvccpb.KeyValue, rec record, cmps []clientv3.Cmp) (*Named, error) {
	g, err := l.pool.take(ctx)
	if err != nil {
		return nil, &RetryableError{err}
	}
	n := &Named{hold: newHold(l, g, []string{string(kv.Key)}), name: r.String(), resource: r}
	me := Owner{}.filled()
	rec.Owner.Host, rec.Owner.PID, rec.Until = me.Host, me.PID, time.Time{}
	n.rec = rec
	cmps = append([]clientv3.Cmp{unchanged(string(kv.Key), kv.ModRevision)}, cmps...)
	resp, err := l.place(ctx, n.hold, rec, cmps, nil, conditionKeys(cmps))
	if err != nil {
		return nil, err
	}
	if !resp.Succeeded {
		l.pool.put(g) // Nothing hangs on it.
		if e := l.refusal(cmps, resp, 0); e.NotOwner {
			return nil, e
		}
		return nil, nil
	}
	n.fence = kv.CreateRevision
	return n, n.begin(rec.Owner.Run)
}
