package validator

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/fettleops/fettle/model"
)

// Kind says what sort of violation a plan has. The words are those of the
// command line's JSON.
type Kind string

// The kinds of violations. The zero value is that of a valid plan.
const (
	Syntax         Kind = "syntax"
	UnknownAction       = Kind(model.UnknownAction)
	WrongArity          = Kind(model.WrongArity)
	UnknownObject       = Kind(model.UnknownObject)
	WrongType           = Kind(model.WrongType)
	Precondition   Kind = "precondition"
	UnknownValue   Kind = "unknown_value"
	EffectConflict      = Kind(model.EffectConflict)
	Invariant      Kind = "invariant"
	Policy         Kind = "policy"
	Goal           Kind = "goal"
)

// Report is the outcome of a validation: valid, or the first violation.
type Report struct {
	Valid    bool
	Steps    int    // of the whole plan, those after the violation included
	Step     int    // the violating step from 1; 0 for the goal and for the start
	Action   string // the violating step's ground action, as written where it cannot be looked up, at the length of [model.Clip]
	Kind     Kind
	Critique string    // one sentence
	Missing  []Missing // every failed conjunct, in the order of the model
	// Repair is the smallest change of one step that was found to make the whole
	// plan valid, "" where none was: delete, move, insert, append or replace.
	Repair string
	Cost   float64 // of the steps before the violation
	// CostUnknown is set where a step's cost is unknown or negative; Cost then
	// leaves it out.
	CostUnknown bool
	Goal        string // the goal's name, "" where only executability was checked
	// Line is where a step that means nothing in the model, or cannot be read,
	// was written; 0 where that is not known and for the other kinds.
	Line int

	// State is the final state, or the one before the violating step. It
	// belongs to the caller.
	State *model.State
	// Ground is the violating step where it could be looked up.
	Ground model.Ground
	// Err is a failure to read the plan; nothing else in the report counts then.
	Err error

	mend string // what mends the violating step, if not the plan
}

// Missing is a conjunct that does not hold.
type Missing struct {
	Condition string    `json:"condition"` // with objects in place of parameters
	Because   []Because `json:"because"`
	More      int       `json:"more,omitempty"` // facts left out of Because
	Truth     model.Tri `json:"-"`              // False or Unknown

	but string // what a comparison's sides are worth, "" where that goes without saying
}

// Because is a fact that makes a conjunct fail.
type Because struct {
	Fluent    string   `json:"fluent"`
	Value     any      `json:"value"` // bool, float64, string, or nil for unknown
	Since     *Since   `json:"since"` // nil: as at the start
	Achievers []string `json:"achievers"`

	Applicable int        `json:"-"` // so many of the achievers, the first, are applicable in that state
	Complete   bool       `json:"-"` // no achiever was left out for want of time
	Text       string     `json:"-"` // the value as the model writes it
	Why        string     `json:"-"` // why it is unknown
	Atom       model.Atom `json:"-"`

	start string // how the start is called
}

// Since names the step that last changed a fact.
type Since struct {
	Step   int    `json:"step"`
	Action string `json:"action"`
}

// Key identifies a failure whatever its place in the plan: kind, ground
// action and failed conjuncts.
func (r *Report) Key() string {
	var b strings.Builder
	b.WriteString(string(r.Kind) + " " + r.Action)
	for _, m := range r.Missing {
		b.WriteString("\n" + m.Condition)
	}
	return b.String()
}

// MarshalJSON writes the report as the command line documents it.
func (r Report) MarshalJSON() ([]byte, error) {
	doc := struct {
		Valid    bool      `json:"valid"`
		Steps    int       `json:"steps"`
		Step     *int      `json:"step"`
		Line     int       `json:"line,omitempty"`
		Action   string    `json:"action,omitempty"`
		Kind     Kind      `json:"kind,omitempty"`
		Critique string    `json:"critique,omitempty"`
		Missing  []Missing `json:"missing"`
		Repair   string    `json:"repair,omitempty"`
		Cost     *float64  `json:"cost"`
		Goal     *string   `json:"goal"`
	}{
		Valid: r.Valid, Steps: r.Steps, Line: r.Line, Action: r.Action, Kind: r.Kind,
		Critique: r.Critique, Missing: r.Missing, Repair: r.Repair,
	}
	if r.Step > 0 {
		doc.Step = &r.Step
	}
	if !r.CostUnknown {
		doc.Cost = &r.Cost
	}
	if r.Goal != "" {
		doc.Goal = &r.Goal
	}
	if doc.Missing == nil {
		doc.Missing = []Missing{}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // the caller may; conditions are full of < and &
	err := enc.Encode(doc)
	return bytes.TrimSpace(b.Bytes()), err
}
