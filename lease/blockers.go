package lease

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// maxShown bounds how many holders are read of each range.
const maxShown = 16

// looks reads what is in ranges that should have been empty.
func looks(ranges []keyRange) []clientv3.Op {
	out := make([]clientv3.Op, 0, len(ranges))
	for _, r := range ranges {
		out = append(out, r.get(clientv3.WithLimit(maxShown)))
	}
	return out
}

// found returns the keys that the looks of a transaction answered, each once.
func found(resp *clientv3.TxnResponse) []*mvccpb.KeyValue {
	return foundFirst(resp, len(resp.Responses))
}

// foundFirst is found, of the first n looks.
func foundFirst(resp *clientv3.TxnResponse, n int) []*mvccpb.KeyValue {
	seen := map[string]bool{}
	var out []*mvccpb.KeyValue
	for _, r := range resp.Responses[:n] {
		for _, kv := range r.GetResponseRange().GetKvs() {
			if !seen[string(kv.Key)] {
				seen[string(kv.Key)] = true
				out = append(out, kv)
			}
		}
	}
	return out
}

// inTheWay turns what was found into a *BusyError or, where there is a mark that nobody holds the lock of, an *InDoubtError.
func (l *Locker) inTheWay(ctx context.Context, keys []*mvccpb.KeyValue) error {
	busy := &BusyError{}
	var marks []*mvccpb.KeyValue
	for _, kv := range keys {
		k, ok := l.keys.parse(string(kv.Key))
		switch {
		case ok && k.mark:
			marks = append(marks, kv)
		case ok:
			busy.Holders = append(busy.Holders, holder(k, kv))
		default:
			busy.Holders = append(busy.Holders, l.ticket(kv))
		}
	}
	doubt, err := l.orphans(ctx, marks)
	if err != nil {
		return err
	}
	if len(doubt) > 0 {
		return &InDoubtError{Intents: doubt}
	}
	return busy
}

func holder(k lockKey, kv *mvccpb.KeyValue) Holder {
	h := Holder{Resource: k.Resource, Fence: kv.CreateRevision, Key: string(kv.Key)}
	var rec record
	if json.Unmarshal(kv.Value, &rec) == nil { // A script's own text is shown as no owner.
		h.Owner, h.Since, h.Named, h.For, h.Until = rec.Owner, rec.Since, rec.Named, rec.For, rec.Until
	}
	return h
}

func (l *Locker) ticket(kv *mvccpb.KeyValue) Holder {
	h := holder(lockKey{}, kv)
	h.Waiting = true
	h.Resource.Fluent = l.keys.queueOf(string(kv.Key))
	var rec record
	if json.Unmarshal(kv.Value, &rec) == nil {
		for _, r := range rec.Want {
			if r.Fluent == h.Resource.Fluent {
				h.Wants = append(h.Wants, r)
			}
		}
	}
	return h
}

// orphans returns the intents of those marks whose lock nobody holds.
func (l *Locker) orphans(ctx context.Context, marks []*mvccpb.KeyValue) ([]Intent, error) {
	var out []Intent
	seen := map[string]bool{}
	for _, m := range marks {
		id := string(m.Value)
		k, _ := l.keys.parse(string(m.Key))
		if seen[id] {
			continue
		}
		resp, err := l.txn(ctx, nil, []clientv3.Op{
			clientv3.OpGet(l.keys.Exclusive(k.Fluent, k.Instance), clientv3.WithKeysOnly()),
			clientv3.OpGet(string(m.Key)),
			clientv3.OpGet(l.keys.Intent(id)),
		}, nil)
		if err != nil {
			return nil, fmt.Errorf("lease: read intent %s: %w", id, err)
		}
		lock, mark, intent := answer(resp, 0), answer(resp, 1), answer(resp, 2)
		if lock != nil || mark == nil || string(mark.Value) != id {
			continue // Somebody is at it, or it has been resolved.
		}
		seen[id] = true
		out = append(out, describe(id, m, intent))
	}
	return out, nil
}

// describe decodes the intent of a mark; of a mark without one it says what is known.
func describe(id string, mark, intent *mvccpb.KeyValue) Intent {
	if intent != nil {
		if in, err := decodeIntent(intent); err == nil {
			return in
		}
	}
	return Intent{ID: id, State: StateUnknown, Fence: mark.ModRevision}
}

// answer returns the first key of the i-th range read by a transaction, nil where it was empty.
func answer(resp *clientv3.TxnResponse, i int) *mvccpb.KeyValue {
	if kvs := resp.Responses[i].GetResponseRange().GetKvs(); len(kvs) > 0 {
		return kvs[0]
	}
	return nil
}

// AwaitChange returns when something that was in the way of the resources has
// changed, at once when nothing is. The caller then tries Acquire again, and
// afterwards observes and validates anew. It ends with ctx; watching is backed by polling.
func (l *Locker) AwaitChange(ctx context.Context, want []Resource) error {
	r, err := l.request(Owner{}, want)
	if err != nil {
		return err
	}
	ranges := append(r.free, r.queues()...)
	before, rev, err := l.look(ctx, ranges)
	if err != nil || len(before) == 0 {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	from, to := string(l.keys)+"k/", clientv3.GetPrefixRangeEnd(string(l.keys)+"q/")
	changes := l.cli.Watch(ctx, from, clientv3.WithRange(to), clientv3.WithRev(rev+1), clientv3.WithFilterPut())
	poll := time.NewTicker(time.Second)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case resp, ok := <-changes:
			if !ok {
				changes = nil // Compacted or closed: polling goes on.
			}
			if !touches(resp, ranges) {
				continue
			}
			return nil
		case <-poll.C:
		}
		now, _, err := l.look(ctx, ranges)
		if err != nil {
			return err
		}
		if gone(before, now) {
			return nil
		}
	}
}

// look reads which keys are in the ranges, by their creation, and at which revision that was so.
func (l *Locker) look(ctx context.Context, ranges []keyRange) (map[string]int64, int64, error) {
	ops := make([]clientv3.Op, 0, len(ranges))
	for _, r := range ranges {
		ops = append(ops, r.get(clientv3.WithKeysOnly(), clientv3.WithLimit(maxShown)))
	}
	resp, err := l.txn(ctx, nil, ops, nil)
	if err != nil {
		return nil, 0, fmt.Errorf("lease: look at what is in the way: %w", err)
	}
	keys := map[string]int64{}
	for _, kv := range found(resp) {
		keys[string(kv.Key)] = kv.CreateRevision
	}
	return keys, resp.Header.Revision, nil
}

func gone(before, now map[string]int64) bool {
	for key, rev := range before {
		if now[key] != rev {
			return true
		}
	}
	return false
}

// touches reports whether a watch answered with a key in one of the ranges.
func touches(resp clientv3.WatchResponse, ranges []keyRange) bool {
	for _, ev := range resp.Events {
		for _, r := range ranges {
			if key := string(ev.Kv.Key); r.from <= key && key < r.to {
				return true
			}
		}
	}
	return false
}
