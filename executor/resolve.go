package executor

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/world/redaction"
)

// Resolver ends actions in doubt by a person's word.
type Resolver struct {
	Locker  *lease.Locker
	Journal *journal.Journal
	Secrets []string           // texts that are kept out of the journal
	Redact  redaction.Patterns // of what is kept out besides
}

// Resolve ends an action in doubt by a person's word, and has the journal of its
// run tell of that in the same transaction; the ops given ride along. Where the
// run has no record that could be written untold says why: it is driven, and its
// process records it once it finds out, or it is archived.
//
// Its error is that of lease.Locker.ResolveByHand.
func (k Resolver) Resolve(ctx context.Context, in lease.Intent, result lease.Result, w Word, ops ...clientv3.Op) (done lease.Intent, untold string, err error) {
	rctx, cancel := recording(ctx)
	defer cancel()
	owner, err := k.Locker.ClaimRun(rctx, in.Owner.Run, lease.Owner{Reason: "to record what became of " + in.Owner.Action})
	if err == nil {
		defer owner.Release(rctx) //nolint:errcheck // What cannot be given back expires.
		var told []clientv3.Op
		if told, err = k.told(rctx, owner, in, result, w); err == nil {
			ops = append(ops, told...)
		}
	}
	if err != nil {
		untold = untoldBecause(err)
	}
	done, err = k.Locker.ResolveByHand(ctx, in.ID, result, w.By, w.Reason, ops...)
	return done, untold, err
}

// told is what puts the event into the journal of the run.
func (k Resolver) told(ctx context.Context, owner *lease.RunOwner, in lease.Intent, result lease.Result, w Word) ([]clientv3.Op, error) {
	run, err := k.Journal.Resume(ctx, in.Owner.Run)
	if err != nil {
		return nil, err
	}
	run.Redact(k.Secrets...)
	run.RedactBy(hiding(k.Redact))
	ev := Resolved{ActionID: in.ID, Action: in.Owner.Action, Run: in.Owner.Run, Fence: in.Fence, Outcome: string(result), By: w.By, Reason: w.Reason}
	ev.Host, _ = identity()
	e, err := run.Ride(DoubtResolved, ev)
	if err != nil {
		return nil, err
	}
	return []clientv3.Op{clientv3.OpTxn(append(e.Cmps(), owner.Cmp()), e.Ops(), nil)}, nil
}

func untoldBecause(err error) string {
	var owned *lease.OwnedError
	if errors.As(err, &owned) {
		return "a process drives the run, and records it once it looks at what is in doubt"
	}
	return err.Error()
}

// byHand is the event of an action that was resolved by a person's word while
// this process drove the run; nil: it was not.
func byHand(in lease.Intent) *Resolved {
	out := in.Outcome
	if out == nil {
		return nil
	}
	by, ok := strings.CutPrefix(out.Note, "resolved by ")
	by, reasoned := strings.CutSuffix(by, ": "+out.By.Reason)
	if !ok || !reasoned {
		return nil
	}
	return &Resolved{
		ActionID: in.ID, Action: in.Owner.Action, Run: in.Owner.Run, Fence: in.Fence, Outcome: string(out.Result), By: by, Host: out.By.Host, Reason: out.By.Reason,
	}
}

// saidSo records what a person said became of an action in doubt of the run.
func (r *run) saidSo(ctx context.Context, in lease.Intent) error {
	ev := byHand(in)
	if ev == nil || in.Owner.Run != r.Journal.ID() {
		return nil
	}
	if err := r.emit(ctx, DoubtResolved, *ev); err != nil {
		return err
	}
	r.outcome(ev.ActionID, ev.Outcome)
	return nil
}

// bySomebody tells whether an event tells what a person said of an action in
// doubt, which may be while no process drives the run.
func bySomebody(e journal.Event) bool {
	var v Resolved
	return e.Kind == DoubtResolved && json.Unmarshal(e.Data, &v) == nil && v.By != ""
}

// Resting tells whether a run that had ended or waited still does after an event.
func Resting(was bool, e journal.Event) bool { return e.Kind == RunEnded || was && bySomebody(e) }
