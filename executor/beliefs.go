package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/model"
)

// Beliefs keeps the values of fluents that nothing can observe, across runs.
type Beliefs struct {
	Client *clientv3.Client
	Keys   lease.Keys
}

// Put returns the operation that stores a belief; nil stands for unknown. It
// rides in the transaction that records the outcome it rests on.
func (b Beliefs) Put(atom string, value any) clientv3.Op {
	raw, err := json.Marshal(value)
	if err != nil { // A bool, a number, a string or nil: cannot happen.
		raw = []byte("null")
	}
	return clientv3.OpPut(b.Keys.Belief(atom), string(raw))
}

// beliefTimeout bounds the reading of beliefs.
const beliefTimeout = 5 * time.Second

// Load returns the stored beliefs by the text of their atoms.
func (b Beliefs) Load(ctx context.Context) (map[string]json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, beliefTimeout)
	defer cancel()
	prefix := b.Keys.Belief("")
	resp, err := b.Client.Get(ctx, prefix, clientv3.WithPrefix())
	if err != nil {
		return nil, fmt.Errorf("read the beliefs: %w", err)
	}
	out := map[string]json.RawMessage{}
	for _, kv := range resp.Kvs {
		atom, err := url.PathUnescape(strings.TrimPrefix(string(kv.Key), prefix))
		if err != nil {
			return nil, fmt.Errorf("read the belief %s: %w", kv.Key, err)
		}
		out[atom] = kv.Value
	}
	return out, nil
}

// recall gives the belief fluents the values that earlier actions left, or
// their initial ones.
func (r *run) recall(ctx context.Context) error {
	var fluents []*model.Fluent
	for _, f := range r.u.Fluents {
		if f.Initial != nil {
			fluents = append(fluents, f)
		}
	}
	if len(fluents) == 0 {
		return nil
	}
	stored, err := r.Beliefs.Load(ctx)
	if err != nil {
		return err
	}
	doc := map[string]json.RawMessage{}
	now := r.u.NewState(false)
	for _, f := range fluents {
		now.SetInitial(f)
		for a := range r.u.Atoms(f) {
			if raw, ok := stored[r.u.Text(a)]; ok {
				doc[r.u.Text(a)] = raw
			}
		}
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		return fmt.Errorf("encode the beliefs: %w", err)
	}
	known, err := r.u.ParseState(raw)
	if err != nil {
		return fmt.Errorf("the stored beliefs do not fit the model: %w", err)
	}
	for _, f := range fluents {
		for a := range r.u.Atoms(f) {
			v := now.Get(a)
			if _, ok := doc[r.u.Text(a)]; ok {
				v = known.Get(a)
			}
			r.learn(a, v)
		}
	}
	return nil
}
