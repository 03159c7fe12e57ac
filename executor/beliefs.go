package executor

import (
	"bytes"
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

// Belief is what is stored of an atom that nothing can observe: its value, and
// the action on whose outcome that rests.
type Belief struct {
	Value    json.RawMessage `json:"value"` // null: unknown
	Action   string          `json:"action,omitempty"`
	ActionID string          `json:"action_id,omitempty"`
	Since    time.Time       `json:"since,omitzero"`

	revision int64 // of the store when it was read, which whoever replaces it compares
}

// origin says for people where a belief comes from.
func (b Belief) origin() string {
	switch {
	case b.Action == "":
		return ""
	case b.Since.IsZero():
		return b.Action
	}
	return b.Action + " at " + b.Since.Local().Format(time.DateTime)
}

// decodeBelief reads what is stored; the bare value is one that says no more.
func decodeBelief(raw []byte) (Belief, error) {
	if !bytes.HasPrefix(raw, []byte("{")) {
		return Belief{Value: raw}, nil
	}
	var b Belief
	err := json.Unmarshal(raw, &b)
	return b, err
}

// put returns the operation that stores a belief; nil stands for unknown. It
// rides in the transaction that records the outcome it rests on.
func (b Beliefs) put(atom string, value any, of Belief) clientv3.Op {
	of.Value, of.revision = nil, 0
	raw, err := json.Marshal(value)
	if err != nil { // A bool, a number, a string or nil: cannot happen.
		raw = []byte("null")
	}
	of.Value = raw
	if raw, err = json.Marshal(of); err != nil {
		raw = []byte("null")
	}
	return clientv3.OpPut(b.Keys.Belief(atom), string(raw))
}

// swap is put in place of the belief that the new value was derived from.
// Where the store has another one by then, what is true is not known.
func (b Beliefs) swap(atom string, from Belief, value any, of Belief) clientv3.Op {
	same := clientv3.Compare(clientv3.ModRevision(b.Keys.Belief(atom)), "=", from.revision)
	return clientv3.OpTxn([]clientv3.Cmp{same}, []clientv3.Op{b.put(atom, value, of)}, []clientv3.Op{b.put(atom, nil, of)})
}

// beliefTimeout bounds the reading of beliefs.
const beliefTimeout = 5 * time.Second

// Load returns the stored beliefs by the text of their atoms.
func (b Beliefs) Load(ctx context.Context) (map[string]Belief, error) {
	ctx, cancel := context.WithTimeout(ctx, beliefTimeout)
	defer cancel()
	prefix := b.Keys.Belief("")
	resp, err := b.Client.Get(ctx, prefix, clientv3.WithPrefix())
	if err != nil {
		return nil, fmt.Errorf("read the beliefs: %w", err)
	}
	out := map[string]Belief{}
	for _, kv := range resp.Kvs {
		atom, err := url.PathUnescape(strings.TrimPrefix(string(kv.Key), prefix))
		if err != nil {
			return nil, fmt.Errorf("read the belief %s: %w", kv.Key, err)
		}
		belief, err := decodeBelief(kv.Value)
		if err != nil {
			return nil, fmt.Errorf("read the belief %s: %w", atom, err)
		}
		belief.revision = kv.ModRevision
		out[atom] = belief
	}
	return out, nil
}

// Believed is the state of the belief fluents of a universe: the values that are
// stored, or their initial ones. Nothing else is known in it.
func Believed(u *model.Universe, stored map[string]Belief) (*model.State, error) {
	state := u.NewState(false)
	doc := map[string]json.RawMessage{}
	var atoms []model.Atom
	for _, f := range u.Fluents {
		if !isBelief(f) {
			continue
		}
		state.SetInitial(f)
		for a := range u.Atoms(f) {
			if b, ok := stored[u.Text(a)]; ok {
				doc[u.Text(a)] = b.Value
				atoms = append(atoms, a)
			}
		}
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("encode the beliefs: %w", err)
	}
	known, err := u.ParseState(raw)
	if err != nil {
		return nil, fmt.Errorf("the stored beliefs do not fit the model: %w", err)
	}
	for _, a := range atoms {
		state.Set(a, known.Get(a))
	}
	return state, nil
}
