package executor

import "github.com/fettleops/fettle/journal"

// StepRef names a step of a round; every event of a step has it.
type StepRef struct {
	Round    int    `json:"round"`
	Step     int    `json:"step"`
	Action   string `json:"action"`
	ActionID string `json:"action_id,omitempty"`
	Restore  bool   `json:"restore,omitempty"` // of a way back, not of a plan for the goal
}

// Skipped tells that every effect of the step held already.
type Skipped struct {
	StepRef
	Values
	Because []Fact  `json:"because"`
	HeldMS  float64 `json:"held_ms,omitempty"` // how long the leases were held; 0 where none were taken
}

// Waiting tells what the step waits for: others hold what it needs, or an
// unfenced action in doubt may still take effect.
type Waiting struct {
	StepRef
	Busy string `json:"busy"`
}

// Acquired rides in the transaction that takes the step's leases; the fence is
// that transaction's revision.
type Acquired struct {
	StepRef
	Resources []string `json:"resources"`
	WaitMS    float64  `json:"wait_ms"` // from the first request for the leases to the one that was granted
}

// Refused tells why a step was not carried out: nothing was done.
type Refused struct {
	StepRef
	Values
	Kind   string  `json:"kind"` // precondition, invariant, …, fence, busy, lease, in_doubt, infrastructure
	Reason string  `json:"reason"`
	Facts  []Fact  `json:"facts,omitempty"`
	Fence  int64   `json:"fence,omitempty"`
	AtStep int     `json:"at_step,omitempty"` // the step of the plan that no longer holds
	Lost   bool    `json:"lost,omitempty"`    // the leases were lost, not given back
	HeldMS float64 `json:"held_ms,omitempty"` // how long they were held; 0 where none were taken
	MS     float64 `json:"ms"`
}

// Armed rides in the transaction that makes the action in doubt.
type Armed struct {
	StepRef
	Values
	Fence int64    `json:"fence"`
	Way   *WayBack `json:"way_back,omitempty"` // where the goal gives a severity
}

// Seen is an effect and when it was seen, in seconds after the action ended.
type Seen struct {
	Fluent   string  `json:"fluent"`
	Want     any     `json:"want"`
	Value    any     `json:"value"`
	AfterS   float64 `json:"after_s"`
	Verified string  `json:"verified"` // observed, assumed, or no: not seen
	Source   string  `json:"source,omitempty"`
	Error    string  `json:"error,omitempty"`
}

// Finished rides in the transaction that ends a step.
type Finished struct {
	StepRef
	Values
	Fence   int64        `json:"fence"`
	Outcome string       `json:"outcome"` // applied, not_applied, diverged, unknown
	Status  string       `json:"status"`  // what the actuator said: done, failed, rejected, unknown
	Message string       `json:"message,omitempty"`
	Tail    string       `json:"tail,omitempty"`   // last lines of the output of a failed action
	Output  *journal.Ref `json:"output,omitempty"` // the body of the output
	Cut     bool         `json:"cut,omitempty"`
	Seen    []Seen       `json:"seen,omitempty"`
	Lost    bool         `json:"lost,omitempty"` // the leases were lost before the outcome was recorded
	ActMS   float64      `json:"act_ms"`
	HeldMS  float64      `json:"held_ms"` // how long the leases were held
	MS      float64      `json:"ms"`      // from acquiring to the last observation
}

// Resolved tells that an action in doubt, of this run or another, was taken
// over and observed; or, where By is set, what a person says became of it.
type Resolved struct {
	Values
	ActionID string  `json:"action_id"`
	Action   string  `json:"action"`
	Run      string  `json:"run"`
	Fence    int64   `json:"fence"`
	Outcome  string  `json:"outcome"`
	Seen     []Fact  `json:"seen,omitempty"`
	HeldMS   float64 `json:"held_ms"` // how long the leases of the take-over were held

	By     string `json:"by,omitempty"`     // the person; "" where it was observed
	Host   string `json:"host,omitempty"`   // where that one said so
	Reason string `json:"reason,omitempty"` // in the person's words
}
