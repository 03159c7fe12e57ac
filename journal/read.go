package journal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Head returns the head of a run, or ErrNotFound.
func (j *Journal) Head(ctx context.Context, id string) (Head, error) {
	h, err := j.storedHead(ctx, id)
	if errors.Is(err, ErrNotFound) && j.archive != "" {
		return j.archivedHead(id)
	}
	return h, err
}

// storedHead is Head of a run that is in etcd.
func (j *Journal) storedHead(ctx context.Context, id string) (Head, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	resp, err := j.cli.Get(ctx, j.head(id))
	if err != nil {
		return Head{}, fmt.Errorf("journal: head of run %s: %w", id, err)
	}
	if len(resp.Kvs) == 0 {
		return Head{}, fmt.Errorf("%w: %s", ErrNotFound, id)
	}
	return decodeHead(resp.Kvs[0])
}

// Runs returns the heads of all runs, newest first, archived ones too. One whose
// file in the archive cannot be read is among them, see [Head.Damaged].
func (j *Journal) Runs(ctx context.Context) ([]Head, error) {
	old, err := j.archivedHeads() // First: what is moved meanwhile is then seen at least once.
	if err != nil {
		return nil, err
	}
	out, err := j.stored(ctx)
	if err != nil || len(old) == 0 {
		return out, err
	}
	known := map[string]bool{}
	for _, h := range out {
		known[h.Run] = true
	}
	for _, h := range old { // One that is in both was not pruned yet.
		if !known[h.Run] {
			out = append(out, h)
		}
	}
	slices.SortFunc(out, func(a, b Head) int { return cmp.Compare(b.Run, a.Run) })
	return out, nil
}

// stored returns the heads of the runs in etcd, newest first. It steps from run to run and reads no events.
func (j *Journal) stored(ctx context.Context) ([]Head, error) {
	var ids []string
	from, end := j.runs(), clientv3.GetPrefixRangeEnd(j.runs())
	for {
		id, err := j.firstRun(ctx, from, end)
		if err != nil {
			return nil, err
		}
		if id == "" {
			break
		}
		ids = append(ids, id)
		from = clientv3.GetPrefixRangeEnd(j.run(id))
	}
	slices.Reverse(ids)
	var out []Head
	for some := range slices.Chunk(ids, headsAtOnce) {
		heads, err := j.heads(ctx, some)
		if err != nil {
			return nil, err
		}
		out = append(out, heads...)
	}
	return out, nil
}

// headsAtOnce is below etcd's limit of 128 operations in a transaction.
const headsAtOnce = 100

// firstRun returns the run with the least id from a key on, empty where there is none.
func (j *Journal) firstRun(ctx context.Context, from, end string) (string, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	resp, err := j.cli.Get(ctx, from, clientv3.WithRange(end), clientv3.WithKeysOnly(), clientv3.WithLimit(1))
	if err != nil {
		return "", fmt.Errorf("journal: list runs: %w", err)
	}
	if len(resp.Kvs) == 0 {
		return "", nil
	}
	return j.idOf(string(resp.Kvs[0].Key))
}

// heads reads the heads of some runs. A run that was only given an owner has none, and is left out.
func (j *Journal) heads(ctx context.Context, ids []string) ([]Head, error) {
	ops := make([]clientv3.Op, 0, len(ids))
	for _, id := range ids {
		ops = append(ops, clientv3.OpGet(j.head(id)))
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	resp, err := j.cli.Txn(ctx).Then(ops...).Commit()
	if err != nil {
		return nil, fmt.Errorf("journal: heads of runs: %w", err)
	}
	var out []Head
	for _, r := range resp.Responses {
		for _, kv := range r.GetResponseRange().GetKvs() {
			h, err := decodeHead(kv)
			if err != nil {
				return nil, err
			}
			out = append(out, h)
		}
	}
	return out, nil
}

// Events yields the events of a run in the order of their numbers, page by page. It ends at the first error.
func (j *Journal) Events(ctx context.Context, id string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if j.moved(ctx, id) {
			j.archivedEvents(id, 0, yield)
			return
		}
		_, _, _ = j.read(ctx, id, 0, yield)
	}
}

// moved reports whether a run is in the archive alone.
func (j *Journal) moved(ctx context.Context, id string) bool {
	if j.archive == "" {
		return false
	}
	_, err := j.storedHead(ctx, id)
	if !errors.Is(err, ErrNotFound) {
		return false
	}
	_, err = os.Stat(j.archived(id))
	return err == nil
}

// read yields the events after a number. It returns the last number, the revision
// that it has read up to, and whether the caller wants more.
func (j *Journal) read(ctx context.Context, id string, after int64, yield func(Event, error) bool) (int64, int64, bool) {
	end := clientv3.GetPrefixRangeEnd(j.events(id))
	for {
		resp, err := j.page(ctx, j.event(id, after+1), end)
		if err != nil {
			yield(Event{}, fmt.Errorf("journal: events of run %s: %w", id, err))
			return after, 0, false
		}
		for _, kv := range resp.Kvs {
			ev, err := decodeEvent(kv)
			if !yield(ev, err) || err != nil {
				return after, 0, false
			}
			after = ev.Seq
		}
		if !resp.More {
			return after, resp.Header.Revision, true
		}
	}
}

func (j *Journal) page(ctx context.Context, from, to string) (*clientv3.GetResponse, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	return j.cli.Get(ctx, from, clientv3.WithRange(to), clientv3.WithLimit(pageSize))
}

func decodeEvent(kv *mvccpb.KeyValue) (Event, error) {
	var ev Event
	if err := json.Unmarshal(kv.Value, &ev); err != nil {
		return ev, fmt.Errorf("journal: event %s cannot be read: %w", kv.Key, err)
	}
	return ev, nil
}

func decodeHead(kv *mvccpb.KeyValue) (Head, error) {
	var h Head
	if err := json.Unmarshal(kv.Value, &h); err != nil {
		return h, fmt.Errorf("journal: head %s cannot be read: %w", kv.Key, err)
	}
	h.Revision = kv.ModRevision
	return h, nil
}
