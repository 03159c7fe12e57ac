package world

import (
	"context"
	"errors"
	"time"
)

// Leases are the named leases of a store as one run sees them. A named lease
// lives across steps, is bound to the run and ends with it; nobody waits for one
// while holding another.
type Leases interface {
	// State tells who holds the lease now, as of after the call began.
	State(ctx context.Context, name string) (LeaseState, error)
	// Acquire takes the lease for the run of the call, at once or not at all. To
	// acquire what the run holds for the same purpose changes nothing.
	//
	// A *LeaseError says that nothing was done. After any other error it is not
	// known whether the lease was taken.
	Acquire(ctx context.Context, name, purpose string, c Call) error
	// Release gives back what the run holds, with errors like those of Acquire.
	Release(ctx context.Context, name string, c Call) error
}

// LeaseState is what is known of a named lease. The zero value is free.
type LeaseState struct {
	Held   bool
	Mine   bool   // held by this run
	For    string // what the holder took it for; it need not have said
	Holder string // for a person: run 01J…, pid 7 on host
	Since  time.Time
}

// String says who holds the lease.
func (s LeaseState) String() string {
	switch {
	case !s.Held:
		return "nobody holds it"
	case s.For != "":
		return "held for " + s.For + " by " + s.Holder
	default:
		return "held by " + s.Holder
	}
}

// LeaseError says that a lease was neither taken nor given back.
type LeaseError struct {
	Reason string
	Late   bool // the right to act had ended: the store refused the fence
}

// Error returns the reason.
func (e *LeaseError) Error() string { return e.Reason }

// noLeases is why a lease cannot be asked for.
const noLeases = "the store that keeps the leases is not open here"

// UseLeases sets where named leases are kept. Without it they are unknown, and
// cannot be acquired. It is called before the world is used.
func (w *World) UseLeases(l Leases) { w.leases = l }

// leaseOutcome says what came of taking a lease or giving it back.
func leaseOutcome(err error, done string) Outcome {
	var not *LeaseError
	switch {
	case err == nil:
		return Outcome{Status: Done, Message: done}
	case errors.As(err, &not) && not.Late:
		return Outcome{Status: Rejected, Message: clip(err.Error(), 300)}
	case errors.As(err, &not):
		return Outcome{Status: Failed, Message: clip(err.Error(), 300)}
	}
	return Outcome{Status: InDoubt, Message: clip(err.Error(), 300)}
}
