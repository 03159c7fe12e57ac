package policy

import (
	"time"

	"github.com/fettleops/fettle/model"
)

// Tracker folds what happens in a run into its [Progress]. It is fed in the
// order of the journal, whether live or in a replay, and is not safe for
// concurrent use. A round is closed by EndRound once the world was observed
// after it, before the policy is asked between rounds.
type Tracker struct {
	progress Progress
	failures map[FailureKey]bool
	truths   truths
	failed   string     // the action of the last failure
	round    []Evidence // of the round under way
	open     Progress   // calls and cost that were restored as used
}

// NewTracker starts at the given time, with one planner to turn to.
func NewTracker(started time.Time) *Tracker {
	return &Tracker{
		progress: Progress{Started: started, Now: started, Planners: 1},
		failures: map[FailureKey]bool{}, truths: truths{},
	}
}

// Planners tells how many planners there are to turn to.
func (t *Tracker) Planners(n int) { t.progress.Planners = n }

// Progress returns the progress as of now, which decisions take.
func (t *Tracker) Progress(now time.Time) Progress {
	p := t.progress
	p.Now = now
	return p
}

// BeginRound counts a round.
func (t *Tracker) BeginRound() {
	t.progress.Round++
	t.progress.Attempts = 0
}

// EndRound closes a round and returns what was learned in it.
func (t *Tracker) EndRound() []Evidence {
	got := t.round
	t.round = nil
	if len(got) == 0 {
		t.progress.RoundsNoEvidence++
	} else {
		t.progress.RoundsNoEvidence = 0
	}
	return got
}

// Repeated counts a round that was skipped because its plan had been tried.
func (t *Tracker) Repeated() { t.progress.Repeats++ }

// Attempted counts a proposal.
func (t *Tracker) Attempted() { t.progress.Attempts++ }

// Called counts calls of a language model.
func (t *Tracker) Called(calls, tokens int, cost float64) {
	t.progress.Calls += calls - t.open.Calls
	t.progress.Tokens += tokens
	t.progress.Cost += cost - t.open.Cost
	t.open = Progress{}
}

// Acted counts an execution of an action, as it begins.
func (t *Tracker) Acted() { t.progress.Actions++ }

// Errored counts an infrastructure error. An error is evidence of itself: it
// has a failure key, like any other failure. The action is the one that
// failed, "" where none did.
func (t *Tracker) Errored(k FailureKey, action string) {
	t.progress.Errors++
	t.Failed(k, action)
}

// Failed counts a failure, of an action where one failed. A key that was not
// met before is evidence.
func (t *Tracker) Failed(k FailureKey, action string) {
	t.failed = action
	if k == t.progress.Failure {
		t.progress.SameFailure++
	} else {
		t.progress.Failure, t.progress.SameFailure = k, 1
	}
	if !t.failures[k] {
		t.failures[k] = true
		t.Learned(Evidence{NewFailure, string(k)})
	}
}

// Confirmed notes that the effects of an action were seen. If its failure comes
// again later, it is no longer one in a row; what other actions did in between
// changes nothing for it.
func (t *Tracker) Confirmed(action string) {
	if t.failed == action {
		t.progress.Failure, t.progress.SameFailure = "", 0
	}
	t.Learned(Evidence{EffectConfirmed, action})
}

// Observed compares the truth values of conjuncts, by their texts, with the last
// ones and returns what changed.
func (t *Tracker) Observed(now map[string]model.Tri) []Evidence {
	got := t.truths.update(now)
	t.round = append(t.round, got...)
	return got
}

// Learned adds evidence of another kind: a proof, a person's decision.
func (t *Tracker) Learned(e Evidence) { t.round = append(t.round, e) }

// NextPlanner gives the present planner up, as a decision asked for.
func (t *Tracker) NextPlanner() {
	t.progress.Planners--
	t.progress.Failure, t.progress.SameFailure = "", 0
}

// Paused tells whether the kill switch is on.
func (t *Tracker) Paused(on bool) { t.progress.Paused = on }

// Waited sets how long the run has been waiting for somebody else's lease;
// zero once it has what it waited for.
func (t *Tracker) Waited(d time.Duration) { t.progress.Waited = d }

// Reserved sets what the calls that are asked for or under way may use at most.
func (t *Tracker) Reserved(calls int, cost float64) {
	t.progress.NextCalls, t.progress.NextCost = calls, cost
}
