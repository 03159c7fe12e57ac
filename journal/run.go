package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Run writes one run. Its methods are safe for concurrent use, and give numbers in the order they are called.
type Run struct {
	j       *Journal
	id      string
	started time.Time
	secrets [][]byte                              // see Redact
	hide    func(json.RawMessage) json.RawMessage // see RedactBy; nil: nothing more

	mu  sync.Mutex
	seq int64 // Of the newest event, written or riding.
}

// ID returns the run's id.
func (r *Run) ID() string { return r.id }

// Append writes an event, and with it the bodies it refers to, in a transaction
// of its own. It returns ErrNotWriter where another process has written that number.
// After another error the event may be there or not.
func (r *Run) Append(ctx context.Context, kind string, data any, blobs ...Blob) error {
	e, err := r.Ride(kind, data, blobs...)
	if err != nil {
		return err
	}
	return r.Write(ctx, e)
}

// Write writes an event that Ride has numbered, in a transaction of its own.
func (r *Run) Write(ctx context.Context, e Entry) error {
	if err := r.j.putOnce(ctx, e.key, e.value, e.Ops()); err != nil {
		return fmt.Errorf("journal: append %s to run %s: %w", e.Event.Kind, r.id, err)
	}
	return nil
}

// Ride gives an event its number and returns what is to be put by the caller's
// transaction. Where that fails the number stays unused, which readers pass over.
// Its error is that of encoding the data.
func (r *Run) Ride(kind string, data any, blobs ...Blob) (Entry, error) {
	raw, err := encode(kind, data)
	if err != nil {
		return Entry{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	ev := Event{Seq: r.seq + 1, Time: r.j.Now().UTC(), Run: r.id, Kind: kind, Data: r.Redacted(raw)}
	value, err := json.Marshal(ev)
	if err != nil {
		return Entry{}, fmt.Errorf("journal: %s: %w", kind, err)
	}
	r.seq = ev.Seq
	e := Entry{Event: ev, key: r.j.event(r.id, ev.Seq), value: string(value)}
	for _, b := range blobs {
		e.blobs = append(e.blobs, clientv3.OpPut(r.j.blob(r.id, b.Ref.SHA256), string(b.body)))
	}
	e.blobs = distinct(e.blobs)
	return e, nil
}

// Events yields what was written of the run so far, in the order of the numbers.
// It ends at the first error.
func (r *Run) Events(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) { _, _, _ = r.j.read(ctx, r.id, 0, yield) }
}

// SetHead replaces the head.
func (r *Run) SetHead(ctx context.Context, head any) error {
	ops, err := r.RideHead(head)
	if err != nil {
		return err
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	exists := clientv3.Compare(clientv3.CreateRevision(r.j.head(r.id)), ">", 0)
	resp, err := r.j.cli.Txn(ctx).If(exists).Then(ops...).Commit()
	if err != nil {
		return fmt.Errorf("journal: head of run %s: %w", r.id, err)
	}
	if !resp.Succeeded {
		return fmt.Errorf("journal: head of run %s: %w", r.id, ErrNotFound)
	}
	return nil
}

// RideHead returns the replacement of the head, to be put by the caller's transaction.
func (r *Run) RideHead(head any) ([]clientv3.Op, error) {
	key, value, err := r.headRecord(head)
	if err != nil {
		return nil, err
	}
	return []clientv3.Op{clientv3.OpPut(key, value)}, nil
}

func (r *Run) headRecord(data any) (key, value string, err error) {
	raw, err := encode("head", data)
	if err != nil {
		return "", "", err
	}
	rec, err := json.Marshal(Head{Run: r.id, Started: r.started, Updated: r.j.Now().UTC(), Data: raw})
	if err != nil {
		return "", "", fmt.Errorf("journal: head: %w", err)
	}
	return r.j.head(r.id), string(rec), nil
}

// Entry is an event that rides in another's transaction.
type Entry struct {
	Event Event

	key, value string
	blobs      []clientv3.Op
}

// Ops returns what is to be put. The zero Entry puts nothing.
func (e Entry) Ops() []clientv3.Op {
	if e.key == "" {
		return nil
	}
	return append([]clientv3.Op{clientv3.OpPut(e.key, e.value)}, e.blobs...)
}

// distinct drops puts of a key that is put before. Only bodies, which are named by their digest, ever are.
func distinct(ops []clientv3.Op) []clientv3.Op {
	seen := map[string]bool{}
	return slices.DeleteFunc(ops, func(op clientv3.Op) bool {
		key := string(op.KeyBytes())
		again := seen[key]
		seen[key] = true
		return again
	})
}

// Cmps returns the condition that nobody has written this number, for transactions that take conditions.
func (e Entry) Cmps() []clientv3.Cmp {
	if e.key == "" {
		return nil
	}
	return []clientv3.Cmp{absent(e.key)}
}
