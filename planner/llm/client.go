package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Client makes one call of a language model: one request, never a second. A
// failure is a [CallError]. It is safe for concurrent use.
type Client interface {
	Complete(context.Context, Call) (Answer, error)
}

// Call is what a model is asked.
type Call struct {
	System string `json:"system"`
	Prompt string `json:"prompt"`
	// Schema is the JSON Schema of the answer; nil where the prompt alone says
	// what the answer is to look like.
	Schema    json.RawMessage `json:"schema,omitempty"`
	MaxTokens int             `json:"max_tokens"` // of the answer
}

// Answer is what a model said.
type Answer struct {
	Text      string `json:"text"`
	Finish    Finish `json:"finish"`
	Refusal   string `json:"refusal,omitempty"` // in the model's words
	TokensIn  int    `json:"tokens_in"`         // of the question, cached ones included
	Cached    int    `json:"cached,omitempty"`  // of TokensIn
	TokensOut int    `json:"tokens_out"`
}

// Finish says why a model stopped writing.
type Finish string

// Why a model stopped.
const (
	Stopped  Finish = "stop"           // it was done
	Length   Finish = "length"         // it reached the most tokens it may write
	Refused  Finish = "refusal"        // it will not answer
	Filtered Finish = "content_filter" // its provider withheld the answer
	Cut      Finish = ""               // nobody says: the stream ended in its midst
)

// Class sorts failures by what may be done about them.
type Class string

// The classes of failed calls.
const (
	RateLimited Class = "rate_limited" // too many requests
	Unavailable Class = "unavailable"  // the server failed, or is overloaded
	TimedOut    Class = "timeout"
	Unreachable Class = "unreachable"   // refused, reset, no such host
	Skipped     Class = "skipped"       // it failed again and again just before, and was not called
	NotAnAnswer Class = "not_an_answer" // an error page, or JSON of another sort
	BadRequest  Class = "bad_request"   // and every other answer that a second request would get too
	NoKey       Class = "no_key"        // nothing to authorise with, and was not called
	Ended       Class = "ended"         // nothing more was recorded
	Cancelled   Class = "cancelled"
)

// CallError is a failed call.
type CallError struct {
	Class  Class
	Status int           // of the HTTP answer; 0 where there was none
	After  time.Duration // how long the server asks to wait; 0 where it does not say
	Detail string        // for a person, one line
	Err    error         // may be nil
}

// Error returns the class and what is known of the failure.
func (e *CallError) Error() string {
	if e.Status > 0 {
		return fmt.Sprintf("%s (HTTP %d): %s", e.words(), e.Status, e.Detail)
	}
	return fmt.Sprintf("%s: %s", e.words(), e.Detail)
}

// Unwrap returns the cause.
func (e *CallError) Unwrap() error { return e.Err }

func (e *CallError) words() string {
	switch e.Class {
	case RateLimited:
		return "too many requests"
	case Unavailable:
		return "the server failed"
	case TimedOut:
		return "no answer in time"
	case Unreachable:
		return "the server cannot be reached"
	case Skipped:
		return "left alone"
	case NotAnAnswer:
		return "what came is no answer of a model"
	case NoKey:
		return "not called"
	case Ended:
		return "the recording ended"
	case Cancelled:
		return "cancelled"
	}
	return "the server refused the request"
}

// passes tells whether the same call may succeed a little later.
func (e *CallError) passes() bool {
	switch e.Class {
	case RateLimited, Unavailable, TimedOut, Unreachable:
		return true
	}
	return false
}

// FailsOver tells whether the next planner may be asked in this one's place.
// That is so for what is wrong with the way to the server, never for what is
// wrong with the request, nor for a refusal.
func (e *CallError) FailsOver() bool {
	return e.passes() || e.Class == Skipped || e.Class == NoKey || e.Class == Ended
}
