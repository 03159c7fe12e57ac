// Package world is where fettle meets what it observes and acts on. Each kind
// of source and actuator has files of its own (http.go and http_run.go, exec.go
// and exec_run.go, those that begin with prometheus): how the kind's observe,
// run and fence bodies are checked, and how they are carried out. What all kinds
// share is around them: observer.go and list.go make readings of answers, age.go
// tells which are too old, value.go and guard.go evaluate the expressions over
// them, raise.go finds the keepers of a fence.
//
// It stands above model, whose fluents it reads and whose ground actions it
// performs, and below the executor, which decides what is observed and done.
// It refuses to guess: what could not be read is unknown and says why, and an
// action of which it cannot tell whether it took effect is of unknown outcome.
package world

import (
	"fmt"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model"
)

// Block is an undecoded `observe`, `run` or `discover` block: its kind is the
// label, its body belongs to the package that serves the kind.
type Block struct {
	Kind  string
	Body  hcl.Body
	Range hcl.Range
}

// Source names where a value came from.
type Source struct {
	Kind  string // http, prometheus, exec, …
	Query string // a URL, a query, a command line
	// Server is the address that was asked, without credentials, where Query
	// does not tell it.
	Server string
}

// with returns the source with each text changed.
func (s Source) with(change func(string) string) Source {
	s.Query, s.Server = change(s.Query), change(s.Server)
	return s
}

// Reading is one observed value.
type Reading struct {
	Atom    model.Atom
	Value   model.Value // unknown where it could not be read
	Sampled time.Time   // when the source sampled it; zero where it cannot tell
	Source  Source
	TooOld  bool   // it is unknown for its age alone: a later look may find a newer sample
	Err     string // why the value is unknown, one line
	Note    string // what the answer said, short: leak = true
	// Matched tells how the answer was shared out among the objects; nil where
	// there is none, or it is about one object.
	Matched *Matched

	untimed string // why Sampled is zero, where the reason is a special one
}

// Fence is a token to be raised at the actuators of these resources.
type Fence struct {
	Token     int64
	Resources []string // all that is read or written, as texts of [model.Ref]
	Writes    []string // those of them that may be written
	Run       string
	ActionID  string
}

// HigherFenceError tells that an actuator has already seen a higher token: the
// caller's right to act is stale.
type HigherFenceError struct {
	Actuator      string
	Token, Higher int64 // Higher is 0 where the actuator did not say
}

// Error says who refused.
func (e *HigherFenceError) Error() string {
	if e.Higher == 0 {
		return fmt.Sprintf("%s refuses fence %d: it has seen a higher one", e.Actuator, e.Token)
	}
	return fmt.Sprintf("%s refuses fence %d: it has seen %d", e.Actuator, e.Token, e.Higher)
}

// Call is one guarded action to be carried out.
type Call struct {
	Ground   model.Ground
	Run      string
	Step     int
	ActionID string // also the idempotency key
	Fence    int64
	Armed    int64    // the store's revision at which the action was written down
	Writes   []string // texts of the references it may write

	text string // the action, for a person; Act fills it in
}

// Status says what is known of an action once its actuator returned.
type Status string

// The statuses of an action. Whether its effects can be seen is another
// question, which observation answers.
const (
	Done     Status = "done"     // the actuator said so
	Failed   Status = "failed"   // the actuator said it failed
	Rejected Status = "rejected" // the actuator refused the fence; nothing was done
	InDoubt  Status = "unknown"  // timed out or cut off: it may have taken effect
)

// Outcome is what came of a call.
type Outcome struct {
	Status  Status
	Message string // one line for a person, without the output: exit status 3, HTTP 500 Internal Server Error
	Output  []byte // at most 64 KiB
	Cut     bool   // Output is not all there was
	Started time.Time
	Ended   time.Time
}
