// Package lease gives exclusive and shared, fenced rights to act on resources,
// the ground atoms of a model, kept in etcd. The executor acquires the footprint
// of one action, observes under it, arms (from then on a durable record says that
// the action may have happened), acts, and finishes; each of the three steps is
// one transaction. See docs on the lease protocol for why the ready-made mutex of
// etcd is not enough.
//
// A lease expires, the record of an action in flight does not: what an action
// may have written stays marked as in doubt until somebody has taken it over,
// observed, and resolved it. Nothing is ever deleted by name alone.
//
// What the package refuses: to act on time it is not sure of (its own deadline
// ends before the keys can expire, and is final), to guess the outcome of a lost
// answer, and to wait on an unreachable etcd without end.
package lease

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// Resource is what a lease is taken on.
type Resource struct {
	Fluent    string `json:"fluent"`
	Instance  string `json:"instance,omitempty"` // The ground atom's arguments as text; empty: the whole fluent.
	Exclusive bool   `json:"exclusive,omitempty"`
}

// String returns the resource as a ground atom, "in_lb(api)", or the fluent's name alone.
func (r Resource) String() string {
	if r.Instance == "" {
		return r.Fluent
	}
	return r.Fluent + "(" + r.Instance + ")"
}

// ParseResource reads what String wrote, as an exclusive resource: the name of a
// lease, "deploy" or "rack(1)", and the KEY of fettle lease.
func ParseResource(text string) Resource {
	fluent, args, ok := strings.Cut(text, "(")
	instance, closed := strings.CutSuffix(args, ")")
	if !ok || !closed || fluent == "" || instance == "" {
		return Resource{Fluent: text, Exclusive: true}
	}
	return Resource{Fluent: fluent, Instance: instance, Exclusive: true}
}

// Owner says to people and other controllers who holds a lease.
type Owner struct {
	Run    string `json:"run,omitempty"`
	Step   int    `json:"step,omitempty"` // From 1; zero: none.
	Action string `json:"action,omitempty"`
	Host   string `json:"host,omitempty"` // Empty: filled in.
	PID    int    `json:"pid,omitempty"`  // Zero: filled in.
	Reason string `json:"reason,omitempty"`
}

// String says who it is: "run 01J…, drain(api), pid 42 on ops1".
func (o Owner) String() string {
	who := fmt.Sprintf("pid %d on %s", o.PID, o.Host)
	if o.Action != "" {
		who = o.Action + ", " + who
	}
	if o.Run != "" {
		who = "run " + o.Run + ", " + who
	}
	return who
}

func (o Owner) filled() Owner {
	if o.Host == "" {
		o.Host, _ = os.Hostname() // A name for people; none is no reason to fail.
	}
	if o.PID == 0 {
		o.PID = os.Getpid()
	}
	return o
}

// Options are the times of a Locker.
type Options struct {
	// TTL is how long etcd keeps the locks of a holder that is no longer heard
	// of, in whole seconds. It should be at least three times etcd's election
	// and request time-outs together. Zero: 15 s.
	TTL time.Duration
	// Margin is by how much a holder stops before the TTL. Zero: a tenth of the
	// TTL and at least 1 s; never more than half of the TTL.
	Margin time.Duration
	// RequestTimeout bounds each request to etcd, within the caller's context. Zero: 5 s.
	RequestTimeout time.Duration
	// Clock reads a clock that never goes back and counts the time a machine is
	// suspended. Nil: the machine's.
	Clock func() time.Duration
	// Now reads the wall clock, for people only. Nil: time.Now.
	Now func() time.Time
}

func (o Options) filled() Options {
	if o.TTL <= 0 {
		o.TTL = 15 * time.Second
	}
	o.TTL = (o.TTL + time.Second - 1).Truncate(time.Second)
	if o.Margin <= 0 {
		o.Margin = max(time.Second, o.TTL/10)
	}
	o.Margin = min(o.Margin, o.TTL/2)
	if o.RequestTimeout <= 0 {
		o.RequestTimeout = 5 * time.Second
	}
	if o.Clock == nil {
		o.Clock = boottime
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

var errClosed = errors.New("lease: the locker is closed")
