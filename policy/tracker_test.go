package policy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fettleops/fettle/model"
)

func learned(es []Evidence) string {
	var out []string
	for _, e := range es {
		out = append(out, string(e.Kind)+" "+e.What)
	}
	return strings.Join(out, "; ")
}

// TestEvidence: what counts, what does not, and what it does to the count of
// rounds without any.
func TestEvidence(t *testing.T) {
	tests := []struct {
		name   string
		round  func(*Tracker)
		want   string
		rounds int // without evidence, after it
	}{
		{"nothing", func(*Tracker) {}, "", 1},
		{"nothing again", func(*Tracker) {}, "", 2},
		{"what was not met before is no change", func(t *Tracker) { t.Observed(map[string]model.Tri{"up(db)": model.False}) }, "", 3},
		{"the same truth values", func(t *Tracker) { t.Observed(map[string]model.Tri{"up(db)": model.False}) }, "", 4},
		{
			"changed truth values, in order",
			func(t *Tracker) {
				t.Observed(map[string]model.Tri{"up(db)": model.Unknown, "load < 3": model.True})
				t.Observed(map[string]model.Tri{"up(db)": model.True, "load < 3": model.False})
			},
			"truth up(db): false → unknown; truth load < 3: true → false; truth up(db): unknown → true", 0,
		},
		{"nothing after something", func(*Tracker) {}, "", 1},
		{"a new failure", func(t *Tracker) { t.Failed(restart, "restart(api)") }, "failure not_applied of restart(api)", 0},
		{"the same failure", func(t *Tracker) { t.Failed(restart, "restart(api)") }, "", 1},
		{"an error is evidence of itself", func(t *Tracker) { t.Errored(NewFailureKey("infrastructure", "drain(db)"), "drain(db)") }, "failure infrastructure of drain(db)", 0},
		{"once", func(t *Tracker) { t.Errored(NewFailureKey("infrastructure", "drain(db)"), "drain(db)") }, "", 1},
		{"a confirmed effect", func(t *Tracker) { t.Confirmed("drain(api)") }, "effect drain(api)", 0},
		{"a person's decision", func(t *Tracker) { t.Learned(Evidence{PersonDecided, "rejected: not on a Friday"}) }, "decision rejected: not on a Friday", 0},
		{"a proof", func(t *Tracker) { t.Learned(Evidence{Proof, "unsolvable"}) }, "proof unsolvable", 0},
		{"a proposal, a call and an action are none", func(t *Tracker) { t.Attempted(); t.Called(1, 100, 0.1); t.Acted(); t.Repeated() }, "", 1},
	}
	tr := NewTracker(start)
	for _, tt := range tests {
		tr.BeginRound()
		tt.round(tr)
		got := learned(tr.EndRound())
		if n := tr.Progress(start).RoundsNoEvidence; got != tt.want || n != tt.rounds {
			t.Errorf("%s: got %q and %d rounds without evidence, want %q and %d", tt.name, got, n, tt.want, tt.rounds)
		}
	}
}

// TestSameFailureInARow counts equal failures; another failure, or the success
// of what failed, starts again.
func TestSameFailureInARow(t *testing.T) {
	a, b := NewFailureKey("not_applied", "restart(api)"), NewFailureKey("diverged", "restart(api)", "ready(api)")
	tests := []struct {
		name string
		step func(*Tracker)
		want string
	}{
		{"a failure", func(t *Tracker) { t.Failed(a, "restart(api)") }, "1 not_applied of restart(api)"},
		{"the same", func(t *Tracker) { t.Failed(a, "restart(api)") }, "2 not_applied of restart(api)"},
		{"what others did does not matter", func(t *Tracker) { t.Confirmed("drain(db)") }, "2 not_applied of restart(api)"},
		{"the same once more", func(t *Tracker) { t.Failed(a, "restart(api)") }, "3 not_applied of restart(api)"},
		{"of another kind", func(t *Tracker) { t.Failed(b, "restart(api)") }, "1 diverged of restart(api) (ready(api))"},
		{"the first again", func(t *Tracker) { t.Failed(a, "restart(api)") }, "1 not_applied of restart(api)"},
		{"it succeeded", func(t *Tracker) { t.Confirmed("restart(api)") }, "0 "},
		{"and fails later", func(t *Tracker) { t.Failed(a, "restart(api)") }, "1 not_applied of restart(api)"},
		{"another planner has a new start", func(t *Tracker) { t.NextPlanner() }, "0 "},
	}
	tr := NewTracker(start)
	tr.Planners(2)
	for _, tt := range tests {
		tt.step(tr)
		g := tr.Progress(start)
		if got := fmt.Sprintf("%d %s", g.SameFailure, g.Failure); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	if n := tr.Progress(start).Planners; n != 1 {
		t.Errorf("%d planners left", n)
	}
}

func TestTrackerCounts(t *testing.T) {
	tr := NewTracker(start)
	tr.BeginRound()
	tr.Attempted()
	tr.Attempted()
	tr.Called(1, 100, 0.25)
	tr.Called(2, 50, 0.5)
	tr.Acted()
	tr.Errored("x", "")
	tr.Repeated()
	tr.EndRound()
	tr.BeginRound()
	tr.Attempted()
	tr.Paused(true)
	tr.Waited(3 * time.Second)
	tr.Reserved(1, 0.125)
	now := start.Add(time.Second)
	want := Progress{
		Round: 2, Attempts: 1, Calls: 3, Tokens: 150, Cost: 0.75, Actions: 1, Errors: 1, Repeats: 1, Planners: 1,
		Failure: "x", SameFailure: 1, Started: start, Now: now, Waited: 3 * time.Second, Paused: true, NextCalls: 1, NextCost: 0.125,
	}
	if got := tr.Progress(now); got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestFailureKeysIgnoreOrder(t *testing.T) {
	a := NewFailureKey("precondition", "drain(db)", "in_lb(db)", "capacity", "in_lb(db)")
	if a != NewFailureKey("precondition", "drain(db)", "capacity", "in_lb(db)") {
		t.Errorf("%s depends on the order", a)
	}
	if want := FailureKey("precondition of drain(db) (capacity, in_lb(db))"); a != want {
		t.Errorf("got %s", a)
	}
	for _, b := range []FailureKey{NewFailureKey("goal", "drain(db)", "capacity", "in_lb(db)"), NewFailureKey("precondition", "drain(api)", "capacity", "in_lb(db)"), NewFailureKey("precondition", "drain(db)", "capacity")} {
		if a == b {
			t.Errorf("%s is taken for another failure", b)
		}
	}
}
