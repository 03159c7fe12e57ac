package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/policy"
)

// pledge is what the record of an armed action says of it, for whoever has to
// find out whether it took effect: the expected values cannot be derived from
// the state that is found then.
type pledge struct {
	Step   model.Step     `json:"step"`
	Expect map[string]any `json:"expect,omitempty"` // by the text of the atom
}

// arm makes the action in doubt: from here on a durable record says that it
// may have happened.
func (g *guard) arm(ctx context.Context) (*failure, error) {
	vals, blobs := g.values()
	entry, err := g.Journal.Ride(StepArmed, Armed{StepRef: g.ref, Values: vals, Fence: g.held.Fence()}, blobs...)
	if err != nil {
		return nil, g.unrecorded(err)
	}
	intent, err := g.intent(vals)
	if err != nil {
		return nil, err
	}
	unpaused := []clientv3.Cmp{g.Locker.Keys().NotPaused()}
	if err := g.held.Arm(ctx, intent, unpaused, entry.Ops()); err != nil {
		return g.notArmed(ctx, err), nil
	}
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
	return in, nil
}

// lastCheck asks our own clock, right before acting, whether the deadline
// leaves time to act. If not, the armed action is withdrawn: it was not begun.
func (g *guard) lastCheck(ctx context.Context) *failure {
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
	ctx, cancel := recording(ctx)
	defer cancel()
	if err := g.held.Withdraw(ctx, lease.Outcome{Result: lease.NotApplied, Note: "not begun"}); err != nil {
		g.doubt()
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
	case errors.As(err, &refused) && !refused.Exists:
		reason := "actions are paused everywhere; nothing was done"
		return &failure{kind: policy.Paused, reason: reason, end: &Ended{Status: WaitingStatus, Reason: policy.Paused, Message: reason}}
	}
	return &failure{kind: "lease", infra: true, reason: "the action was not armed, nothing was done: " + err.Error()}
}
