package executor

import (
	"context"

	"github.com/fettleops/fettle/policy"
)

// Space tells whether the store has room for what a run has still to record.
type Space interface {
	// Low tells, without asking the store, whether room was short when last looked at.
	Low() bool
	// Check asks the store and makes room where it may. An error says that it is nearly full.
	Check(ctx context.Context) error
}

// full ends the run where the store is nearly full, before something new is
// begun: what is left is kept for outcomes. It asks the store before each round,
// and otherwise only where the watch has seen that room is short.
func (r *run) full(ctx context.Context, at policy.Point) *Ended {
	if r.Space == nil || at != policy.PointRound && !r.Space.Low() {
		return nil
	}
	sctx, cancel := r.bounded(ctx)
	defer cancel()
	err := r.Space.Check(sctx)
	if err == nil {
		return nil
	}
	if end := r.cut(ctx, "the store was looked at"); end != nil {
		return end
	}
	return &Ended{
		Status: WaitingStatus, Reason: policy.Busy, Message: "there is no room left to record more: " + err.Error() + ", then go on with fettle resume",
	}
}

// cramped refuses to begin an action where room has run short since it was
// planned: the round ends, and the next one makes room or ends the run.
func (g *guard) cramped() *failure {
	if g.Space == nil || !g.Space.Low() {
		return nil
	}
	return &failure{kind: "infrastructure", infra: true, reason: "nothing was done: the store is nearly full"}
}
