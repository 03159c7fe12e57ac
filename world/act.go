package world

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fettleops/fettle/model"
)

// Act carries the action out, once, within its time-out and ctx. It never
// tries again: a retry is another guarded action.
//
// The outcome is [Failed] where the actuator said so or was not reached,
// [Rejected] where it refused the fence, and [InDoubt] where it cannot be told
// whether the action took effect.
func (w *World) Act(ctx context.Context, u *model.Universe, c Call) Outcome {
	started := time.Now()
	r := w.actions[c.Ground.Action]
	if r == nil {
		return Outcome{
			Status: Failed, Started: started, Ended: started,
			Message: fmt.Sprintf("the action %s has no run block that this version can carry out", c.Ground.Action.Name),
		}
	}
	limit, cancel := context.WithTimeoutCause(ctx, w.Timeout(c.Ground.Action), timeoutError(w.Timeout(c.Ground.Action)))
	defer cancel()
	if limit.Err() != nil {
		return Outcome{Status: Failed, Message: "not started: " + ended(limit), Started: started, Ended: started}
	}
	c.text = u.StepText(c.Ground)
	o, code := r.act.act(limit, w, w.ground(u, c.Ground.Action.Params, c.Ground.Args), c)
	o.Started, o.Ended = started, time.Now()
	o.Message, o.Output = w.sensitive.text(o.Message), w.sensitive.output(o.Output)
	if code != 0 && r.fence != nil && slices.Contains(r.fence.raiser.rejects(), code) {
		o.Status = Rejected
	}
	return o
}

// timeoutError says that an action's own time was over.
type timeoutError time.Duration

func (e timeoutError) Error() string { return "timed out after " + time.Duration(e).String() }

// ended says why a context ended.
func ended(ctx context.Context) string {
	cause := context.Cause(ctx)
	var t timeoutError
	switch {
	case errors.As(cause, &t):
		return t.Error()
	case errors.Is(cause, context.Canceled):
		return "interrupted"
	case errors.Is(cause, context.DeadlineExceeded):
		return "timed out"
	default:
		return "interrupted: " + cause.Error()
	}
}
