// Package ledger keeps in etcd what all controllers of a scope did, so that the
// limits they share (policy.Shared) hold for them together: the actions that
// were begun, one key each in the order of time, and for each goal the runs
// towards it. It reads, asks the policy, and hands the executor the conditions
// and operations that ride in the transactions of the lease protocol.
//
// An action is counted by the very transaction that arms it, under the
// condition that no other was counted since the limits were looked at. That is
// one condition and two or three operations, whatever the limits are about; where two
// controllers meet, one of them looks again. Times are the controllers' own
// clocks. An action dated in the future counts like any other, and what is
// older than any limit may look back is deleted, by and by, as new ones are
// written: by the time that many actions tell, and not by one clock.
//
// What the package refuses: to let an action pass on a count that it could not
// read, and to close a breaker on anything but a success that lasted, the time
// that the policy grants, or a person's word, which is written down.
package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/policy"
)

const (
	// kept is for how long actions are kept: a day more than a limit may look
	// back, so that a clock which is ahead deletes nothing that another counts.
	kept = policy.SharedReach + 24*time.Hour
	// timeout bounds each use of the store.
	timeout = 5 * time.Second
	// page is how many records are read at once.
	page = 500
)

// Ledger keeps what the controllers of a scope did. It is safe for concurrent use.
type Ledger struct {
	cli  *clientv3.Client
	keys lease.Keys
	now  func() time.Time
}

// New returns the ledger of a scope; a nil clock is time.Now.
func New(cli *clientv3.Client, k lease.Keys, now func() time.Time) *Ledger {
	if now == nil {
		now = time.Now
	}
	return &Ledger{cli: cli, keys: k, now: now}
}

// History returns all the actions that all controllers began since so long ago,
// oldest first, and those dated in the future.
func (l *Ledger) History(ctx context.Context, since time.Duration) ([]policy.Deed, error) {
	deeds, _, err := l.counted(ctx, since)
	return deeds, err
}

// last is where the actions of the last so long are.
func (l *Ledger) last(since time.Duration) (from, to string) {
	return l.keys.DeedsFrom(l.now().Add(-since)), clientv3.GetPrefixRangeEnd(l.keys.Deeds())
}

// counted reads all actions of the last so long, and the revision of the count
// that they are at, all at one moment.
func (l *Ledger) counted(ctx context.Context, since time.Duration) ([]policy.Deed, int64, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	from, to := l.last(since)
	look := func(from string) clientv3.Op {
		return clientv3.OpGet(from, clientv3.WithRange(to), clientv3.WithLimit(page))
	}
	first, err := l.cli.Txn(ctx).Then(clientv3.OpGet(l.keys.DeedCount(), clientv3.WithKeysOnly()), look(from)).Commit()
	if err != nil {
		return nil, 0, fmt.Errorf("count what all controllers did: %w", err)
	}
	var count int64
	if kvs := first.Responses[0].GetResponseRange().Kvs; len(kvs) > 0 {
		count = kvs[0].ModRevision
	}
	got := first.Responses[1].GetResponseRange()
	kvs, more := got.Kvs, got.More
	deeds, err := decodeDeeds(nil, kvs)
	for err == nil && more {
		var resp *clientv3.GetResponse
		next := string(kvs[len(kvs)-1].Key) + "\x00"
		resp, err = l.cli.Get(ctx, next, clientv3.WithRange(to), clientv3.WithLimit(page), clientv3.WithRev(first.Header.Revision))
		if err != nil {
			return nil, 0, fmt.Errorf("count what all controllers did: %w", err)
		}
		kvs, more = resp.Kvs, resp.More
		deeds, err = decodeDeeds(deeds, kvs)
	}
	return deeds, count, err
}

func decodeDeeds(deeds []policy.Deed, kvs []*mvccpb.KeyValue) ([]policy.Deed, error) {
	for _, kv := range kvs {
		var d policy.Deed
		if err := json.Unmarshal(kv.Value, &d); err != nil {
			return nil, fmt.Errorf("the record %s of an action cannot be read: %w", kv.Key, err)
		}
		deeds = append(deeds, d)
	}
	return deeds, nil
}
