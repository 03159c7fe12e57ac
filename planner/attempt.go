package planner

import (
	"time"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

// Outcome is the verdict on an attempt.
type Outcome string

// The verdicts on attempts.
const (
	Pass        Outcome = "pass"
	Fail        Outcome = "fail"
	Error       Outcome = "error"        // the proposer could not be asked
	NeedsPerson Outcome = "needs-person" // proved that no plan can reach the goal, or none that the rules allow
)

// Next is what follows an attempt.
type Next string

// What follows an attempt.
const (
	Done     Next = "done"      // its plan, or its proof, is the round's result
	AskAgain Next = "ask_again" // the same proposer, with the critique
	AskNext  Next = "ask_next"  // the next proposer
	EndRound Next = "end_round" // nobody is left to be asked, or no attempt
)

// Kinds of failed attempts beyond the validator's.
const (
	NoPlan  validator.Kind = "no_plan" // the proposer has none, and no proof that there is none
	Repeat  validator.Kind = "repeat"  // tried before from an equal state, as often as is tolerated
	Failure validator.Kind = "error"   // the proposer could not be asked
)

// Attempt is one proposal and what came of it.
type Attempt struct {
	Number   int // within the round, from 1
	Proposer string
	Model    string // the language model that was asked; "" for none
	Steps    []model.Step
	Outcome  Outcome
	Kind     validator.Kind   // of what is wrong; "" for a plan that passed
	Critique string           // one sentence: what is wrong
	Report   validator.Report // of the plan; the zero value where there was none
	Proposal Proposal
	Cost     float64 // of the plan, where it passed
	Usage    Usage
	Took     time.Duration
	Next     Next
	Remarks  []string // critics' on a plan that passed

	key string
}

// Key tells whether two attempts failed in the same way: by kind, ground action
// and failed conjuncts. "" where the attempt did not fail.
func (a *Attempt) Key() string { return a.key }

// failed notes what is wrong with an attempt that has no report of its own.
func (a *Attempt) failed(kind validator.Kind, critique string) {
	a.Outcome, a.Kind, a.Critique = Fail, kind, critique
	a.key = string(kind) + " " + critique
}
