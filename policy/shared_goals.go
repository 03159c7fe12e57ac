package policy

import (
	"slices"
	"time"
)

// RunOutcome is a run towards a goal, as far as it has come, or the word of a
// person that the count begins anew.
type RunOutcome struct {
	Run    string    `json:"run,omitempty"`
	Status string    `json:"status"`           // as the run ended, or one of those below
	Reason string    `json:"reason,omitempty"` // of its end; the person's
	Acted  bool      `json:"acted,omitempty"`  // it carried an action out
	Brief  bool      `json:"brief,omitempty"`  // of a success that did not last
	By     string    `json:"by,omitempty"`     // the person
	Began  time.Time `json:"began,omitzero"`   // of its first round
	At     time.Time `json:"at,omitzero"`      // of its end; of the person's word
}

// The statuses of runs that matter here, the last two of no run that ended.
const (
	runSucceeded = "succeeded"
	runWaiting   = "waiting"

	// RunUnderWay is a run that is being driven.
	RunUnderWay = "running"
	// RunLost is a run that did not end and that nobody drives: its process died.
	RunLost = "lost"
	// RunsReset is a person's word.
	RunsReset = "reset"
)

// time of the outcome: where the run did not end, of its beginning.
func (o RunOutcome) time() time.Time {
	if o.At.IsZero() {
		return o.Began
	}
	return o.At
}

// worked tells whether the run reached the goal by what it did.
func (o RunOutcome) worked() bool { return o.Status == runSucceeded && o.Acted }

// String names the run and how it ended.
func (o RunOutcome) String() string {
	s := o.Run + " " + o.Status
	switch {
	case o.Brief:
		s += " for a moment"
	case o.Reason != "":
		s += " (" + o.Reason + ")"
	}
	return s
}

// counts tells whether the run is one without success. What is under way may
// still succeed, and so may what waits and has done nothing yet.
func (o RunOutcome) counts() bool {
	switch o.Status {
	case RunUnderWay, RunsReset:
		return false
	case runWaiting:
		return o.Acted
	}
	return !o.worked() || o.Brief
}

// FollowRuns returns the runs towards a goal once another has come so far. A
// run that ends takes the place after the others; what was known of it before
// is replaced. A run that found the goal holding and did nothing leaves no
// trace, and neither does one that a shared limit refused.
func FollowRuns(runs []RunOutcome, o RunOutcome) []RunOutcome {
	i := slices.IndexFunc(runs, func(r RunOutcome) bool { return o.Run != "" && r.Run == o.Run })
	if i >= 0 {
		o.Began = runs[i].Began
		if o.Status == RunUnderWay {
			o.Acted = runs[i].Acted
		}
		runs = slices.Delete(slices.Clone(runs), i, i+1)
	}
	refused := o.Reason == Broken || o.Reason == Ineffective
	if refused || o.Status == runSucceeded && !o.Acted {
		return runs
	}
	runs = append(slices.Clip(runs), o)
	return runs[max(0, len(runs)-sharedRuns):]
}

// row returns the runs in a row without success, oldest first.
func row(runs []RunOutcome) []RunOutcome {
	var out []RunOutcome
	for _, o := range runs {
		switch {
		case o.Status == RunsReset, o.worked() && !o.Brief:
			out = nil
		case o.counts():
			out = append(out, o)
		}
	}
	return out
}

// success returns the last run that reached the goal by what it did, since a
// person last said that the count begins anew.
func success(runs []RunOutcome) (RunOutcome, bool) {
	for _, o := range slices.Backward(runs) {
		if o.Status == RunsReset {
			break
		}
		if o.worked() {
			return o, true
		}
	}
	return RunOutcome{}, false
}

// ToReset tells whether a person's word would change anything for a goal.
func ToReset(runs []RunOutcome) bool {
	_, worked := success(runs)
	return worked || len(row(runs)) > 0
}
