package world

import (
	"context"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/lease"
)

// storeLeases are the named leases in etcd, as one run sees them.
type storeLeases struct {
	l   *lease.Locker
	run string
}

// NewLeases returns the named leases that the Locker keeps, as the run sees
// them. Without a run they can only be read, and none is mine. The run's owner
// should be claimed on the same Locker, so that only who drives the run acts.
//
// Leases live until the run releases them all: see the Locker's ReleaseAllNamed,
// Keep and Adopt.
func NewLeases(l *lease.Locker, run string) Leases { return &storeLeases{l, run} }

// State reads who holds the lease.
func (s *storeLeases) State(ctx context.Context, name string) (LeaseState, error) {
	n, err := s.l.NamedState(ctx, name)
	if err != nil {
		return LeaseState{}, err
	}
	return LeaseState{
		Held: n.Held, Mine: n.Held && s.run != "" && n.Run == s.run, For: n.For, Holder: n.Holder, Since: n.Since,
	}, nil
}

// Acquire takes the lease if nobody has it and the action is still the armed
// one. Where the run has it, only what it is for is changed.
func (s *storeLeases) Acquire(ctx context.Context, name, purpose string, c Call) error {
	if s.run == "" {
		return &LeaseError{Reason: "a lease needs a run to be bound to"}
	}
	had := s.l.NamedOf(s.run, name) != nil
	owner := lease.Owner{Run: s.run, Step: c.Step, Action: c.text}
	_, err := s.l.AcquireNamed(ctx, owner, name, purpose, s.armed(c))
	var retry *lease.RetryableError
	if errors.As(err, &retry) && !had {
		return &LeaseError{Reason: fmt.Sprintf("%s was not acquired: %s", name, retry.Err)} // Or it was revoked.
	}
	return notDone(name, err)
}

// Release gives the lease back if it is the run's and the action is still the armed one.
func (s *storeLeases) Release(ctx context.Context, name string, c Call) error {
	n := s.l.NamedOf(s.run, name)
	if n == nil {
		return &LeaseError{Reason: fmt.Sprintf("this run does not hold %s", name)}
	}
	return notDone(name, n.Release(ctx, s.armed(c)))
}

// armed is the condition by which a late act is refused: the record of the
// action is as it was when it was armed, neither taken over nor resolved.
func (s *storeLeases) armed(c Call) []clientv3.Cmp {
	return []clientv3.Cmp{s.l.Keys().StillArmed(c.ActionID, c.Armed)}
}

// notDone tells errors after which nothing was done from those that leave it open.
func notDone(name string, err error) error {
	var busy *lease.BusyError
	var doubt *lease.InDoubtError
	var lost *lease.LostError
	var refused *lease.RefusedError
	switch {
	case errors.As(err, &busy):
		return &LeaseError{Reason: heldBy(name, busy)}
	case errors.As(err, &refused):
		return &LeaseError{Reason: "came too late: " + refused.Error(), Late: true}
	case errors.As(err, &doubt), errors.As(err, &lost):
		return &LeaseError{Reason: err.Error()}
	}
	return err
}

// heldBy says who has the lease.
func heldBy(name string, busy *lease.BusyError) string {
	for _, h := range busy.Holders {
		if !h.Waiting {
			s := LeaseState{Held: true, For: h.For, Holder: h.Owner.String()}
			return fmt.Sprintf("%s is %s, since %s", name, s, h.Since.UTC().Format(time.RFC3339))
		}
	}
	if len(busy.Holders) > 0 {
		return fmt.Sprintf("others wait for %s, and come first", name)
	}
	return name + " was held by another, and is free by now"
}
