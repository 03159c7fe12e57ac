package executor

import (
	"context"
	"strings"

	"github.com/fettleops/fettle/policy"
)

// The statuses of a run.
const (
	Running       = "running"
	Succeeded     = "succeeded"
	WaitingStatus = "waiting"
	Escalated     = "escalated"
	FailedStatus  = "failed"
	Cancelled     = "cancelled"
)

// end completes how the run ended: evidence, or what is left undone and owed.
func (r *run) end(e Ended) Ended {
	if e.Status == "" {
		e.Status, e.Reason = FailedStatus, "error"
	}
	e.Rounds, e.Actions = r.round, r.actions
	e.Cost = r.progress.Progress(r.Now()).Cost
	for _, id := range r.doubts() {
		e.InDoubt = append(e.InDoubt, r.inDoubt[id]+" ("+id+")")
	}
	e.Seconds = r.Now().Sub(r.started).Seconds()
	if e.Status == Succeeded {
		e.Evidence = r.evidence()
		for _, ev := range e.Evidence {
			if ev.Verified == "assumed" {
				e.Status, e.Reason = Escalated, "unobservable"
				e.Message = ev.Condition + " rests on what cannot be observed"
			}
		}
	}
	if r.gone { // What is left is for the process that has the run; what was seen here is old.
		e.InDoubt = nil
		return e
	}
	if e.Status != Succeeded {
		e.Undone = r.missing(r.Goal.Cond.Explain(r.state, r.GoalArgs), r.Now())
	}
	e.Owed = owed(e, r.failing())
	if r.mute {
		e.Message = "what happens can no longer be recorded, so nothing more is done"
		e.Owed = []string{"once etcd answers again, go on with `fettle resume " + r.Journal.ID() + "`: it looks first at what was done"}
	}
	e.fit()
	return e
}

// OwedApproval is owed by whoever a run waits for with a question, until it is
// answered.
const OwedApproval = "approve or reject the plan"

// keepsFailing is owed where no single cause is known.
const keepsFailing = "look at what keeps failing, then run again"

// failing says what a person has to look at where a run failed too often.
func (r *run) failing() string {
	if r.fenced == "" {
		return keepsFailing
	}
	return "mend the fence, then run again: " + r.fenced
}

// owed names the decisions that a person owes a run that stopped, given what
// is to be done where it failed too often.
func owed(e Ended, failing string) []string {
	var out []string
	switch e.Reason {
	case approvalWanted:
		out = append(out, OwedApproval)
	case "rejected", "denied":
		out = append(out, "decide on the plan, or mend the model or the policy")
	case "unsolvable":
		out = append(out, "the goal cannot be reached with the model's actions: mend the world, the goal or the model")
	case "unobservable":
		out = append(out, "make the facts observable that the goal rests on")
	case policy.Broken, policy.Ineffective:
		out = append(out, "find out why the goal does not stay reached, then `fettle breaker reset`")
	case policy.Limited:
		out = append(out, "see `fettle breaker` for what is used, then go on with `fettle resume`")
	case policy.Rounds, policy.Budget, policy.Deadline, policy.NoProgress:
		out = append(out, failing)
	}
	for _, id := range e.InDoubt {
		out = append(out, "find out whether "+id+" took effect")
	}
	return out
}

// finish writes the last event and the head, where the run is still this process's to write.
func (r *run) finish(ctx context.Context, e Ended) error {
	r.reckoned(ctx, e)
	if err := r.emit(ctx, RunEnded, e); err != nil || r.gone {
		return err
	}
	ctx, cancel := r.recording(ctx)
	defer cancel()
	h := NewHead(r.GoalName, r.Scope, "", 0)
	if err := r.Journal.SetHead(ctx, h.ended(e, r.Now())); err != nil {
		return err
	}
	if e.Status == WaitingStatus { // What cancels it from now on is for the one who does, or who goes on.
		return nil
	}
	return forget(ctx, r.Beliefs.Client, r.Locker.Keys(), r.Journal.ID())
}

func joined(reasons []string) string { return strings.Join(reasons, "; ") }
