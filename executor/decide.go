package executor

import (
	"context"
	"errors"
	"time"

	"github.com/fettleops/fettle/policy"
)

// decide asks the policy, records its answer, and ends the run where it says so.
func (r *run) decide(ctx context.Context, at policy.Point) (*Ended, error) {
	if end := r.halted(ctx); end != nil {
		return end, nil
	}
	if end := r.full(ctx, at); end != nil {
		return end, nil
	}
	p := r.progress.Progress(r.Now())
	d := r.Policy.Decide(at, p)
	if err := r.emit(ctx, Decided, Decision{Decision: d, Round: r.round, Progress: p}); err != nil {
		return nil, err
	}
	e := &Ended{Status: Escalated, Reason: d.Reason, Message: joined(d.Reasons)}
	switch {
	case d.Answer == policy.Checkpoint:
		e.Status = WaitingStatus
	case d.Answer == policy.Stop && d.Reason == policy.Errors:
		e.Status = FailedStatus
	case d.Answer == policy.Stop:
	default:
		if d.NextPlanner {
			r.nextPlanner()
		}
		return nil, nil
	}
	return e, nil
}

func cancelled() *Ended {
	return &Ended{Status: Cancelled, Message: "stopped before the next action, as asked"}
}

// stopped tells whether the run is to end before its next action.
func (r *run) stopped(ctx context.Context) bool { return r.halted(ctx) != nil }

var (
	errStopped  = errors.New("the run is to stop")
	errDeadline = errors.New("the run's deadline passed")
)

// bounded is for everything that may wait and is no action: it ends when the
// run is to stop, and at its deadline.
func (r *run) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.left(), errDeadline)
	ctx, stop := context.WithCancelCause(ctx)
	lost := r.owner.Lost()
	go func() {
		select {
		case <-r.Stop:
			stop(errStopped)
		case <-r.halt:
			stop(errStopped)
		case <-lost:
			stop(errStopped)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		stop(context.Canceled)
		cancel()
	}
}

// left is the time until the run must be over.
func (r *run) left() time.Duration {
	if r.back != nil {
		return r.back.until.Sub(r.Now())
	}
	return r.started.Add(r.Policy.Deadline).Sub(r.Now())
}

// cut tells how the run ends where a bounded wait was cut: nil where neither a
// stop nor the deadline did it.
func (r *run) cut(ctx context.Context, while string) *Ended {
	end := r.halted(ctx)
	switch {
	case end != nil:
		return end
	case r.left() <= 0:
		return &Ended{Status: Escalated, Reason: policy.Deadline, Message: "the deadline passed while " + while}
	}
	return nil
}
