package lease

import (
	"context"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
)

// NamedState is what can be seen of a name. The zero value: nobody holds it.
type NamedState struct {
	Held   bool
	Run    string // That holds it across its steps; empty: held by a person, or for one action only.
	For    string
	Holder string // Who that is, for people.
	Owner  Owner
	Since  time.Time
	Fence  int64     // The token, also the nonce that breaking it asks for.
	Until  time.Time // Kept until then although the run does not go on; zero: not.
}

// NamedState returns who holds a name. The locks of this process's own actions do not
// count: an action that locks a name may observe that nobody else holds it.
func (l *Locker) NamedState(ctx context.Context, name string) (NamedState, error) {
	f, err := newFootprint([]Resource{ParseResource(name)}, 0)
	if err != nil {
		return NamedState{}, err
	}
	resp, err := l.txn(ctx, nil, looks(f.free(l.keys)), nil)
	if err != nil {
		return NamedState{}, fmt.Errorf("lease: who holds %s: %w", name, err)
	}
	for _, kv := range found(resp) {
		if k, ok := l.keys.parse(string(kv.Key)); ok && !k.mark && !l.ofOwnAction(kv) {
			return stateOf(holder(k, kv)), nil
		}
	}
	return NamedState{}, nil
}

func stateOf(h Holder) NamedState {
	s := NamedState{Held: true, For: h.For, Holder: h.Owner.String(), Owner: h.Owner, Since: h.Since, Fence: h.Fence, Until: h.Until}
	if h.Named {
		s.Run = h.Owner.Run
	}
	return s
}

// ofOwnAction reports whether a lock is held by an action of this process.
func (l *Locker) ofOwnAction(kv *mvccpb.KeyValue) bool {
	h := l.eyes.holderOf(string(kv.Key), kv.CreateRevision)
	return h != nil && !l.isNamed(h)
}

func (l *Locker) isNamed(h *hold) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.mine {
		for _, n := range r.names {
			if n.hold == h {
				return true
			}
		}
	}
	return false
}
