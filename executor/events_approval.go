package executor

import "time"

// ApprovalAsked is the kind of the event that a question waits for a person's
// answer from then on. Its answer is an Approval.
const ApprovalAsked = "approval_asked"

// Asked is a question about a plan, or about one step of it where Step is not 0.
type Asked struct {
	Round    int        `json:"round"`
	Step     int        `json:"step,omitempty"`
	Action   string     `json:"action,omitempty"` // of the step
	PlanHash string     `json:"plan_hash"`
	Why      []string   `json:"why"`               // what it is asked because of
	Expires  *time.Time `json:"expires,omitempty"` // it can be answered until then; nil: for as long as the run waits
	Restore  bool       `json:"restore,omitempty"` // it is about going back, after the run stopped
}

// The answers that an Approval tells of.
const (
	AnswerYes     = "yes"
	AnswerNo      = "no"
	AnswerNone    = "none"    // nobody could be asked: the run waits
	AnswerCovered = "covered" // the approval of another plan of the run holds for this one
	AnswerVoid    = "void"    // what was approved is no longer valid from what is observed, or its round has ended: it is asked about anew
	AnswerExpired = "expired" // the question or the approval is too old
)

// Approved is a person's answer to a plan, or to a step where Step is not 0,
// or what became of it.
type Approved struct {
	Round    int        `json:"round"`
	Step     int        `json:"step,omitempty"`
	Answer   string     `json:"answer"`
	By       string     `json:"by,omitempty"`
	Host     string     `json:"host,omitempty"` // from which it was given; "" by whoever had the terminal of the run
	How      string     `json:"how,omitempty"`  // it was given, where not by a person who was asked: --approve
	At       *time.Time `json:"at,omitempty"`   // it was given then; nil in journals of older versions
	Expires  *time.Time `json:"expires,omitempty"`
	PlanHash string     `json:"plan_hash"`
	Covers   string     `json:"covers,omitempty"` // of a covered plan: the hash of the one that was approved
	Bounds   string     `json:"bounds,omitempty"` // of a covered plan: what lets it be
	Edited   bool       `json:"edited,omitempty"` // the plan is the person's own
	Reason   string     `json:"reason,omitempty"` // of a yes, in the person's words; of a void: what is wrong with the plan
	Feedback string     `json:"feedback,omitempty"`
}
