package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/policy"
)

// arm makes the action in doubt: from here on a durable record says that it
// may have happened.
func (g *guard) arm(ctx context.Context) (*failure, error) {
	vals, blobs := g.values()
	entry, err := g.Journal.Ride(StepArmed, Armed{StepRef: g.ref, Values: vals, Fence: g.held.Fence(), Way: g.way}, blobs...)
	if err != nil {
		return nil, g.unrecorded(err)
	}
	intent, err := g.intent(vals)
	if err != nil {
		return nil, err
	}
	for {
		t, f := g.reserve(ctx)
		if f != nil {
			return f, nil
		}
		g.deed = t.Deed
		err := g.held.Arm(ctx, intent, append(g.conditions(), t.Cmps...), append(g.ride(entry), t.Ops...))
		if err == nil {
			break
		}
		if !raced(t, err) {
			return g.notArmed(ctx, err), nil
		}
	}
	lease.Point("armed")
	g.journalled()
	g.recorded(entry)
	return g.lastCheck(ctx), nil
}

func (g *guard) intent(vals Values) (lease.Intent, error) {
	in := lease.Intent{ID: g.ref.ActionID, Timeout: g.set.Timeout, Unfenced: !g.Actuator.Fenced(g.ground.Action)}
	p := pledge{Step: g.u.Step(g.ground), Expect: map[string]any{}}
	for _, w := range g.expected {
		if w.New.Known() {
			p.Expect[g.u.Text(g.atom(w))] = g.u.Plain(w.Fluent, w.New)
		}
		if isBelief(w.Fluent) {
			p.was(g.u.Text(g.atom(w)), g.beliefs)
		}
	}
	for _, w := range g.writes {
		in.Writes = append(in.Writes, resource(g.u, w, true))
	}
	var err error
	if in.Observed, err = json.Marshal(vals); err != nil {
		return in, fmt.Errorf("encode what was observed: %w", err)
	}
	if in.Data, err = json.Marshal(p); err != nil {
		return in, fmt.Errorf("encode the action: %w", err)
	}
	in.Observed, in.Data = g.Journal.Redacted(in.Observed), g.Journal.Redacted(in.Data)
	return in, nil
}

// lastCheck asks our own clock, right before acting, whether the deadline
// leaves time to act. If not, the armed action is withdrawn: it was not begun.
func (g *guard) lastCheck(ctx context.Context) *failure {
	if lease.Without(lease.LastCheck) {
		return nil
	}
	left := g.held.Remaining()
	if left > 0 && left >= min(g.set.Timeout, g.safe()/3) {
		return nil
	}
	g.withdraw(ctx)
	return &failure{
		kind: "lease", infra: true, spent: true,
		reason: fmt.Sprintf("only %s were left on the lease, nothing was done", seconds(left)),
	}
}

// withdraw takes the armed action back. Where that fails it stays in doubt.
func (g *guard) withdraw(ctx context.Context) {
	ctx, cancel := g.recording(ctx)
	defer cancel()
	if err := g.held.Withdraw(ctx, lease.Outcome{Result: lease.NotApplied, Note: "not begun"}, g.ledger().Withdrawn(g.deed)...); err != nil {
		g.doubt()
		g.held.Abandon()
	}
}

// doubt remembers the action as one of unknown outcome.
func (g *guard) doubt() { g.inDoubt[g.ref.ActionID] = g.ref.Action }

func (g *guard) notArmed(ctx context.Context, err error) *failure {
	var unknown *lease.ArmUnknownError
	var refused *lease.RefusedError
	switch {
	case errors.As(err, &unknown) && unknown.Armed != lease.No:
		g.withdraw(ctx)
	case errors.As(err, &refused):
		if f := g.forbidden(ctx, refused); f != nil {
			return f
		}
	}
	return &failure{kind: "lease", infra: true, reason: "the action was not armed, nothing was done: " + err.Error()}
}

// forbidden tells what ends the run where Arm was refused; nil where that is
// only this try.
func (g *guard) forbidden(ctx context.Context, refused *lease.RefusedError) *failure {
	switch {
	case refused.NotOwner:
		end := g.lostRun()
		return &failure{kind: "lease", infra: true, reason: end.Message, end: end}
	case refused.Paused != nil:
		reason := refused.Paused.String() + "; nothing was done"
		return &failure{kind: policy.Paused, reason: reason, end: &Ended{Status: WaitingStatus, Reason: policy.Paused, Message: reason}}
	case refused.Approval:
		return g.lapsed(ctx)
	case slices.Contains(refused.Keys, cancelKey(g.Locker.Keys(), g.Journal.ID())):
		c, _, err := cancellation(context.WithoutCancel(ctx), g.Beliefs.Client, g.Locker.Keys(), g.Journal.ID())
		if err != nil || c == nil {
			c = &Cancellation{}
		}
		return &failure{kind: "stopped", reason: c.String(), end: c.end()}
	}
	return nil
}
