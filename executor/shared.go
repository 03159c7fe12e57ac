package executor

import (
	"context"
	"errors"

	"github.com/fettleops/fettle/executor/ledger"
	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/policy"
)

// ledger keeps what all controllers of the scope did.
func (r *run) ledger() *ledger.Ledger {
	return ledger.New(r.Beliefs.Client, r.Locker.Keys(), r.Now)
}

// mayBegin asks the limits that all controllers share whether a run towards the
// goal may begin, when the goal is seen not to hold: once by each process that
// drives it.
func (r *run) mayBegin(ctx context.Context) (*Ended, error) {
	if r.enrolled || r.Policy.Mode == policy.Suggest {
		return nil, nil
	}
	bctx, cancel := r.bounded(ctx)
	defer cancel()
	no, err := r.ledger().Begin(bctx, r.Policy.Shared, r.GoalName, r.Journal.ID(), r.actions > 0)
	if err != nil {
		if end := r.cut(ctx, "earlier runs were looked at"); end != nil {
			return end, nil
		}
		return nil, err
	}
	r.enrolled = no == nil
	if no == nil {
		return nil, nil
	}
	if err := r.emit(ctx, LimitShared, SharedLimit{Round: r.round, SharedRefusal: *no}); err != nil {
		return nil, err
	}
	return &Ended{Status: Escalated, Reason: no.Word, Message: no.Reason}, nil
}

// LimitShared is the kind of the event that tells that a limit which all
// controllers share is in the way.
const LimitShared = "shared_limit"

// SharedLimit is such a limit, and the step that it is in the way of.
type SharedLimit struct {
	Round  int    `json:"round"`
	Action string `json:"action,omitempty"`
	policy.SharedRefusal
}

// reckoned writes down how the run ended, for the limits that look at runs.
func (r *run) reckoned(ctx context.Context, e Ended) {
	if r.gone || r.Policy.Mode == policy.Suggest {
		return
	}
	ctx, cancel := r.recording(ctx)
	defer cancel()
	_ = r.ledger().Ended(ctx, r.GoalName, policy.RunOutcome{ // What is not written counts as a run that was lost.
		Run: r.Journal.ID(), Status: e.Status, Reason: e.Reason, Acted: e.Actions > 0, Began: r.started, At: r.Now().UTC(),
	})
}

// reserve counts the action among those of all controllers: its ticket rides
// when it is armed.
func (g *guard) reserve(ctx context.Context) (*ledger.Ticket, *failure) {
	d := (&Ruler{Universe: g.u, Goal: g.GoalName}).deed(g.ground)
	d.ID, d.Run = g.ref.ActionID, g.Journal.ID()
	ctx, cancel := g.bounded(ctx)
	defer cancel()
	if f := g.stillMay(ctx); f != nil {
		return nil, f
	}
	limits := g.Policy.Shared
	if g.ref.Restore {
		limits = policy.Shared{} // Going back has limits of its own, and is counted.
	}
	t, no, err := g.ledger().Reserve(ctx, limits, d)
	switch {
	case err != nil:
		return nil, &failure{kind: "infrastructure", infra: true, reason: "nothing was done: " + err.Error()}
	case no != nil:
		f := &failure{kind: no.Word, reason: "nothing was done: " + no.Reason, end: &Ended{Status: Escalated, Reason: no.Word, Message: no.Reason}}
		if !no.Until.IsZero() {
			f.end.Opens = &no.Until
			if g.worse() {
				f.end.Message += leftWorse
			} else {
				f.end.Status = WaitingStatus
			}
		}
		if err := g.emit(ctx, LimitShared, SharedLimit{Round: g.round, Action: g.ref.Action, SharedRefusal: *no}); err != nil {
			return nil, &failure{kind: "infrastructure", infra: true, reason: "nothing was done: " + err.Error()}
		}
		return nil, f
	}
	return t, nil
}

// stillMay asks once more whether the run may go towards its goal, before its
// first action: others may have failed while it waited for a person.
func (g *guard) stillMay(ctx context.Context) *failure {
	if g.actions > 0 || g.ref.Restore || !g.Policy.Shared.LimitsRuns() {
		return nil
	}
	g.enrolled = false
	switch end, err := g.mayBegin(ctx); {
	case err != nil:
		return &failure{kind: "infrastructure", infra: true, reason: "nothing was done: " + err.Error()}
	case end != nil && end.Reason != policy.Broken && end.Reason != policy.Ineffective:
		return &failure{kind: "stopped", reason: end.Message, end: end}
	case end != nil:
		return &failure{kind: end.Reason, reason: "nothing was done: " + end.Message, end: end}
	}
	return nil
}

// raced tells whether arming was refused only because another controller was
// towardsGoal meanwhile.
func raced(t *ledger.Ticket, err error) bool {
	var refused *lease.RefusedError
	return errors.As(err, &refused) && t.Raced(refused)
}
