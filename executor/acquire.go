package executor

import (
	"context"
	"errors"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/policy"
)

// acquire takes the leases of the footprint, all or nothing, waiting its turn
// as long as the policy allows, and resolving what is in doubt.
func (g *guard) acquire(ctx context.Context) (*failure, error) {
	lease.Point("before-acquire")
	w := &waiting{guard: g, ctx: ctx}
	var end func()
	w.patient, end = w.impatient()
	defer end()
	for {
		if end := g.cut(ctx, "waiting for "+g.ref.Action); end != nil {
			return g.refuse(ctx, &failure{kind: "stopped", reason: end.Message, end: end}, nil, 0)
		}
		held, err := g.Locker.AcquireWait(w.patient, g.owner(), g.want, lease.Wait{OnBusy: w.busy, Ops: w.ops})
		if err == nil {
			g.held, g.since = held, g.Now()
			g.recorded(w.entry)
			lease.Point("acquired")
			return g.outdated(ctx)
		}
		var f *failure
		if doubt := (*lease.InDoubtError)(nil); errors.As(err, &doubt) {
			f, err = g.recoverFrom(ctx, doubt.Intents)
			if f == nil && err == nil && !g.elsewhere {
				return g.outdated(ctx)
			}
		} else {
			f, err = w.failed(err)
		}
		if err != nil {
			return nil, err
		}
		if f != nil {
			return g.refuse(ctx, f, nil, 0)
		}
	}
}

// outdated refuses a step before which an action in doubt was resolved, by this
// run or by another: the plan was made without knowing what that one did.
func (g *guard) outdated(ctx context.Context) (*failure, error) {
	if len(g.settled) == 0 {
		return nil, nil
	}
	var ids []string
	for _, in := range g.settled {
		ids = append(ids, in.ID)
	}
	return g.refuse(ctx, &failure{
		kind: TakenOver, key: policy.NewFailureKey(TakenOver, "", ids...), // Never the same twice.
		reason: "nothing was done: " + g.settled[0].Owner.Action + " was in doubt when this was planned, and is resolved now",
	}, nil, 0)
}

// TakenOver is the kind of a round that ended because something in doubt was
// resolved. That is evidence, and nobody's failure.
const TakenOver = "taken_over"

// waiting is how a step waits for its leases.
type waiting struct {
	*guard
	ctx     context.Context //nolint:containedctx // Of the call of acquire that it belongs to.
	patient context.Context //nolint:containedctx // Ends when the patience with others does.
	begin   func()          // Begins the patience.
	last    *lease.BusyError
	entry   journal.Entry // That rode in the last try.
	err     error         // Of the journal.
}

// errPatience says that others were waited for as long as the policy allows.
var errPatience = errors.New("max_wait is over")

// impatient bounds the wait by the deadline and a stop and, from the first
// refusal on, by the policy's max_wait.
func (w *waiting) impatient() (context.Context, func()) {
	ctx, cancel := w.bounded(w.ctx)
	ctx, stop := context.WithCancelCause(ctx)
	timer := time.AfterFunc(time.Hour, func() { stop(errPatience) })
	timer.Stop()
	w.begin = func() {
		if most, ok := w.Policy.Wait(); ok {
			timer.Reset(most)
		}
	}
	return ctx, func() {
		timer.Stop()
		stop(context.Canceled)
		cancel()
	}
}

// busy notes that others are in the way. It is told once for each wait.
func (w *waiting) busy(e *lease.BusyError) {
	again := w.last != nil
	if w.last = e; again {
		return
	}
	w.begin()
	w.err = errors.Join(w.err, w.emit(w.ctx, StepWaiting, Waiting{StepRef: w.ref, Busy: e.Error()}))
}

// ops makes the event that rides in a try.
func (w *waiting) ops() ([]clientv3.Op, func(bool), error) {
	event := Acquired{StepRef: w.ref, WaitMS: ms(w.Now().Sub(w.began))}
	for _, r := range w.want {
		event.Resources = append(event.Resources, r.String())
	}
	if w.err == nil {
		w.entry, w.err = w.Journal.Ride(StepAcquired, event)
	}
	if w.err != nil {
		return nil, nil, w.err
	}
	return w.ride(w.entry), nil, nil
}

// failed tells what came of a wait that ended without the leases.
func (w *waiting) failed(err error) (*failure, error) {
	if w.err != nil {
		return nil, w.unrecorded(w.err)
	}
	if end := w.cut(w.ctx, "waiting for others: "+w.ref.Action); end != nil {
		return &failure{kind: "stopped", reason: end.Message, end: end}, nil
	}
	busy := w.last
	if errors.As(err, &busy); errors.Is(context.Cause(w.patient), errPatience) && busy != nil {
		reason := "others hold what this step needs: " + busy.Error()
		return &failure{kind: "busy", reason: reason, end: &Ended{Status: WaitingStatus, Reason: policy.Busy, Message: reason}}, nil
	}
	return &failure{kind: "infrastructure", reason: "leases could not be acquired: " + err.Error(), infra: true}, nil
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
		out = append(out, lease.ParseResource(l))
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
