package lease

import (
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// TakeOver takes an unresolved action over, from a controller that died or from
// this run itself, in one transaction: the intent is as given, its holder's locks are
// gone, the marks are still its own, and nothing else is held in what they
// mark. It then holds the marked resources exclusively, with a new token; the
// caller raises the fence, observes and calls Resolve. Nothing is ever replayed blindly.
//
// Where no actuator keeps a fence (Intent.Unfenced), the caller first waits
// Intent.Timeout since it saw the lock gone.
//
// It returns a *BusyError while the holder's locks are there, and a
// *ChangedError when the intent is no longer as given.
func (l *Locker) TakeOver(ctx context.Context, owner Owner, in Intent, ops ...clientv3.Op) (*Held, error) {
	if in.State == StateDone || in.Revision == 0 {
		return nil, errors.New("lease: only an unresolved intent that was read from etcd is taken over")
	}
	f := footprint(in.Marks)
	if len(f) == 0 {
		f = nothing
	}
	cmps, ranges := l.takeOverConditions(in, f)
	key := l.keys.Intent(in.ID)
	owner = owner.filled()
	prior := in
	prior.Taken = &Taken{Owner: owner, Since: l.o.Now().UTC()}
	raw, err := prior.encode()
	if err != nil {
		return nil, err
	}
	g, err := l.pool.take(ctx)
	if err != nil {
		return nil, &RetryableError{err}
	}
	h := newHeld(l, owner, f, g)
	ops = append([]clientv3.Op{clientv3.OpPut(key, raw)}, ops...)
	resp, err := l.place(ctx, h.hold, record{Owner: owner}, cmps, ops, append(looks(ranges), clientv3.OpGet(key)))
	if err != nil {
		return nil, err
	}
	if !resp.Succeeded {
		l.pool.put(g) // Nothing hangs on it.
		now := answerIntent(resp, len(ranges), in.ID)
		if now.Revision != in.Revision {
			return nil, &ChangedError{Intent: now}
		}
		return nil, l.notFree(resp, in)
	}
	prior.Revision, prior.Taken.Fence = h.fence, h.fence
	h.intent, h.phase, h.taken = prior, armed, true
	return h, h.begin()
}

// takeOverConditions returns the conditions, and the ranges to look into when they do not hold.
func (l *Locker) takeOverConditions(in Intent, f footprint) ([]clientv3.Cmp, []keyRange) {
	cmps := []clientv3.Cmp{unchanged(l.keys.Intent(in.ID), in.Revision)}
	var ranges []keyRange
	marked := map[string]bool{}
	for _, r := range f {
		marked[l.keys.Exclusive(r.Fluent, r.Instance)] = true
	}
	for _, r := range f.free(l.keys) {
		cmps = append(cmps, r.emptyBut(in.Marks, l.keys, in.ID)...)
		ranges = append(ranges, r)
	}
	for _, key := range in.Locks {
		if !marked[key] {
			cmps = append(cmps, clientv3.Compare(clientv3.CreateRevision(key), "!=", in.Fence))
			ranges = append(ranges, keyRange{key, key + "\x00"})
		}
	}
	return cmps, ranges
}

// emptyBut are the conditions that the range holds nothing but the mark of the
// action. One compare of the value says both that the mark is there and that
// nothing else is: a lock's value is never an id, and an empty range fails it.
func (r keyRange) emptyBut(marks []Resource, k Keys, id string) []clientv3.Cmp {
	for _, res := range marks {
		mark := k.Mark(res.Fluent, res.Instance)
		if mark < r.from || mark >= r.to {
			continue
		}
		only := clientv3.Compare(clientv3.Value(mark), "=", id).WithRange(r.to)
		if r == prefixed(k.exclusive(res.Fluent, res.Instance)) {
			return []clientv3.Cmp{only} // Nothing sorts before the mark.
		}
		return []clientv3.Cmp{keyRange{r.from, mark}.empty(), only}
	}
	return []clientv3.Cmp{r.empty()}
}

// notFree says who holds what the takeover needs, or that the marks are not as they should be.
func (l *Locker) notFree(resp *clientv3.TxnResponse, in Intent) error {
	busy := &BusyError{}
	for _, kv := range found(resp) {
		if k, ok := l.keys.parse(string(kv.Key)); ok && !k.mark {
			busy.Holders = append(busy.Holders, holder(k, kv))
		}
	}
	if len(busy.Holders) > 0 {
		return busy
	}
	return &InDoubtError{Intents: []Intent{in}}
}
