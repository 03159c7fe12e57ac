package lease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// TokenError says that nobody holds the resource with that token.
type TokenError struct {
	Resource Resource
	Token    int64
	Holders  []Holder // Of the resource, with their tokens.
}

func (e *TokenError) Error() string {
	if len(e.Holders) == 0 {
		return fmt.Sprintf("lease: nobody holds %s; nothing was broken", e.Resource)
	}
	var parts []string
	for _, h := range e.Holders {
		parts = append(parts, h.String())
	}
	return fmt.Sprintf("lease: %s is not held with token %d, nothing was broken: %s", e.Resource, e.Token, strings.Join(parts, "; "))
}

// Broken is what Break took away.
type Broken struct {
	Holders []Holder    // All locks of that holder.
	Fence   int64       // The revision of the break: a token above that of the holder, to raise fences with.
	Audit   AuditRecord // As written down.
}

// Break takes all locks of a holder away, in one transaction with an audit
// record. The token is the nonce that AllHolders shows with them: it names one acquisition, so
// that nobody else's lock is broken by mistake. Marks in doubt stay: what the
// holder may have done is for whoever comes next to find out.
//
// It returns a *TokenError where the resource is not held with that token.
func (l *Locker) Break(ctx context.Context, r Resource, token int64, by, reason string) (Broken, error) {
	rec, err := l.audit(DeedBreak, by, reason)
	if err != nil {
		return Broken{}, err
	}
	all, err := l.AllHolders(ctx)
	if err != nil {
		return Broken{}, err
	}
	same := func(h Holder) bool { return h.Resource.Fluent == r.Fluent && h.Resource.Instance == r.Instance }
	his := slices.DeleteFunc(slices.Clone(all), func(h Holder) bool { return h.Fence != token })
	if !slices.ContainsFunc(his, same) {
		all = slices.DeleteFunc(all, func(h Holder) bool { return !same(h) })
		return Broken{}, &TokenError{Resource: r, Token: token, Holders: all}
	}
	rec.Token, rec.Holder = token, &his[0].Owner
	var cmps []clientv3.Cmp
	var keys []string
	for _, h := range his {
		rec.Resources = append(rec.Resources, h.Resource)
		cmps = append(cmps, created(h.Key, token))
		keys = append(keys, h.Key)
	}
	audit, err := l.auditOp(rec)
	if err != nil {
		return Broken{}, err
	}
	resp, err := l.txn(ctx, cmps, append(deletes(keys), audit), nil)
	switch {
	case err != nil:
		return Broken{}, fmt.Errorf("lease: break %s: the answer was lost, look again: %w", r, err)
	case !resp.Succeeded:
		return Broken{}, fmt.Errorf("lease: break %s: its holder has just given it back, or lost it; nothing was broken", r)
	}
	return Broken{Holders: his, Fence: resp.Header.Revision, Audit: rec}, nil
}

// ResolveByHand ends an action in doubt by a person's word, as Applied or
// NotApplied, with an audit record; its marks go, and the ops given (beliefs) ride along.
//
// It returns a *BusyError while whoever arms or resolves it has locks, and a
// *ChangedError when it is no longer unresolved.
func (l *Locker) ResolveByHand(ctx context.Context, id string, result Result, by, reason string, ops ...clientv3.Op) (Intent, error) {
	if result != Applied && result != NotApplied {
		return Intent{}, fmt.Errorf("lease: an action in doubt is resolved as %s or %s, not as %q", Applied, NotApplied, result)
	}
	rec, err := l.audit(DeedResolve, by, reason)
	if err != nil {
		return Intent{}, err
	}
	rec.Intent, rec.Result = id, result
	in, ok, err := l.Intent(ctx, id)
	switch {
	case err != nil:
		return in, err
	case !ok:
		return in, fmt.Errorf("lease: there is no action %s", id)
	case in.State == StateDone:
		return in, &ChangedError{Intent: in}
	}
	return l.resolve(ctx, in, rec, ops)
}

func (l *Locker) resolve(ctx context.Context, in Intent, rec AuditRecord, ops []clientv3.Op) (Intent, error) {
	marks, err := l.ownMarks(ctx, in)
	if err != nil {
		return in, err
	}
	cmps := []clientv3.Cmp{unchanged(l.keys.Intent(in.ID), in.Revision)}
	for _, key := range marks {
		cmps = append(cmps, clientv3.Compare(clientv3.Value(key), "=", in.ID))
	}
	gone, looks := l.locksGone(in)
	cmps = append(cmps, gone...)
	was := in.Revision
	in.State = StateDone
	in.Outcome = &Outcome{Result: rec.Result, Note: "resolved by " + rec.By + ": " + rec.Reason, By: Owner{Reason: rec.Reason}.filled(), Time: rec.Time}
	raw, err := in.encode()
	if err != nil {
		return in, err
	}
	audit, err := l.auditOp(rec)
	if err != nil {
		return in, err
	}
	then := append([]clientv3.Op{clientv3.OpPut(l.keys.Intent(in.ID), raw), audit}, deletes(marks)...)
	resp, err := l.txn(ctx, cmps, append(then, ops...), append(looks, clientv3.OpGet(l.keys.Intent(in.ID))))
	switch {
	case err != nil:
		return in, fmt.Errorf("lease: resolve %s: the answer was lost, look again: %w", in.ID, err)
	case resp.Succeeded:
		in.Revision = resp.Header.Revision
		return in, nil
	}
	now := answerIntent(resp, len(looks), in.ID)
	if now.Revision != was {
		return now, &ChangedError{Intent: now}
	}
	return now, l.stillAtIt(resp, len(looks))
}

// stillAtIt says who holds locks of the action.
func (l *Locker) stillAtIt(resp *clientv3.TxnResponse, looks int) error {
	busy := &BusyError{}
	for _, kv := range foundFirst(resp, looks) {
		if k, ok := l.keys.parse(string(kv.Key)); ok && !k.mark {
			busy.Holders = append(busy.Holders, holder(k, kv))
		}
	}
	if len(busy.Holders) == 0 {
		return errors.New("lease: its marks have just changed; look again")
	}
	return busy
}

// ownMarks returns the marks of an action that are there and still its own.
func (l *Locker) ownMarks(ctx context.Context, in Intent) ([]string, error) {
	keys := in.markKeys(l.keys)
	ops := make([]clientv3.Op, 0, len(keys))
	for _, key := range keys {
		ops = append(ops, clientv3.OpGet(key))
	}
	resp, err := l.txn(ctx, nil, ops, nil)
	if err != nil {
		return nil, fmt.Errorf("lease: read the marks of %s: %w", in.ID, err)
	}
	var out []string
	for i, key := range keys {
		if kv := answer(resp, i); kv != nil && string(kv.Value) == in.ID {
			out = append(out, key)
		}
	}
	return out, nil
}

// locksGone are the conditions that neither the one who armed nor the one who
// took over last has locks, and the looks at them.
func (l *Locker) locksGone(in Intent) (cmps []clientv3.Cmp, looks []clientv3.Op) {
	held := func(key string, token int64) {
		cmps = append(cmps, clientv3.Compare(clientv3.CreateRevision(key), "!=", token))
		looks = append(looks, clientv3.OpGet(key))
	}
	if in.Taken != nil {
		f := footprint(in.Marks)
		if len(f) == 0 {
			f = nothing
		}
		for _, r := range f {
			if r.Exclusive {
				held(l.keys.Exclusive(r.Fluent, r.Instance), in.Revision) // The takeover wrote both at once.
			}
		}
		return cmps, looks
	}
	for _, key := range in.Locks {
		held(key, in.Fence)
	}
	return cmps, looks
}
