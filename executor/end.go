package executor

import (
	"context"
	"os"
	"strings"
	"time"
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

// Head is the short record of a run that listings show. It is rewritten in
// place; everything else about a run is in its events.
type Head struct {
	Run     string     `json:"run,omitempty"` // filled in by readers
	Goal    string     `json:"goal"`
	Scope   string     `json:"scope"`
	Status  string     `json:"status"`
	Reason  string     `json:"reason,omitempty"`
	Started time.Time  `json:"started,omitzero"` // filled in by readers
	Ended   *time.Time `json:"ended,omitempty"`
	Rounds  int        `json:"rounds"`
	Actions int        `json:"actions"`
	Host    string     `json:"host"`
	PID     int        `json:"pid"`
}

// NewHead returns the head of a run that begins.
func NewHead(goal, scope, host string, pid int) Head {
	return Head{Goal: goal, Scope: scope, Status: Running, Host: host, PID: pid}
}

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
	if e.Status != Succeeded {
		e.Undone = r.missing(r.Goal.Cond.Explain(r.state, r.GoalArgs), r.Now())
	}
	e.Owed = owed(e)
	return e
}

// owed names the decisions that a person owes a run that stopped.
func owed(e Ended) []string {
	var out []string
	switch e.Reason {
	case "approval":
		out = append(out, "approve or reject the plan")
	case "rejected", "denied":
		out = append(out, "decide on the plan, or mend the model or the policy")
	case "unsolvable":
		out = append(out, "the goal cannot be reached with the model's actions: mend the world, the goal or the model")
	case "unobservable":
		out = append(out, "make the facts observable that the goal rests on")
	case "rounds", "budget", "deadline", "no_progress":
		out = append(out, "look at what keeps failing, then run again")
	}
	for _, id := range e.InDoubt {
		out = append(out, "find out whether "+id+" took effect")
	}
	return out
}

// finish writes the last event and the head.
func (r *run) finish(ctx context.Context, e Ended) error {
	if err := r.emit(ctx, RunEnded, e); err != nil {
		return err
	}
	host, pid := identity()
	h := NewHead(r.GoalName, r.Scope, host, pid)
	h.Status, h.Reason, h.Rounds, h.Actions = e.Status, e.Reason, e.Rounds, e.Actions
	at := r.Now().UTC()
	h.Ended = &at
	return r.Journal.SetHead(context.WithoutCancel(ctx), h)
}

func identity() (host string, pid int) {
	host, _ = os.Hostname() // A name for people; none is no reason to fail.
	return host, os.Getpid()
}

func joined(reasons []string) string { return strings.Join(reasons, "; ") }
