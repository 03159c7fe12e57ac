package policy

import "time"

// Progress is how far a run has come: everything a decision depends on, so
// that the journal can carry it and a replay can decide again.
type Progress struct {
	Round    int     `json:"round"`    // rounds begun, those skipped as repeats included
	Attempts int     `json:"attempts"` // proposals made in this round
	Calls    int     `json:"calls"`    // calls of language models, over the run
	Tokens   int     `json:"tokens"`
	Cost     float64 `json:"cost"`     // of those calls, in USD
	Actions  int     `json:"actions"`  // executions begun
	Errors   int     `json:"errors"`   // infrastructure errors
	Repeats  int     `json:"repeats"`  // rounds skipped because their plan had been tried
	Planners int     `json:"planners"` // planners not yet given up, the present one included

	Failure          FailureKey    `json:"failure,omitempty"` // the last one
	SameFailure      int           `json:"same_failure"`      // how often in a row
	RoundsNoEvidence int           `json:"rounds_no_evidence"`
	Started          time.Time     `json:"started"`
	Now              time.Time     `json:"now"`
	Waited           time.Duration `json:"waited_ns,omitzero"` // for a lease that somebody else holds, at this point
	Paused           bool          `json:"paused,omitempty"`
	NextCalls        int           `json:"next_calls,omitempty"` // what the call that is asked for may use at most,
	NextCost         float64       `json:"next_cost,omitempty"`  // calls already under way included
}

// Elapsed is the time since the run started.
func (p Progress) Elapsed() time.Duration { return p.Now.Sub(p.Started) }
