package policy

import (
	"cmp"
	"time"

	"github.com/hashicorp/hcl/v2"
)

// Limit is an upper bound that may be absent. The zero value is no limit,
// which differs from a limit of zero.
type Limit[T cmp.Ordered] struct {
	Value T
	Set   bool
}

// AtMost returns a limit.
func AtMost[T cmp.Ordered](v T) Limit[T] { return Limit[T]{v, true} }

// Allows tells whether the amount is within the limit.
func (l Limit[T]) Allows(amount T) bool { return !l.Set || amount <= l.Value }

// Reached tells whether the amount uses the limit up.
func (l Limit[T]) Reached(amount T) bool { return l.Set && amount >= l.Value }

// Or returns the limit's value, or the given one where there is no limit.
func (l Limit[T]) Or(none T) T {
	if l.Set {
		return l.Value
	}
	return none
}

// Mode says how much a run may do without a person.
type Mode string

// The modes. A policy that gives none is in approve.
const (
	Suggest Mode = "suggest" // observe and propose, never act
	Approve Mode = "approve" // ask before a plan is carried out
	Auto    Mode = "auto"    // ask only where a rule says so
)

// OnStop says what a run that stops short does with what it did.
type OnStop string

// What a stopped run does. A policy that says nothing reports.
const (
	Report  OnStop = "report"
	Restore OnStop = "restore"
)

// Policy is a decoded policy block.
type Policy struct {
	Mode Mode

	// Required limits; a zero one is the strictest there is, not its absence.
	MaxRounds          int // plannings and their executions, the first one and those skipped as repeats included
	MaxAttempts        int // proposals within a round
	MaxActions         int // executions, retries included
	Deadline           time.Duration
	MaxRepeats         int // how often one plan may be tried from one state
	SameFailureRetries int // failures with one key in a row
	NoEvidenceRounds   int
	MaxErrors          int // infrastructure errors that a run survives

	MaxPlanSteps    Limit[int]
	MaxCalls        Limit[int]           // of language models, over the run
	MaxCost         Limit[float64]       // of language models, over the run, in USD
	MaxTokens       Limit[int]           // of one reply
	ContextTokens   Limit[int]           // of one request
	MaxWait         Limit[time.Duration] // for somebody else's lease
	CriticRounds    Limit[int]
	ApprovalExpires Limit[time.Duration]
	Retention       Limit[time.Duration]

	PauseBefore   []string // plan, act, or names of actions
	OnStop        OnStop
	Search        Search
	Shared        Shared
	RestoreLimits RestoreLimits // of going back, where OnStop is Restore
	Rules         []Rule

	ApprovalCovers *Covers // bounds within which an approval holds for later plans of its run; nil: it holds for its plan alone

	Range  hcl.Range
	ranges map[string]hcl.Range // of the attributes and blocks that were written
}

// Search limits the built-in search.
type Search struct {
	MaxNodes  Limit[int]
	MaxMemory Limit[int64] // bytes
	Timeout   Limit[time.Duration]
}

// RuleEffect is what a rule answers where its condition holds.
type RuleEffect string

// The effects of rules.
const (
	EffectAllow RuleEffect = "allow"
	EffectDeny  RuleEffect = "deny"
	EffectAsk   RuleEffect = "approve" // a person is asked
)

// Rule is a rule block.
type Rule struct {
	Name   string
	Effect RuleEffect
	When   string // the condition as written; empty where the rule always applies
	Reason string // told with a denial and with a question
	Body   hcl.Body
	Range  hcl.Range

	cond *condition // nil where When is empty, or was not read: then it cannot be evaluated
}

// Wait returns how long a run waits for somebody else's lease, and false where
// only its deadline bounds that.
func (p *Policy) Wait() (time.Duration, bool) { return p.MaxWait.Value, p.MaxWait.Set }

// where returns the place of an attribute, or of the whole block where the
// attribute was not written.
func (p *Policy) where(name string) *hcl.Range {
	r, ok := p.ranges[name]
	if !ok {
		r = p.Range
	}
	return &r
}
