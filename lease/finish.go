package lease

import (
	"context"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Finish records the outcome and gives everything back, in one transaction: the
// intent must be unchanged and every lock still ours; then the outcome is put,
// marks and locks are deleted, and the ops given (beliefs, events) ride along. An
// outcome of UnknownResult leaves the marks.
//
// It returns a *LostError when the locks are gone: what was observed no longer
// counts as observed under lease, and goes to Unknown. A *ChangedError says that
// another took the intent over. When the answer was lost, the lease is revoked
// and the intent read, so that the error tells truly.
func (h *Held) Finish(ctx context.Context, out Outcome, ops []clientv3.Op) error {
	h.step.Lock()
	defer h.step.Unlock()
	if err := h.canEnd(); err != nil {
		return err
	}
	in := h.ended(out)
	then, err := h.endOps(in, in.State == StateDone)
	if err != nil {
		return err
	}
	then = append(append(then, deletes(h.locks)...), ops...)
	cmps := append(h.owns(), h.intact(in.State == StateDone)...)
	h.l.eyes.remove(h.hold) // Not to take its own deletes for another's.
	resp, err := h.l.txn(ctx, cmps, then, h.whyNot(h.key()))
	switch {
	case errors.Is(err, errTooMany), refused(err):
		h.l.eyes.add(h.hold)
		return fmt.Errorf("lease: finish: %w", err)
	case err != nil:
		return h.finishLost(ctx, in, err)
	case !resp.Succeeded:
		return h.notFinished(resp)
	}
	in.Revision = resp.Header.Revision
	h.intent = in
	h.giveBack()
	return nil
}

// Resolve ends what was taken over: as applied, not applied, or still unknown. It is Finish by another controller.
func (h *Held) Resolve(ctx context.Context, out Outcome, ops []clientv3.Op) error {
	if !h.taken {
		return errors.New("lease: only what was taken over is resolved; use Finish")
	}
	return h.Finish(ctx, out, ops)
}

// Unknown records that the lease was lost while acting, with what was seen. The
// only condition is that the intent is unchanged; the marks stay, for whoever takes over, which may
// be the same run. What is left of the lease is revoked.
func (h *Held) Unknown(ctx context.Context, out Outcome, ops ...clientv3.Op) error {
	out.Result = UnknownResult
	return h.endAlone(ctx, out, false, ops)
}

// Withdraw takes an armed action back that was not begun, and certainly never
// will be. It needs no lock, only that the intent is unchanged: its marks are deleted.
func (h *Held) Withdraw(ctx context.Context, out Outcome, ops ...clientv3.Op) error {
	if h.taken {
		return errors.New("lease: what was taken over may have been begun; use Resolve")
	}
	out.Result = NotApplied
	return h.endAlone(ctx, out, true, ops)
}

// endAlone ends an intent without its locks.
func (h *Held) endAlone(ctx context.Context, out Outcome, unmark bool, ops []clientv3.Op) error {
	h.step.Lock()
	defer h.step.Unlock()
	if err := h.canEnd(); err != nil {
		return err
	}
	in := h.ended(out)
	then, err := h.endOps(in, unmark)
	if err != nil {
		return err
	}
	resp, err := h.l.txn(ctx, h.intact(unmark), append(then, ops...), []clientv3.Op{clientv3.OpGet(h.key())})
	switch {
	case err != nil:
		rescue, cancel := h.l.rescue(ctx)
		defer cancel()
		now, _, read := h.l.Intent(rescue, in.ID)
		if refused(err) || read != nil || !now.endedAs(in) {
			return fmt.Errorf("lease: record the outcome of %s: %w", in.ID, err)
		}
		in.Revision = now.Revision
	case !resp.Succeeded:
		return h.changed(answerIntent(resp, 0, in.ID))
	default:
		in.Revision = resp.Header.Revision
	}
	h.intent, h.phase = in, over
	h.lose(ErrReleased)
	h.l.revokeBehind(h.grant.id)
	return nil
}

func (h *Held) canEnd() error {
	switch h.phase {
	case armed:
		return nil
	case over:
		return errOver
	}
	return errNotArmed
}

func (h *Held) key() string { return h.l.keys.Intent(h.intent.ID) }

// ended returns the intent with its outcome.
func (h *Held) ended(out Outcome) Intent {
	in := h.intent
	if out.By == (Owner{}) {
		out.By = h.owner
	}
	if out.Time.IsZero() {
		out.Time = h.l.o.Now().UTC()
	}
	in.Outcome, in.State = &out, StateDone
	if out.Result != Applied && out.Result != NotApplied {
		in.State = StateUnknown
	}
	return in
}

// intact are the conditions that nobody changed the intent or, where they are to be deleted, its marks.
func (h *Held) intact(marks bool) []clientv3.Cmp {
	cmps := []clientv3.Cmp{unchanged(h.key(), h.intent.Revision)}
	if marks {
		for _, key := range h.intent.markKeys(h.l.keys) {
			cmps = append(cmps, clientv3.Compare(clientv3.Value(key), "=", h.intent.ID))
		}
	}
	return cmps
}

func (h *Held) endOps(in Intent, unmark bool) ([]clientv3.Op, error) {
	raw, err := in.encode()
	if err != nil {
		return nil, err
	}
	ops := []clientv3.Op{clientv3.OpPut(h.key(), raw)}
	if unmark {
		ops = append(ops, deletes(in.markKeys(h.l.keys))...)
	}
	return ops, nil
}

func (h *Held) notFinished(resp *clientv3.TxnResponse) error {
	now := answerIntent(resp, len(h.locks)+len(h.names), h.intent.ID)
	if now.Revision == h.intent.Revision && !h.stillOurs(resp) {
		h.lose(ErrBroken)
		return &LostError{h.cause()}
	}
	return h.changed(now)
}

// changed ends a Held whose intent another has changed, and gives its locks up.
func (h *Held) changed(now Intent) error {
	h.lose(ErrBroken)
	h.phase = over
	h.l.revokeBehind(h.grant.id)
	return &ChangedError{Intent: now}
}

// finishLost finds out whether a Finish without an answer was committed; see armLost.
func (h *Held) finishLost(ctx context.Context, in Intent, cause error) error {
	if !h.abandon(ctx) {
		return &LostError{cause}
	}
	ctx, cancel := h.l.rescue(ctx)
	defer cancel()
	now, _, err := h.l.Intent(ctx, in.ID)
	switch {
	case err != nil || now.Revision == h.intent.Revision:
		return &LostError{cause}
	case now.endedAs(in):
		h.intent, h.phase = now, over
		return nil // It was committed after all.
	}
	return h.changed(now)
}

func answerIntent(resp *clientv3.TxnResponse, i int, id string) Intent {
	if kv := answer(resp, i); kv != nil {
		if in, err := decodeIntent(kv); err == nil {
			return in
		}
	}
	return Intent{ID: id, State: StateDone} // Forgotten, so it was resolved.
}

// endedAs reports whether the record carries the very outcome that in was to be given.
func (in Intent) endedAs(want Intent) bool {
	return in.Outcome != nil && in.Outcome.By == want.Outcome.By && in.Outcome.Time.Equal(want.Outcome.Time)
}
