package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/executor/ledger"
	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/policy"
	"github.com/fettleops/fettle/world/redaction"
)

// Cancellation asks the process that drives a run to end it: the action in
// flight is finished and recorded, and nothing is begun after it.
type Cancellation struct {
	By     string    `json:"by"`
	Host   string    `json:"host,omitempty"`
	Reason string    `json:"reason,omitempty"`
	At     time.Time `json:"at"`
}

func (c Cancellation) String() string {
	s := "cancelled"
	if c.By != "" {
		s += " by " + c.By
	}
	if c.Reason != "" {
		s += ": " + c.Reason
	}
	return s
}

func (c Cancellation) end() *Ended { return &Ended{Status: Cancelled, Message: c.String()} }

// cancelKey is where a cancellation is kept, beside the run's owner.
func cancelKey(k lease.Keys, run string) string {
	return strings.TrimSuffix(k.RunOwner(run), "owner") + "cancel"
}

// notCancelled is a condition for Arm.
func notCancelled(k lease.Keys, run string) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(cancelKey(k, run)), "=", 0)
}

// awaitCancellation returns what cancels the run, or nil at the end of ctx.
func awaitCancellation(ctx context.Context, cli *clientv3.Client, k lease.Keys, run string) *Cancellation {
	for {
		c, rev, err := cancellation(ctx, cli, k, run)
		if c != nil {
			return c
		}
		if err == nil {
			wctx, cancel := context.WithCancel(ctx)
			for resp := range cli.Watch(wctx, cancelKey(k, run), clientv3.WithRev(rev+1), clientv3.WithFilterDelete()) {
				if len(resp.Events) > 0 {
					break // Which is read again.
				}
			}
			cancel()
		}
		if pause(ctx, lookAgain) != nil {
			return nil
		}
	}
}

// lookAgain is the pause before something in the store is looked at again. What
// must not be missed is compared by Arm.
const lookAgain = 50 * time.Millisecond

// cancellation reads what cancels the run, nil where nothing does.
func cancellation(ctx context.Context, cli *clientv3.Client, k lease.Keys, run string) (*Cancellation, int64, error) {
	ctx, cancel := context.WithTimeout(ctx, beliefTimeout)
	defer cancel()
	resp, err := cli.Get(ctx, cancelKey(k, run))
	if err != nil {
		return nil, 0, fmt.Errorf("read whether run %s is cancelled: %w", run, err)
	}
	if len(resp.Kvs) == 0 {
		return nil, resp.Header.Revision, nil
	}
	c := &Cancellation{}
	if json.Unmarshal(resp.Kvs[0].Value, c) != nil {
		c = &Cancellation{} // Written by hand: it counts all the same.
	}
	return c, resp.Header.Revision, nil
}

// Canceller cancels runs.
type Canceller struct {
	Client  *clientv3.Client
	Locker  *lease.Locker
	Journal *journal.Journal
	Secrets []string           // texts that are kept out of the journal
	Redact  redaction.Patterns // of what is kept out besides
	// Model finds the model of a run whose process ended without a word, to tell
	// how that left the world; nil: that is not known.
	Model ModelOf
	// OnAsked is told once that the process which drives the run was asked to
	// end it; nil is fine.
	OnAsked func()
}

// Cancel ends a run that has not ended. Where a process drives the run, that
// one is asked to, and Cancel waits until it has: its action in flight is
// finished and recorded first. Where none does, as for a run that waits or whose
// process was killed, Cancel ends it itself; what it left in doubt stays so.
//
// The end of ctx ends the waiting, not the cancellation.
func (k Canceller) Cancel(ctx context.Context, id string, c Cancellation) (Ended, error) {
	if _, err := k.unended(ctx, id); err != nil {
		return Ended{}, err
	}
	host, _ := identity()
	c.Host, c.At = host, time.Now().UTC()
	raw, err := json.Marshal(c)
	if err != nil {
		return Ended{}, fmt.Errorf("cancel run %s: %w", id, err)
	}
	pctx, cancel := context.WithTimeout(ctx, beliefTimeout)
	_, err = k.Client.Put(pctx, cancelKey(k.Locker.Keys(), id), string(raw))
	cancel()
	if err != nil {
		return Ended{}, fmt.Errorf("cancel run %s: %w", id, err)
	}
	for {
		owner, err := k.Locker.ClaimRun(ctx, id, lease.Owner{Reason: "to cancel it"})
		var owned *lease.OwnedError
		switch {
		case err == nil:
			return k.endIt(ctx, owner, id, *c.end())
		case !errors.As(err, &owned):
			return Ended{}, fmt.Errorf("cancel run %s: %w", id, err)
		}
		if k.OnAsked != nil {
			k.OnAsked()
			k.OnAsked = nil
		}
		if err := k.Locker.AwaitUnclaimed(ctx, id); err != nil {
			return Ended{}, fmt.Errorf("run %s is to end after its present action: %w", id, err)
		}
	}
}

// unended reads the head of a run that has not ended.
func (k Canceller) unended(ctx context.Context, id string) (Head, error) {
	h, err := readHead(ctx, k.Journal, id)
	if err != nil {
		return h, err
	}
	if h.over() {
		return h, fmt.Errorf("run %s has ended: %s; there is nothing to cancel", id, h.ending())
	}
	return h, nil
}

// endIt ends a run that nobody drives, after the answers that are told before,
// or returns how it has ended meanwhile.
func (k Canceller) endIt(ctx context.Context, owner *lease.RunOwner, id string, end Ended, before ...Approved) (Ended, error) {
	rctx, cancel := recording(ctx)
	defer cancel()
	defer owner.Release(rctx) //nolint:errcheck // What cannot be given back expires.
	head, err := readHead(rctx, k.Journal, id)
	if err != nil {
		return Ended{}, err
	}
	if head.over() {
		return lastEnd(rctx, k.Journal, id)
	}
	if err := k.account(rctx, id, &end); err != nil {
		return Ended{}, err
	}
	first, err := k.leaves(rctx, id, &end)
	if err != nil {
		return Ended{}, err
	}
	intents, err := k.Locker.Intents(rctx)
	if err != nil {
		return Ended{}, err
	}
	for _, in := range intents {
		if in.Owner.Run == id {
			end.InDoubt = append(end.InDoubt, in.Owner.Action+" ("+in.ID+")")
		}
	}
	end.Owed = owed(end, keepsFailing)
	end.oweBack(id)
	end.oweWorse(first)
	if end.Released, err = k.dropNames(rctx, id); err != nil {
		return Ended{}, err
	}
	o := policy.RunOutcome{Run: id, Status: end.Status, Acted: end.Actions > 0}
	if err := ledger.New(k.Client, k.Locker.Keys(), nil).Ended(rctx, head.Goal, o); err != nil {
		return Ended{}, err
	}
	return end, k.write(rctx, head, id, end, before)
}

// account says what a run had done by its last word.
func (k Canceller) account(ctx context.Context, id string, end *Ended) error {
	events, err := eventsOf(ctx, k.Journal, id)
	if err != nil {
		return err
	}
	begun := map[string]bool{}
	for _, e := range events {
		var at struct {
			Round    int    `json:"round"`
			ActionID string `json:"action_id"`
		}
		if json.Unmarshal(e.Data, &at) != nil {
			continue
		}
		switch e.Kind {
		case RoundStarted:
			end.Rounds = at.Round
		case StepArmed:
			begun[at.ActionID] = true
		case StepRefused: // Withdrawn, where it was armed.
			delete(begun, at.ActionID)
		}
	}
	end.Actions, end.Seconds = len(begun), driven(events).Seconds()
	return nil
}

// dropNames gives back the named leases that were kept for the run.
func (k Canceller) dropNames(ctx context.Context, id string) ([]string, error) {
	names, err := k.Locker.Adopt(ctx, id)
	if err != nil {
		return nil, err
	}
	return namesOf(names), k.Locker.ReleaseAllNamed(ctx, id)
}

func (k Canceller) write(ctx context.Context, head Head, id string, end Ended, before []Approved) error {
	w, err := k.Journal.Resume(ctx, id)
	if err != nil {
		return err
	}
	w.Redact(k.Secrets...)
	w.RedactBy(hiding(k.Redact))
	for _, ev := range before {
		if err := w.Append(ctx, Approval, ev); err != nil {
			return err
		}
	}
	if err := w.Append(ctx, RunEnded, end); err != nil {
		return err
	}
	if err := w.SetHead(ctx, head.ended(end, time.Now())); err != nil {
		return err
	}
	return forget(ctx, k.Client, k.Locker.Keys(), id)
}

// lastEnd reads how a run ended.
func lastEnd(ctx context.Context, j *journal.Journal, id string) (Ended, error) {
	var end Ended
	for e, err := range j.Events(ctx, id) {
		if err != nil {
			return end, err
		}
		if e.Kind != RunEnded {
			continue
		}
		end = Ended{}
		if err := json.Unmarshal(e.Data, &end); err != nil {
			return end, fmt.Errorf("event %d of run %s cannot be read: %w", e.Seq, id, err)
		}
	}
	return end, nil
}
