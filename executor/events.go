package executor

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/policy"
)

// The kinds of a run's events, in about the order in which a run writes them.
// Whatever shows a run (text, JSON, the page, metrics) reads these, and nothing
// else, so that no two of them can disagree.
const (
	RunStarted    = "run_started"
	RunResumed    = "run_resumed"
	Observed      = "observed"
	RoundStarted  = "round_started"
	AttemptMade   = "attempt"
	PlanAccepted  = "plan"
	Decided       = "decision"
	Approval      = "approval"
	StepSkipped   = "step_skipped"
	StepWaiting   = "step_waiting"
	StepAcquired  = "step_acquired"
	StepRefused   = "step_refused"
	StepArmed     = "step_armed"
	StepFinished  = "step_finished"
	RoundEnded    = "round_ended"
	DoubtResolved = "doubt_resolved"
	RunEnded      = "run_ended"
)

// Started opens a run.
type Started struct {
	Goal      string   `json:"goal"`
	Doc       string   `json:"doc,omitempty"`
	Scope     string   `json:"scope"`
	Mode      string   `json:"mode"`
	MaxRounds int      `json:"max_rounds"`
	MaxCalls  *int     `json:"max_calls,omitempty"` // of language models; nil: no limit
	MaxCost   *float64 `json:"max_cost,omitempty"`  // of those, in USD
	ModelHash string   `json:"model_hash"`
	Host      string   `json:"host"`
	PID       int      `json:"pid"`
	Version   string   `json:"version"`

	Plan *GivenPlan `json:"plan,omitempty"` // that it is to carry out in place of planning

	Model *RecordedModel `json:"model,omitempty"` // nil: an older version did not record it
}

// limitOf returns what a limit allows, nil where there is none.
func limitOf[T cmp.Ordered](l policy.Limit[T]) *T {
	if !l.Set {
		return nil
	}
	return &l.Value
}

// Resumed tells that another process, or the same person later, goes on with
// the run. Changed says that its model or variables are others than before, so
// that no approval stands.
type Resumed struct {
	By        string   `json:"by,omitempty"`
	Host      string   `json:"host"`
	PID       int      `json:"pid"`
	ModelHash string   `json:"model_hash"`
	Version   string   `json:"version"`
	Was       string   `json:"was"` // running: its process ended without a word; or waiting
	Changed   bool     `json:"changed,omitempty"`
	UsedS     float64  `json:"used_s"`             // how long the run was driven before, in seconds
	InDoubt   []string `json:"in_doubt,omitempty"` // ids of its actions that are taken over first
	Adopted   []string `json:"adopted,omitempty"`  // named leases that it takes back

	Plan *GivenPlan `json:"plan,omitempty"` // that it is to carry out from now on; else as before

	Model *RecordedModel `json:"model,omitempty"` // that it is driven with from now on; nil: as before
}

// Fact is one observed value and where it came from.
type Fact struct {
	Fluent  string     `json:"fluent"`
	Value   any        `json:"value"` // nil: unknown
	Source  string     `json:"source,omitempty"`
	Note    string     `json:"note,omitempty"`
	Error   string     `json:"error,omitempty"`
	Sampled *time.Time `json:"sampled,omitempty"`
	AgeS    float64    `json:"age_s,omitempty"` // seconds between sample and event
}

// Missing is a conjunct that does not hold, with what keeps it from holding.
type Missing struct {
	Condition string `json:"condition"`
	Unknown   bool   `json:"unknown,omitempty"`
	Because   []Fact `json:"because,omitempty"`
	Note      string `json:"note,omitempty"` // why no fact tells: nothing was found of a type
}

// Values are observed values that differ from the run's previous observation;
// nil is unknown. Where there are too many for an event they are a body of
// their own, compressed where it would be too large, and cut where it still is.
type Values struct {
	Changed map[string]any `json:"changed,omitempty"`
	Body    *journal.Ref   `json:"changed_body,omitempty"`
}

// maxInline is the number of values above which they become a body.
const maxInline = 500

func values(changed map[string]any) (Values, []journal.Blob) {
	raw, err := json.Marshal(changed) // Bools, numbers and strings: cannot fail.
	if err != nil {
		return Values{}, nil
	}
	if len(changed) <= maxInline && len(raw) <= journal.MaxBlob {
		return Values{Changed: changed}, nil
	}
	if packed := pack(raw); len(raw) > journal.MaxBlob && len(packed) <= journal.MaxBlob {
		raw = packed
	}
	b := journal.NewBlob(raw)
	return Values{Body: &b.Ref}, []journal.Blob{b}
}

// Read returns the values, given the bodies of the run by their digests. False
// means that the body was cut and cannot be read.
func (v Values) Read(body func(sum string) ([]byte, error)) (changed map[string]any, whole bool, err error) {
	if v.Body == nil {
		return v.Changed, true, nil
	}
	raw, err := body(v.Body.SHA256)
	if err != nil {
		return nil, false, err
	}
	if isPacked(raw) {
		if raw, err = unpack(raw); err != nil {
			return nil, false, err
		}
	}
	if json.Unmarshal(raw, &changed) != nil {
		return nil, false, nil
	}
	return changed, true, nil
}

// Observation is the state at the start of a round. Missing and Errors are
// bounded; More says how many were left out.
type Observation struct {
	Values
	Round   int            `json:"round"` // rounds begun before it
	Facts   int            `json:"facts"`
	Unknown int            `json:"unknown"`
	Objects map[string]int `json:"objects"`        // by type
	Open    []string       `json:"open,omitempty"` // types of which there may be more objects
	MS      float64        `json:"ms"`
	Missing []Missing      `json:"missing,omitempty"`
	Errors  []Fact         `json:"errors,omitempty"`
	More    int            `json:"more,omitempty"`
	InDoubt []string       `json:"in_doubt,omitempty"` // ids of actions whose outcome the run does not know
}

// Round opens a round.
type Round struct {
	Round int `json:"round"`
	Of    int `json:"of"`

	Again bool `json:"again,omitempty"` // it had begun before the run was gone on with
}

// Attempt is one proposal and what the validator said.
type Attempt struct {
	Round    int      `json:"round"`
	Attempt  int      `json:"attempt"`
	Planner  string   `json:"planner"`
	Model    string   `json:"model,omitempty"` // of language, that was asked
	Verdict  string   `json:"verdict"`         // pass, fail, error, needs-person
	Next     string   `json:"next"`            // done, ask_again, ask_next, end_round
	Steps    []string `json:"steps"`
	Kind     string   `json:"kind,omitempty"`
	Critique string   `json:"critique,omitempty"`
	Cost     float64  `json:"cost"`
	Optimal  bool     `json:"optimal,omitempty"`
	MS       float64  `json:"ms"`

	Calls   int     `json:"calls,omitempty"` // of language models
	Tokens  int     `json:"tokens,omitempty"`
	CostUSD float64 `json:"cost_usd,omitempty"`

	Notes []string `json:"notes,omitempty"` // how it came about: what was left out of the question, put up with in the reply

	Violation *Violation `json:"violation,omitempty"` // that a lesson may be drawn from
}

// Change is one fluent and what it becomes.
type Change struct {
	Fluent string `json:"fluent"`
	To     any    `json:"to"`
}

// PlannedStep is a step with what the model says of it.
type PlannedStep struct {
	Step        int      `json:"step"`
	Action      string   `json:"action"`
	Effects     []Change `json:"effects"`
	Risk        string   `json:"risk,omitempty"`
	Unfenced    bool     `json:"unfenced,omitempty"`
	Unprotected bool     `json:"unprotected,omitempty"`
	Undo        bool     `json:"undo,omitempty"`
	Way         *WayBack `json:"way_back,omitempty"` // where the goal gives a severity
}

// Plan is an accepted plan.
type Plan struct {
	Round      int           `json:"round"`
	Planner    string        `json:"planner"`
	Optimal    bool          `json:"optimal,omitempty"`
	Cost       float64       `json:"cost"`
	Steps      []PlannedStep `json:"steps"`
	Invariants []string      `json:"invariants,omitempty"`
	PlanHash   string        `json:"plan_hash"`
	Tried      string        `json:"tried_key"`         // of the plan and what bears on it: the same again is a repeat
	Remarks    []string      `json:"remarks,omitempty"` // what critics say of it, for whoever approves
}

// Decision is an answer of the policy, and all that it depended on.
type Decision struct {
	policy.Decision
	Round    int             `json:"round"`
	Progress policy.Progress `json:"progress"`
}

// RoundEnd tells why a round ended without the goal.
type RoundEnd struct {
	Round   int               `json:"round"`
	Kind    string            `json:"kind,omitempty"`   // of the failure, the first word of its key
	Action  string            `json:"action,omitempty"` // that failed
	Infra   bool              `json:"infra,omitempty"`  // an infrastructure error, not a verdict on the plan
	Key     policy.FailureKey `json:"failure_key,omitempty"`
	Steps   int               `json:"steps"` // actions carried out in it
	Reason  string            `json:"reason"`
	InDoubt []string          `json:"in_doubt,omitempty"` // ids of actions whose outcome the run does not know
}

// Evidence is a conjunct of the goal and what shows that it holds.
type Evidence struct {
	Condition string `json:"condition"`
	Verified  string `json:"verified"` // observed, derived, assumed
	Facts     []Fact `json:"facts"`
}

// Ended closes a run.
type Ended struct {
	Status   string     `json:"status"`
	Reason   string     `json:"reason,omitempty"`
	Message  string     `json:"message,omitempty"`
	Rounds   int        `json:"rounds"`
	Actions  int        `json:"actions"`
	Seconds  float64    `json:"seconds"`
	Cost     float64    `json:"cost_usd"`
	Evidence []Evidence `json:"evidence,omitempty"`
	Undone   []Missing  `json:"undone,omitempty"`
	Owed     []string   `json:"owed,omitempty"` // decisions that a person owes
	InDoubt  []string   `json:"in_doubt,omitempty"`

	EvidenceMore map[string]int `json:"evidence_more,omitempty"` // conditions that Evidence has no room for, by how they were verified
	UndoneMore   int            `json:"undone_more,omitempty"`   // conditions that Undone has no room for

	LastSeen *time.Time `json:"last_seen,omitempty"` // Undone is as known then: the process had ended without a word
	Unseen   string     `json:"unseen,omitempty"`    // why it is not known how such a run left the world

	Severity    *SeveritySpan `json:"severity,omitempty"`     // where the goal gives one
	Restored    []string      `json:"restored,omitempty"`     // actions that took back what the run did
	NotRestored []NotRestored `json:"not_restored,omitempty"` // what keeps the severity above that of the start
	WayBack     []string      `json:"way_back,omitempty"`     // that is known from here, and was not gone

	Released []string   `json:"released,omitempty"` // named leases that ended with the run
	Opens    *time.Time `json:"opens,omitempty"`    // when what the run waits for goes by itself: a closed window, a shared limit

	Kept      []string   `json:"kept,omitempty"` // named leases that wait with it
	KeptUntil *time.Time `json:"kept_until,omitempty"`
}
