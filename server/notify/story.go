package notify

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/journal"
)

// story is what a run's events have told so far, as far as a message needs it.
type story struct {
	run, goal, scope, host string
	pid                    int
	started                time.Time
	round, actions         int

	first *executor.Observation // what the run found when it began
	wait  *wait                 // that the run is in
}

// wait is a time in which a run that is driven goes on with nothing.
type wait struct {
	seq    int64 // of the event that began it
	since  time.Time
	reason string
	why    string
}

// tell takes an event in. The message is nil where nobody needs to be told.
func (s *story) tell(e journal.Event) (*Message, error) {
	var err error
	switch e.Kind {
	case executor.RunStarted:
		var d executor.Started
		err = json.Unmarshal(e.Data, &d)
		s.run, s.goal, s.scope, s.host, s.pid, s.started = e.Run, d.Goal, d.Scope, d.Host, d.PID, e.Time
	case executor.RunResumed:
		var d executor.Resumed
		err = json.Unmarshal(e.Data, &d)
		s.host, s.pid, s.wait = d.Host, d.PID, nil
	case executor.Observed:
		err = s.observed(e)
	case executor.RoundStarted:
		var d executor.Round
		err = json.Unmarshal(e.Data, &d)
		s.round, s.wait = d.Round, nil
	case executor.StepWaiting:
		var d executor.Waiting
		err = json.Unmarshal(e.Data, &d)
		s.waits(e, "busy", d.Busy)
	case executor.ApprovalAsked:
		var d executor.Asked
		err = json.Unmarshal(e.Data, &d)
		s.waits(e, "approval", asks(d))
	case executor.StepArmed:
		s.actions++
		s.wait = nil
	case executor.RunEnded:
		s.wait = nil
		var d executor.Ended
		if err = json.Unmarshal(e.Data, &d); err == nil {
			m := s.ended(d, e.Seq, e.Time)
			return &m, nil
		}
	default:
		s.other(e)
	}
	if err != nil {
		return nil, fmt.Errorf("event %d (%s) cannot be read: %w", e.Seq, e.Kind, err)
	}
	return nil, nil
}

// other takes in an event of which no more than the kind matters.
func (s *story) other(e journal.Event) {
	switch e.Kind {
	case executor.AttemptMade, executor.PlanAccepted, executor.Approval, executor.StepAcquired, executor.StepRefused,
		executor.StepSkipped, executor.StepFinished, executor.RoundEnded, executor.DoubtResolved:
		s.wait = nil
	}
}

// waits notes that the run waits, unless it does so already for that reason.
func (s *story) waits(e journal.Event, reason, why string) {
	if s.wait == nil || s.wait.reason != reason {
		s.wait = &wait{seq: e.Seq, since: e.Time, reason: reason, why: why}
	}
}

// asks says what a person is asked.
func asks(d executor.Asked) string {
	what := "a person is asked about the plan"
	if d.Step > 0 {
		what = fmt.Sprintf("a person is asked about step %d, %s", d.Step, d.Action)
	}
	if len(d.Why) > 0 {
		what += ": " + strings.Join(d.Why, "; ")
	}
	return what
}

// observed keeps what the first look found of the goal.
func (s *story) observed(e journal.Event) error {
	if s.first != nil {
		return nil
	}
	var d executor.Observation
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return err
	}
	s.first = &executor.Observation{Missing: d.Missing, More: d.More}
	return nil
}

// leftOut names what the run left worse than it found it, and says where that
// cannot be told.
func (s *story) leftOut(e executor.Ended) []string {
	var out []string
	for _, n := range e.NotRestored {
		out = append(out, unrestored(n))
	}
	w := executor.Worse(s.first, e)
	for _, c := range w.Conditions {
		if !slices.ContainsFunc(e.NotRestored, func(n executor.NotRestored) bool { return n.Fluent == c }) {
			out = append(out, c)
		}
	}
	if w.Unsure != "" {
		out = append(out, "cannot be told: "+w.Unsure)
	}
	return out
}

// unrestored says what could not be put back, and why.
func unrestored(n executor.NotRestored) string {
	if n.Fluent == "" {
		return n.Reason
	}
	return n.Fluent + ": " + n.Reason
}
