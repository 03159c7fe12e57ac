package executor

import "github.com/fettleops/fettle/policy"

// The kinds of the events of a run whose goal says how bad a state is. The steps
// by which it goes back are those of any plan, with Restore set in their StepRef.
const (
	SeverityTaken  = "severity"         // once, after the run's first observation
	RestorePlanned = "restore_plan"     // a way back that is gone
	RestoreDecided = "restore_decision" // the policy's answer before each of its actions
)

// Severity is how bad a state is: the bounds between which it is known to lie,
// which are equal where it is known. Nil: no bound is known.
type Severity struct {
	Least *float64 `json:"least"`
	Most  *float64 `json:"most"`
}

// Baseline is the severity at the run's start, which it leaves behind no higher,
// and the facts on which that rests. Where there are more than an event takes,
// those that are left out are counted.
type Baseline struct {
	Severity
	Facts map[string]any `json:"facts"` // nil: unknown
	More  int            `json:"more,omitempty"`
}

// WayBack tells how the severity gets back to that of the start from the state
// after a step.
type WayBack struct {
	How    string   `json:"how"`             // none_needed, undo, search, approved, none
	Steps  []string `json:"steps,omitempty"` // of a way, the first of them
	More   int      `json:"more,omitempty"`  // steps that are left out
	Before *float64 `json:"severity_before"` // nil: not known
	After  *float64 `json:"severity_after"`  // what the step is expected to leave
	Why    string   `json:"why,omitempty"`   // no way is known
	Asks   []string `json:"asks,omitempty"`  // because of what a person is asked before it is gone
}

// How a way back is known.
const (
	NoneNeeded = "none_needed" // the severity is no higher than at the start, or the run changed nothing that it rests on
	ByUndo     = "undo"        // by the undo of what the run did, the newest first
	BySearch   = "search"      // by a plan of the search
	ByPart     = "part"        // of a way that is gone: the undo of what the run did, though the severity stays above that of the start
	ByApproval = "approved"    // none is known, and a person approved the step
	NoneAtAll  = "none"
	NoWayBack  = "no_way_back" // the kind of the failure of a step that is refused for it
	restorer   = "restore"     // stands for the planner of a way back
)

// Known tells whether the severity can get back.
func (w *WayBack) Known() bool {
	return w != nil && (w.How == NoneNeeded || w.How == ByUndo || w.How == BySearch)
}

// RestorePlan is a way back that a run which stopped short is about to go.
type RestorePlan struct {
	Way      int           `json:"way"` // from 1
	How      string        `json:"how"` // undo, search, part
	Start    *float64      `json:"severity_start"`
	Now      *float64      `json:"severity_now"`
	Steps    []PlannedStep `json:"steps"`
	Actions  int           `json:"max_actions"` // that may be executed in going back, in all
	WithinS  float64       `json:"deadline_s"`
	Stopped  string        `json:"stopped"` // why the run stopped
	PlanHash string        `json:"plan_hash"`
}

// RestoreDecision is an answer of the policy, and all that it depended on.
type RestoreDecision struct {
	policy.Decision
	Progress policy.RestoreProgress `json:"progress"`
}

// SeveritySpan is the severity at the run's start and at its end; nil: not known.
type SeveritySpan struct {
	Start *float64 `json:"start"`
	Now   *float64 `json:"now"`
}

// NotRestored is a fact on which the severity rests, and which is not what it
// was at the start, where the severity is not known to be as low as then. The
// fluent is "" where no fact tells more than the reason does.
type NotRestored struct {
	Fluent string `json:"fluent,omitempty"`
	Was    any    `json:"was"` // nil: unknown
	Now    any    `json:"now"`
	Others bool   `json:"others,omitempty"` // nothing that the run did, and has not taken back, changed it
	Reason string `json:"reason"`
}
