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

// State is how far an intent has come.
type State string

// An intent is unresolved while armed or unknown.
const (
	StateArmed   State = "armed"   // Being done, or its controller died: only its locks tell.
	StateUnknown State = "unknown" // Its controller does not know what came of it; its marks stay.
	StateDone    State = "done"
)

// Result is what became of an action.
type Result string

// What became of an action.
const (
	Applied       Result = "applied"
	NotApplied    Result = "not_applied"
	UnknownResult Result = "unknown"
)

// Outcome is the end of an action, as observed.
type Outcome struct {
	Result Result          `json:"result"`
	Seen   json.RawMessage `json:"seen,omitempty"` // The observations it rests on.
	Note   string          `json:"note,omitempty"`
	By     Owner           `json:"by"`   // Zero: filled in.
	Time   time.Time       `json:"time"` // Zero: filled in.
}

// Intent is the durable record of an armed action. The caller of Arm gives ID
// and what people and recovery need; the rest is filled in.
type Intent struct {
	ID       string          `json:"id"`               // Unique for ever, a ULID.
	Writes   []Resource      `json:"writes,omitempty"` // What it may write; nil: everything held exclusively.
	Observed json.RawMessage `json:"observed,omitempty"`
	Digest   string          `json:"digest,omitempty"`
	Timeout  time.Duration   `json:"timeout,omitempty"`  // The longest the action may take, late effects included.
	Unfenced bool            `json:"unfenced,omitempty"` // No actuator keeps a fence: wait Timeout before resolving.
	Data     json.RawMessage `json:"data,omitempty"`

	Owner   Owner      `json:"owner"`
	Fence   int64      `json:"fence"`
	Held    []Resource `json:"held"`
	Locks   []string   `json:"locks"` // Keys of its locks.
	Marks   []Resource `json:"marks,omitempty"`
	Since   time.Time  `json:"since"`
	State   State      `json:"state"`
	Taken   *Taken     `json:"taken,omitempty"` // By whom it was taken over, last.
	Outcome *Outcome   `json:"outcome,omitempty"`

	Revision int64 `json:"-"` // At which it was read or written.
}

// Taken says who took an intent over.
type Taken struct {
	Owner Owner     `json:"owner"`
	Fence int64     `json:"fence"`
	Since time.Time `json:"since"`
}

func (in Intent) String() string {
	return fmt.Sprintf("action %s (%s, run %s step %d) is %s since %s", in.ID, in.Owner.Action, in.Owner.Run, in.Owner.Step, in.State, in.Since.Format(time.RFC3339))
}

func (in Intent) encode() (string, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return "", fmt.Errorf("lease: intent %s: %w", in.ID, err)
	}
	return string(raw), nil
}

func decodeIntent(kv *mvccpb.KeyValue) (Intent, error) {
	var in Intent
	if err := json.Unmarshal(kv.Value, &in); err != nil {
		return in, fmt.Errorf("lease: record %s cannot be read: %w", kv.Key, err)
	}
	in.Revision = kv.ModRevision
	return in, nil
}

// markKeys returns the keys of the intent's marks.
func (in Intent) markKeys(k Keys) []string {
	out := make([]string, 0, len(in.Marks))
	for _, r := range in.Marks {
		out = append(out, k.Mark(r.Fluent, r.Instance))
	}
	return out
}

// Intent reads one intent, linearizably; false where there is none.
func (l *Locker) Intent(ctx context.Context, id string) (Intent, bool, error) {
	ctx, cancel := l.bounded(ctx)
	defer cancel()
	resp, err := l.cli.Get(ctx, l.keys.Intent(id))
	if err != nil {
		return Intent{}, false, fmt.Errorf("lease: read intent %s: %w", id, err)
	}
	if len(resp.Kvs) == 0 {
		return Intent{}, false, nil
	}
	in, err := decodeIntent(resp.Kvs[0])
	return in, err == nil, err
}

// pageSize bounds one answer of etcd.
const pageSize = 256

// Intents returns what is armed and unresolved, oldest id first. Those whose
// controller is alive are among them: TakeOver tells the two apart.
func (l *Locker) Intents(ctx context.Context) ([]Intent, error) {
	var out []Intent
	err := l.each(ctx, l.keys.intents(), func(kv *mvccpb.KeyValue) error {
		in, err := decodeIntent(kv)
		if err == nil && in.State != StateDone {
			out = append(out, in)
		}
		return err
	})
	return out, err
}

// each calls f for every key below a prefix, page by page. It ends at the first error.
func (l *Locker) each(ctx context.Context, prefix string, f func(*mvccpb.KeyValue) error) error {
	all := prefixed(prefix)
	for {
		kvs, more, err := l.page(ctx, all)
		if err != nil {
			return err
		}
		for _, kv := range kvs {
			if err := f(kv); err != nil {
				return err
			}
		}
		if !more {
			return nil
		}
		all.from = string(kvs[len(kvs)-1].Key) + "\x00"
	}
}

func (l *Locker) page(ctx context.Context, r keyRange) ([]*mvccpb.KeyValue, bool, error) {
	ctx, cancel := l.bounded(ctx)
	defer cancel()
	resp, err := l.cli.Get(ctx, r.from, clientv3.WithRange(r.to), clientv3.WithLimit(pageSize))
	if err != nil {
		return nil, false, fmt.Errorf("lease: list: %w", err)
	}
	return resp.Kvs, resp.More, nil
}

// Forget deletes the records of resolved intents, once they are archived. An
// unresolved one is never deleted: that is an error, and those before it are gone.
func (l *Locker) Forget(ctx context.Context, ids ...string) error {
	for _, id := range ids {
		in, ok, err := l.Intent(ctx, id)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if in.State != StateDone {
			return errors.New("lease: not forgotten, because unresolved: " + in.String())
		}
		key := l.keys.Intent(id)
		if _, err := l.txn(ctx, []clientv3.Cmp{unchanged(key, in.Revision)}, []clientv3.Op{clientv3.OpDelete(key)}, nil); err != nil {
			return fmt.Errorf("lease: forget intent %s: %w", id, err)
		}
	}
	return nil
}

// ForgetRun deletes the records of all actions of a run, once it is archived.
// Where one of them is unresolved that is an error, and none is deleted.
func (l *Locker) ForgetRun(ctx context.Context, run string) error {
	var ids []string
	err := l.each(ctx, l.keys.intents(), func(kv *mvccpb.KeyValue) error {
		in, err := decodeIntent(kv)
		if err != nil || in.Owner.Run != run {
			return err
		}
		if in.State != StateDone {
			return errors.New("lease: not forgotten, because unresolved: " + in.String())
		}
		ids = append(ids, in.ID)
		return nil
	})
	if err != nil {
		return err
	}
	return l.Forget(ctx, ids...)
}
