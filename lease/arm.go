package lease

import (
	"context"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Arm writes down, before the action, that it may happen: the intent, and a mark
// in doubt on all it may write. One transaction requires that every lock is
// ours, that no intent of this id exists, and the conditions given (see
// Keys.OwnsRun, NotPaused, ApprovalStands); the ops given ride along.
//
// It returns a *LostError or *RefusedError when it did not happen. When the
// answer was lost, the lease is revoked first and then the intent is read: a
// *ArmUnknownError says what was found; the action must not be done then, and
// where it was armed, Withdraw takes it back. Any other error means that nothing was done.
func (h *Held) Arm(ctx context.Context, in Intent, cmps []clientv3.Cmp, ops []clientv3.Op) error {
	h.step.Lock()
	defer h.step.Unlock()
	switch {
	case h.phase == over:
		return errOver
	case h.phase == armed:
		return errArmed
	case h.Remaining() <= 0:
		return &LostError{h.cause()}
	}
	in, err := h.fill(in)
	if err != nil {
		return err
	}
	then, err := h.armOps(in)
	if err != nil {
		return err
	}
	key := h.l.keys.Intent(in.ID)
	conditions := append(append(h.owns(), absent(key)), cmps...)
	resp, err := h.l.txn(ctx, conditions, append(then, ops...), append(h.whyNot(key), conditionKeys(cmps)...))
	switch {
	case errors.Is(err, errTooMany), refused(err):
		return fmt.Errorf("lease: arm: %w", err)
	case err != nil:
		return h.armLost(ctx, in, err)
	case !resp.Succeeded:
		return h.notArmed(resp, cmps)
	}
	in.Revision = resp.Header.Revision
	h.intent, h.phase = in, armed
	return nil
}

// fill completes the record, with marks on the held resources that cover what may be written.
func (h *Held) fill(in Intent) (Intent, error) {
	if in.ID == "" {
		return in, errors.New("lease: an intent without an id")
	}
	in.Owner, in.Fence, in.Held, in.Locks = h.owner, h.fence, h.f, h.locks
	in.Since, in.State, in.Taken, in.Outcome = h.l.o.Now().UTC(), StateArmed, nil, nil
	writes := in.Writes
	if writes == nil {
		writes = h.f
	}
	var marks []Resource
	for _, w := range writes {
		r, ok := h.f.covering(w)
		if ok {
			marks = append(marks, r)
		} else if in.Writes != nil {
			return in, fmt.Errorf("lease: the action may write %s, which is not held exclusively", w)
		}
	}
	if Without(Marks) {
		marks = nil
	}
	in.Marks = merge(marks)
	return in, nil
}

func (h *Held) armOps(in Intent) ([]clientv3.Op, error) {
	raw, err := in.encode()
	if err != nil {
		return nil, err
	}
	ops := []clientv3.Op{clientv3.OpPut(h.l.keys.Intent(in.ID), raw)}
	for _, key := range in.markKeys(h.l.keys) {
		ops = append(ops, clientv3.OpPut(key, in.ID))
	}
	return ops, nil
}

// whyNot reads the locks, and last the intent, for the case that a condition does not hold.
func (h *Held) whyNot(intent string) []clientv3.Op {
	var out []clientv3.Op
	for _, key := range h.locks {
		out = append(out, clientv3.OpGet(key, clientv3.WithKeysOnly()))
	}
	return append(append(out, readAll(h.names)...), clientv3.OpGet(intent)) // Keys alone come without their lease.
}

func (h *Held) notArmed(resp *clientv3.TxnResponse, cmps []clientv3.Cmp) error {
	if !h.stillOurs(resp) {
		h.lose(ErrBroken)
		return &LostError{h.cause()}
	}
	n := len(h.locks) + len(h.names)
	e := h.l.refusal(cmps, resp, n+1)
	e.Exists = answer(resp, n) != nil
	return e
}

// stillOurs reports whether whyNot found every lock to be ours.
func (h *Held) stillOurs(resp *clientv3.TxnResponse) bool {
	for i := range h.locks {
		if kv := answer(resp, i); kv == nil || kv.CreateRevision != h.fence {
			return false
		}
	}
	for i, n := range h.names {
		if kv := answer(resp, len(h.locks)+i); !n.given.Load() && (kv == nil || kv.Lease != int64(n.grant.id)) {
			return false
		}
	}
	return true
}

// armLost finds out whether a transaction without an answer was committed. The
// lease is revoked first: a re-read alone is unsafe, since the delayed
// transaction could be committed after it.
func (h *Held) armLost(ctx context.Context, in Intent, cause error) error {
	lost := &ArmUnknownError{ID: in.ID, Err: cause}
	h.intent, h.phase = in, over
	if !Without(RevokeFirst) && !h.abandon(ctx) {
		return lost
	}
	ctx, cancel := h.l.rescue(ctx)
	defer cancel()
	now, exists, err := h.l.Intent(ctx, in.ID)
	switch {
	case err != nil:
		return lost
	case !exists || now.Fence != in.Fence:
		lost.Armed = No
	default:
		lost.Armed = Yes
		h.intent, h.phase = now, armed
	}
	return lost
}
