package policy

import "time"

// Facts are all that rules look at. They fit the journal, so that a replay can
// rule again. Nothing in them is a text that is interpreted.
type Facts struct {
	Now     time.Time  `json:"now"`
	Goal    string     `json:"goal"` // as a ground atom
	Trigger Trigger    `json:"trigger,omitzero"`
	Plan    PlanFacts  `json:"plan"`
	Step    *StepFacts `json:"step,omitempty"`    // nil: the plan as a whole is ruled on
	History []Deed     `json:"history,omitempty"` // of all controllers, oldest first

	noted []bool // of the history, which a condition counted; nil: nobody asks
}

// Trigger is what started the run; the zero value: a person.
type Trigger struct {
	Kind   string            `json:"kind,omitempty"` // alertmanager, schedule
	Name   string            `json:"name,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
}

// PlanFacts are those of a plan as a whole.
type PlanFacts struct {
	Length       int      `json:"length"` // steps
	Cost         float64  `json:"cost"`
	Objects      []string `json:"objects,omitempty"`      // that its steps name, once each
	Actions      []string `json:"actions,omitempty"`      // names, once each
	Unprotected  []string `json:"unprotected,omitempty"`  // ground actions
	Irreversible []string `json:"irreversible,omitempty"` // ground actions
}

// StepFacts are those of one step, given the state before it.
type StepFacts struct {
	Step         int               `json:"step"` // from 1
	Action       string            `json:"action"`
	Ground       string            `json:"ground,omitempty"` // the ground action
	Args         map[string]string `json:"args,omitempty"`   // objects by parameter
	Labels       map[string]string `json:"labels,omitempty"`
	Risk         string            `json:"risk,omitempty"`
	Cost         float64           `json:"cost"`              // math.MaxFloat64 where it is not known
	Adds         []string          `json:"adds,omitempty"`    // ground atoms that become true
	Deletes      []string          `json:"deletes,omitempty"` // ground atoms that become false
	Sets         map[string]any    `json:"sets,omitempty"`    // other ground atoms and their new values; nil: unknown
	Unsure       []string          `json:"unsure,omitempty"`  // those of Adds and Deletes that perhaps do not change
	Unfenced     bool              `json:"unfenced,omitempty"`
	Unprotected  bool              `json:"unprotected,omitempty"`
	Irreversible bool              `json:"irreversible,omitempty"` // the model names no way back
}

// Deed is an action that some controller began.
type Deed struct {
	ID      string    `json:"id"`   // of the action
	Run     string    `json:"run"`  // that did it
	Goal    string    `json:"goal"` // of that run
	Action  string    `json:"action"`
	Objects []string  `json:"objects,omitempty"`
	Ground  string    `json:"ground"` // the ground action
	At      time.Time `json:"at"`
}

// Ruling is what the rules say of a plan or of a step.
type Ruling struct {
	Effect RuleEffect `json:"effect,omitempty"` // of the strictest rule that applies; "": none does
	Rule   string     `json:"rule,omitempty"`   // the first rule of that effect
	Reason string     `json:"reason,omitempty"` // its reason, or why it counts as applying
	// Applied are all the rules that apply, in the order of the policy.
	Applied []AppliedRule `json:"applied,omitempty"`
	// Opens is when the denial would no longer be given, where only time stands
	// in the way: the end of a window. Zero where that is not known.
	Opens time.Time `json:"opens,omitzero"`
	// Irreversible tells that a rule which asks for approval looks at whether the
	// step can be undone: a person may then approve what has no way back.
	Irreversible bool `json:"irreversible,omitempty"`
}

// AppliedRule is a rule that applies.
type AppliedRule struct {
	Rule   string     `json:"rule"`
	Effect RuleEffect `json:"effect"`
	Reason string     `json:"reason,omitempty"`
}
