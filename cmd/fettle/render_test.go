package main

import (
	"bytes"
	"encoding/json"
	"os"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/planner"
)

// told is what a person reads of events.
func told(t *testing.T, events ...any) string {
	t.Helper()
	var out bytes.Buffer
	r := newRenderer(&out, "01RUN")
	for i := 0; i < len(events); i += 2 {
		raw, err := json.Marshal(events[i+1])
		if err != nil {
			t.Fatal(err)
		}
		if err := r.event(journal.Event{Kind: events[i].(string), Data: raw}); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

// A run that waits for others looks now and then, and says only what is new.
func TestARunThatWaitsForOthersSaysSoOnce(t *testing.T) {
	why := "no sequence of actions reaches the goal; but others are at work: deploy is held"
	changed := executor.Observation{Facts: 13, MS: 5, Values: executor.Values{Changed: map[string]any{"lock_free": true}}}
	same := executor.Observation{Facts: 13, MS: 6}
	got := told(
		t,
		executor.Observed, changed,
		executor.AttemptMade, executor.Attempt{Planner: "search", Verdict: string(planner.NeedsPerson), Critique: "no sequence of actions reaches the goal"},
		executor.StepWaiting, executor.Waiting{Busy: why},
		executor.Observed, same,
		executor.Observed, same,
		executor.Observed, changed,
		executor.RoundEnded, executor.RoundEnd{Reason: why},
		executor.Observed, same,
	)
	want := `Observed 13 facts in 5 ms
  the goal holds

  search     ✗ no sequence of actions reaches the goal
  waiting  ` + why + `

Observed 13 facts in 5 ms
  the goal holds

Observed 13 facts in 6 ms
  the goal holds

`
	if got != want {
		t.Errorf("told\n%s\nwant\n%s", got, want)
	}
}

func TestWhatStalledAndWhatWasTakenOverIsTold(t *testing.T) {
	ref := executor.StepRef{Round: 1, Step: 2, Action: "restart(web)"}
	got := told(
		t,
		executor.RunResumed, executor.Resumed{Host: "ops1", PID: 7, Was: executor.Stalled},
		executor.StepRefused, executor.Refused{StepRef: ref, Kind: executor.TakenOver, Reason: "restart(web) was in doubt"},
	)
	want := `  this process had lost the right to drive the run (it or etcd stood still for too long); nobody else has had it, so it goes on

    2  restart(web)  not begun
         restart(web) was in doubt
`
	if got != want {
		t.Errorf("told\n%s\nwant\n%s", got, want)
	}
}

func TestASignalSaysWhatItDoesToTheActionInFlight(t *testing.T) {
	var out bytes.Buffer
	a := &app{err: &out}
	var flying atomic.Bool
	follow := inFlight(&flying)
	for _, c := range []struct {
		kind   string
		signal os.Signal
		want   string
	}{
		{executor.PlanAccepted, os.Interrupt, "stopping: no action is under way\n"},
		{executor.StepArmed, os.Interrupt, "stopping: the action in flight is finished and recorded first; once more to cut it\n"},
		{executor.StepArmed, syscall.SIGQUIT, "stopping: the action in flight is cut off, and whether it took effect is unknown\n"},
		{executor.StepFinished, syscall.SIGQUIT, "stopping: no action is under way\n"},
		{executor.StepRefused, syscall.SIGTERM, "stopping: no action is under way\n"},
	} {
		out.Reset()
		follow(journal.Event{Kind: c.kind})
		a.stopping(c.signal, flying.Load())
		if out.String() != c.want {
			t.Errorf("%s after %s: said %q", c.signal, c.kind, out.String())
		}
	}
}
