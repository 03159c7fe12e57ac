package planner

import (
	"context"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

// Proposer is a source of plans. An error means that it could not be asked, so
// that the next one is; a [FatalError] that nobody may be asked in its place. A
// bad plan is no error.
type Proposer interface {
	Name() string
	Propose(context.Context, Request) (Proposal, error)
}

// Request is what a proposer is asked. It must not change what it is given.
type Request struct {
	Problem validator.Problem
	Goal    string // the objective in one sentence, "" where the model has none
	// Attempts are those of this round so far, with their critiques, other
	// proposers' included.
	Attempts []Attempt
	// Rejected are plans of this run that people turned down, with what they want.
	Rejected []Rejection
	// MaxPlanSteps is the longest plan that is accepted; 0: any.
	MaxPlanSteps int
	// Budget is to be asked before every call of a model.
	Budget Budget
}

// Rejection is a plan that a person turned down. The feedback is that person's
// word on what to do otherwise, as critiques are the validator's.
type Rejection struct {
	Steps    []model.Step
	By       string
	Feedback string
	Step     int // that it is about, from 1; 0: the plan
}

// Verdict says what a proposer answers.
type Verdict string

// The verdicts of proposers. A proposal with a plan has the zero value.
const (
	HasPlan          Verdict = ""
	SaysUnsolvable   Verdict = "unsolvable"   // the goal cannot be reached
	SaysUnobservable Verdict = "unobservable" // not with what is known
	SaysDenied       Verdict = "denied"       // not by what the problem's rules allow
	GaveUp           Verdict = "exhausted"    // nothing found within its limits
	Rejected         Verdict = "rejected"     // its plan is one that a person rejected

	// What a language model answers in place of a plan, with the reason.
	Refused     Verdict = "refusal"
	Filtered    Verdict = "content_filter" // its provider withheld the answer
	Overlong    Verdict = "length"         // it was cut at the most tokens an answer may have
	CutShort    Verdict = "cut"            // it ended in its midst, and nobody says why
	Empty       Verdict = "empty"
	NotAnAnswer Verdict = "not_an_answer" // an error page in place of an answer
)

// FatalError says that a proposer cannot be asked, and that this is not to be
// passed over by asking the next.
type FatalError struct{ Err error }

// Error returns what is wrong.
func (e *FatalError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *FatalError) Unwrap() error { return e.Err }

// Proposal is a proposer's answer: a plan, or why there is none.
type Proposal struct {
	Steps   []model.Step
	Verdict Verdict
	Reason  string   // for a verdict other than HasPlan, a sentence for a person
	Unknown []string // the unknown facts that SaysUnobservable is about
	// Denials are what SaysDenied is about: the steps of Without that rules deny,
	// or some others where Without, the plan that there would be without the
	// rules, is not known.
	Denials []Denial
	Without []model.Step
	// Proof is set by a complete search alone. Without it "unsolvable",
	// "unobservable" and "denied" are opinions, which count as a failed attempt.
	Proof bool
	// Unreadable is what follows the steps and cannot be read, such as prose
	// where a step was expected: a violation of its own.
	Unreadable *validator.SyntaxError
	Optimal    bool // no plan is cheaper
	// Final says that the same question will get the same answer.
	Final bool
	Usage Usage
	// Notes say how the proposal came about, for a person: what was left out of
	// the question, what was put up with in the reply.
	Notes []string
}

// Denial is a step that the problem's rules deny.
type Denial struct {
	Step   int    `json:"step,omitempty"` // in the plan, from 1; 0 where it is in none
	Action string `json:"action"`         // ground
	Reason string `json:"reason"`         // completes "denied by …"
}

// Usage is what calls of a model used, or may use at most.
type Usage struct {
	Calls     int     `json:"calls"`
	TokensIn  int     `json:"tokens_in"`
	TokensOut int     `json:"tokens_out"`
	Cost      float64 `json:"cost"` // USD
}

// Add returns the sum.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Calls + v.Calls, u.TokensIn + v.TokensIn, u.TokensOut + v.TokensOut, u.Cost + v.Cost}
}

// Budget answers whether something may be used before it is. Reserve is asked
// with zero usage before every attempt, and with the most that a call may use
// before every call of a model; settle then takes what it did use. An error
// ends the round: its text says which limit was reached. It is safe for
// concurrent use.
type Budget interface {
	Reserve(Usage) (settle func(Usage), err error)
}

// Unlimited is the budget of a round in which nothing is called that costs.
type Unlimited struct{}

// Reserve always agrees.
func (Unlimited) Reserve(Usage) (func(Usage), error) { return func(Usage) {}, nil }

// StopError says that the budget ended the round.
type StopError struct{ Err error }

// Error returns the budget's own words.
func (e *StopError) Error() string { return e.Err.Error() }

// Unwrap returns what the budget answered.
func (e *StopError) Unwrap() error { return e.Err }

// marked makes the budget's refusals known for what they are, however deep in a
// proposer's error they come back.
type marked struct{ Budget }

func (b marked) Reserve(u Usage) (func(Usage), error) {
	settle, err := b.Budget.Reserve(u)
	if err != nil {
		return nil, &StopError{err}
	}
	return settle, nil
}
