package executor

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/policy"
)

// acquire takes the leases of the footprint, all or nothing, waiting for others
// as long as the policy allows, and resolving what is in doubt.
func (g *guard) acquire(ctx context.Context) (*failure, error) {
	w := &waiting{guard: g, ctx: ctx}
	defer w.end()
	event := Acquired{StepRef: g.ref}
	for _, r := range g.want {
		event.Resources = append(event.Resources, r.String())
	}
	for {
		if end := g.cut(ctx, "waiting for "+g.ref.Action); end != nil {
			return g.refuse(ctx, &failure{kind: "stopped", reason: end.Message, end: end}, nil, 0)
		}
		event.WaitMS = ms(g.Now().Sub(g.began))
		entry, err := g.Journal.Ride(StepAcquired, event)
		if err != nil {
			return nil, g.unrecorded(err)
		}
		g.held, err = g.Locker.Acquire(ctx, g.owner(), g.want, entry.Ops()...)
		busy, doubt := (*lease.BusyError)(nil), (*lease.InDoubtError)(nil)
		var f *failure
		switch {
		case err == nil:
			g.since = g.Now()
			g.recorded(entry)
			return nil, nil
		case errors.As(err, &doubt):
			f, err = g.recoverFrom(ctx, doubt.Intents)
		case errors.As(err, &busy):
			f, err = w.wait(busy)
		case g.stopped(ctx):
			continue // Which ends it.
		default:
			f, err = &failure{kind: "infrastructure", reason: "leases could not be acquired: " + err.Error(), infra: true}, nil
		}
		if err != nil {
			return nil, err
		}
		if f != nil {
			return g.refuse(ctx, f, nil, 0)
		}
	}
}

// waiting is the wait of a step for others. It begins with the first refusal.
type waiting struct {
	*guard
	ctx     context.Context //nolint:containedctx // Of the call of acquire that it belongs to.
	patient context.Context //nolint:containedctx // Ends when the patience does.
	cancel  context.CancelFunc
}

func (w *waiting) end() {
	if w.cancel != nil {
		w.cancel()
	}
}

// wait returns once something that was in the way has changed.
func (w *waiting) wait(busy *lease.BusyError) (*failure, error) {
	if w.patient == nil {
		w.patient, w.cancel = w.patience(w.ctx)
		if err := w.emit(w.ctx, StepWaiting, Waiting{StepRef: w.ref, Busy: busy.Error()}); err != nil {
			return nil, err
		}
	}
	err := w.Locker.AwaitChange(w.patient, w.want)
	if err == nil {
		return nil, nil
	}
	if end := w.cut(w.ctx, "waiting for others: "+busy.Error()); end != nil {
		return &failure{kind: "stopped", reason: end.Message, end: end}, nil
	}
	if w.patient.Err() == nil {
		return &failure{kind: "infrastructure", reason: "waiting for others failed: " + err.Error(), infra: true}, nil
	}
	reason := "others hold what this step needs: " + busy.Error()
	return &failure{kind: "busy", reason: reason, end: &Ended{Status: WaitingStatus, Reason: policy.Busy, Message: reason}}, nil
}

// patience bounds waiting for others by the policy's max_wait, the deadline and a stop.
func (r *run) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := r.bounded(ctx)
	most, ok := r.Policy.Wait()
	if !ok {
		return ctx, cancel
	}
	ctx, stop := context.WithTimeout(ctx, most)
	return ctx, func() {
		stop()
		cancel()
	}
}

// breathe waits for a change of what is in the way, and for a moment at most:
// the change may have come before the look.
func (r *run) breathe(ctx context.Context, want []lease.Resource) error {
	short, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	err := r.Locker.AwaitChange(short, want)
	if short.Err() != nil {
		return ctx.Err()
	}
	return err
}

func (g *guard) owner() lease.Owner {
	return lease.Owner{Run: g.Journal.ID(), Step: g.ref.Step, Action: g.ref.Action, Reason: "goal " + g.GoalName}
}

// resources are the leases of a footprint: exclusive what it may write and its
// locks, shared what it reads.
func resources(u *model.Universe, g model.Ground) []lease.Resource {
	fp := g.Footprint(u)
	var out []lease.Resource
	for _, r := range fp.Read {
		out = append(out, resource(u, r, false))
	}
	for _, w := range fp.Write {
		out = append(out, resource(u, w, true))
	}
	for _, l := range g.Action.Locks {
		out = append(out, lease.Resource{Fluent: l, Exclusive: true})
	}
	return out
}

func resource(u *model.Universe, r model.Ref, exclusive bool) lease.Resource {
	res := lease.Resource{Fluent: r.Fluent.Name, Exclusive: exclusive}
	names := u.Names(r.Fluent.Params, r.Args)
	for i, n := range names {
		names[i] = model.Quote(n)
	}
	res.Instance = strings.Join(names, ", ")
	return res
}
