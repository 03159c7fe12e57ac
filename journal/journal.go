// Package journal keeps the append-only record of runs in etcd: per run a head,
// which is updated in place, numbered events, and the bodies that events refer
// to. It is the only output stream of a run; whoever shows a run reads it here.
//
// It knows no other package's types: an event is a kind and raw JSON, and a
// reader passes over kinds it does not know. A run has one writer; a second one
// is told so. Events may ride in the transactions of package lease, so that what was
// decided and what was written down cannot come apart.
//
// It refuses big events: bodies are capped, stored by their digest, and referred to.
package journal

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// MaxBlob is the most that is kept of one body, in bytes.
	MaxBlob = 64 << 10
	// MaxEvent is the largest an event's or a head's data may be, in bytes.
	MaxEvent = 256 << 10
	// requestTimeout bounds each request to etcd, within the caller's context.
	requestTimeout = 5 * time.Second
	// pageSize bounds one answer of etcd.
	pageSize = 256
)

// Journal reads and starts the runs of one scope. It is safe for concurrent use.
type Journal struct {
	cli     *clientv3.Client
	prefix  string
	archive string // Folder of its archived runs; empty: none is read.

	// Now reads the wall clock for the times of events. It may be set before the first use.
	Now func() time.Time
}

// Open returns the journal of the scope whose keys begin with prefix, "<prefix>/v1/<scope>/". It asks nothing of etcd.
func Open(cli *clientv3.Client, prefix string) *Journal {
	return &Journal{cli: cli, prefix: prefix, Now: time.Now}
}

// Event is one entry of a run.
type Event struct {
	Seq  int64           `json:"seq"` // From 1, strictly increasing; numbers may be missing.
	Time time.Time       `json:"time"`
	Run  string          `json:"run"`
	Kind string          `json:"kind"`
	Data json.RawMessage `json:"data,omitempty"`
}

// Head is the status of a run, as its writer last set it.
type Head struct {
	Run     string          `json:"run"`
	Started time.Time       `json:"started"`
	Updated time.Time       `json:"updated"`
	Data    json.RawMessage `json:"data"`

	Revision int64 `json:"-"` // At which it was read.
	// Damaged says why the file of an archived run cannot be read; all else but
	// the run's id is zero then. [Journal.Runs] alone returns such a head.
	Damaged error `json:"-"`
}

// Errors of reading and writing.
var (
	ErrNotFound  = errors.New("journal: no such run")
	ErrNotWriter = errors.New("journal: another process writes this run")
)

func (j *Journal) runs() string          { return j.prefix + "run/" }
func (j *Journal) run(id string) string  { return j.runs() + url.PathEscape(id) + "/" }
func (j *Journal) head(id string) string { return j.run(id) + "head" }
func (j *Journal) events(id string) string {
	return j.run(id) + "e/"
}

func (j *Journal) event(id string, seq int64) string {
	return fmt.Sprintf("%s%012d", j.events(id), seq)
}
func (j *Journal) blobs(id string) string     { return j.run(id) + "b/" }
func (j *Journal) blob(id, sum string) string { return j.blobs(id) + url.PathEscape(sum) }

// Start begins a new run, named by a ULID, with its head. Its random part is the
// system's: one that is drawn from the time is the same in two processes that
// ask within one tick of the clock.
func (j *Journal) Start(ctx context.Context, head any) (*Run, error) {
	return j.StartAs(ctx, ulid.MustNew(ulid.Timestamp(j.Now()), rand.Reader).String(), head)
}

// StartAs begins a new run of a given id, which must not exist.
func (j *Journal) StartAs(ctx context.Context, id string, head any) (*Run, error) {
	r := &Run{j: j, id: id, started: j.Now().UTC()}
	key, value, err := r.headRecord(head)
	if err != nil {
		return nil, err
	}
	err = j.putOnce(ctx, key, value, []clientv3.Op{clientv3.OpPut(key, value)})
	if err != nil {
		return nil, fmt.Errorf("journal: start run %s: %w", id, err)
	}
	return r, nil
}

// Resume goes on writing a run, after its last event. That nobody else writes
// it is for the run's owner key to see to; where it fails to, Append does.
func (j *Journal) Resume(ctx context.Context, id string) (*Run, error) {
	head, err := j.storedHead(ctx, id)
	if errors.Is(err, ErrNotFound) && j.moved(ctx, id) {
		return nil, fmt.Errorf("journal: run %s is finished and archived in %s; it cannot be gone on with", id, j.archived(id))
	}
	if err != nil {
		return nil, err
	}
	rctx, cancel := bounded(ctx)
	defer cancel()
	resp, err := j.cli.Get(rctx, j.events(id), clientv3.WithLastKey()...)
	if err != nil {
		return nil, fmt.Errorf("journal: resume run %s: %w", id, err)
	}
	r := &Run{j: j, id: id, started: head.Started}
	if len(resp.Kvs) > 0 {
		last, err := decodeEvent(resp.Kvs[0])
		if err != nil {
			return nil, err
		}
		r.seq = last.Seq
	}
	return r, nil
}

// putOnce commits a transaction that must not find its key. Where an answer was
// lost it looks again: a key with this very value is its own.
func (j *Journal) putOnce(ctx context.Context, key, value string, ops []clientv3.Op) error {
	const tries = 3
	var err error
	for range tries {
		var resp *clientv3.TxnResponse
		resp, err = j.tryOnce(ctx, key, ops)
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			continue
		}
		if resp.Succeeded {
			return nil
		}
		if kvs := resp.Responses[0].GetResponseRange().GetKvs(); len(kvs) == 1 && string(kvs[0].Value) == value {
			return nil
		}
		return ErrNotWriter
	}
	return err
}

func (j *Journal) tryOnce(ctx context.Context, key string, ops []clientv3.Op) (*clientv3.TxnResponse, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	return j.cli.Txn(ctx).If(absent(key)).Then(ops...).Else(clientv3.OpGet(key)).Commit()
}

func absent(key string) clientv3.Cmp { return clientv3.Compare(clientv3.CreateRevision(key), "=", 0) }

func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, requestTimeout)
}

// idOf returns the run that a key below "run/" belongs to.
func (j *Journal) idOf(key string) (string, error) {
	name, _, _ := strings.Cut(strings.TrimPrefix(key, j.runs()), "/")
	id, err := url.PathUnescape(name)
	if err != nil {
		return "", fmt.Errorf("journal: key %q: %w", key, err)
	}
	return id, nil
}

func encode(what string, data any) (json.RawMessage, error) {
	raw, err := json.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("journal: %s: %w", what, err)
	}
	if len(raw) > MaxEvent {
		return nil, fmt.Errorf("journal: %s of %d bytes, more than %d; put its body into a blob", what, len(raw), MaxEvent)
	}
	return raw, nil
}
