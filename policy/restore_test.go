package policy

import (
	"testing"
	"time"
)

// TestRestore: a run that is gone on with has used what it had used, a call
// whose end nobody saw included, and what it waited for does not count.
func TestRestore(t *testing.T) {
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	before := NewTracker(began)
	before.Planners(2)
	before.BeginRound()
	before.Called(1, 100, 0.25)
	before.Errored("infrastructure of drain(api)", "drain(api)")
	before.Reserved(2, 0.5)
	before.Waited(time.Minute)
	before.Paused(true)
	decided := before.Progress(began.Add(time.Hour))

	after := NewTracker(began.Add(24 * time.Hour))
	after.Errored("infrastructure of drain(api)", "drain(api)")
	after.EndRound()
	after.Restore(decided)
	got := after.Progress(began.Add(25 * time.Hour))
	want := decided
	want.Started, want.Now = began.Add(24*time.Hour), began.Add(25*time.Hour)
	want.Calls, want.Cost, want.NextCalls, want.NextCost = 3, 0.75, 0, 0
	want.Waited, want.Paused = 0, false
	if got != want {
		t.Errorf("restored\n%+v, want\n%+v", got, want)
	}
	if got.Elapsed() != time.Hour {
		t.Errorf("%s elapsed", got.Elapsed())
	}
	after.Called(1, 50, 0.1)
	if p := after.Progress(began); p.Calls != 2 || p.Cost != 0.35 || p.Tokens != 150 {
		t.Errorf("after the call has told what it used: %+v", p)
	}
	after.Restore(decided)
	after.Unsettled() // The process ended in the middle of the calls.
	after.Called(1, 50, 0.125)
	if p := after.Progress(began); p.Calls != 4 || p.Cost != 0.875 {
		t.Errorf("after a call that nobody told of, and another: %+v", p)
	}
	after.Failed("infrastructure of drain(api)", "drain(api)")
	if p := after.Progress(began); p.SameFailure != 2 || p.Errors != 1 {
		t.Errorf("the same failure again: %+v", p)
	}
	if got := after.EndRound(); len(got) > 0 {
		t.Errorf("a failure met before is no evidence: %v", got)
	}
}
