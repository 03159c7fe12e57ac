package lease

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
)

// Causes of a lost lease and of a context that ended with it.
var (
	ErrDeadline = errors.New("lease: its own deadline passed before a renewal was acknowledged")
	ErrExpired  = errors.New("lease: etcd no longer knows the lease (expired or revoked)")
	ErrBroken   = errors.New("lease: a lock is gone from etcd (expired, revoked, or broken by an operator)")
	ErrReleased = errors.New("lease: given back")
	ErrUnsure   = errors.New("lease: given up, because the answer of etcd was lost")
)

// Holder is one who holds something in the way.
type Holder struct {
	Resource Resource
	Owner    Owner
	Since    time.Time
	Fence    int64      // The token, also the nonce that breaking the lock asks for.
	Key      string     // In etcd.
	Waiting  bool       // Not a holder: a ticket of one who waits.
	Wants    []Resource // Of a ticket: what of Resource's fluent it waits for.

	Named bool      // A named lease, which lives across the steps of Owner.Run.
	For   string    // What a named lease was taken for.
	Until time.Time // Kept until then although the run does not go on; zero: renewed while it does.
}

func (h Holder) String() string {
	mode := "shared"
	if h.Resource.Exclusive {
		mode = "exclusively"
	}
	if h.Waiting {
		return fmt.Sprintf("others wait for %s", h.Resource.Fluent)
	}
	why := ""
	if h.For != "" {
		why = " for " + h.For
	}
	return fmt.Sprintf("%s is held %s%s by %s since %s, token %d", h.Resource, mode, why, h.Owner, h.Since.Format(time.RFC3339), h.Fence)
}

// BusyError says that somebody else holds what is wanted. Waiting may help, see AwaitChange.
type BusyError struct{ Holders []Holder }

func (e *BusyError) Error() string {
	if len(e.Holders) == 0 {
		return "lease: busy, and free again by now"
	}
	var parts, queues []string
	waiting := map[string]int{}
	for _, h := range e.Holders {
		if !h.Waiting {
			parts = append(parts, h.String())
			continue
		}
		if waiting[h.Resource.Fluent]++; waiting[h.Resource.Fluent] == 1 {
			queues = append(queues, h.Resource.Fluent)
		}
	}
	for _, q := range queues {
		others := "1 other waits"
		if n := waiting[q]; n > 1 {
			others = fmt.Sprintf("%d others wait", n)
		}
		parts = append(parts, others+" for "+q)
	}
	return "lease: busy: " + strings.Join(parts, "; ")
}

// InDoubtError says that actions whose outcome is unknown may have written what
// is wanted, and nobody is at it. Waiting does not help: take over and resolve.
type InDoubtError struct{ Intents []Intent }

func (e *InDoubtError) Error() string {
	parts := make([]string, 0, len(e.Intents))
	for _, in := range e.Intents {
		parts = append(parts, in.String())
	}
	return "lease: in doubt: " + strings.Join(parts, "; ") + "; take it over and observe, or resolve it by hand"
}

// RetryableError says that an answer of etcd was lost or a lease came too late.
// Nothing was done, or what was done is revoked: starting again is safe.
type RetryableError struct{ Err error }

func (e *RetryableError) Error() string {
	return "lease: not acquired, may be tried again: " + e.Err.Error()
}

func (e *RetryableError) Unwrap() error { return e.Err }

// LostError says that the lease is no longer ours. After Arm the outcome is to be recorded with Unknown.
type LostError struct{ Cause error }

func (e *LostError) Error() string { return "lease lost: " + e.Cause.Error() }

func (e *LostError) Unwrap() error { return e.Cause }

// ArmUnknownError says that Arm's answer was lost. The lease has been given up,
// the action must not be done. Armed says what was found out afterwards.
type ArmUnknownError struct {
	ID    string
	Armed Found
	Err   error
}

func (e *ArmUnknownError) Error() string {
	return fmt.Sprintf("lease: the answer to arming %s was lost (armed: %s): %v", e.ID, e.Armed, e.Err)
}

func (e *ArmUnknownError) Unwrap() error { return e.Err }

// Found is what a look after a lost answer gave.
type Found uint8

// The zero value is NotKnown: etcd did not answer, or the lease could not be revoked first.
const (
	NotKnown Found = iota
	No
	Yes
)

func (f Found) String() string { return [...]string{"not known", "no", "yes"}[f] }

// ChangedError says that the intent is no longer as it was: somebody took it over or resolved it.
type ChangedError struct{ Intent Intent }

func (e *ChangedError) Error() string {
	return "lease: the intent was changed by another: " + e.Intent.String()
}

// refused reports whether etcd said no, so that the request certainly had no effect.
func refused(err error) bool {
	var e rpctypes.EtcdError
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() {
	case codes.InvalidArgument, codes.NotFound, codes.PermissionDenied, codes.Unauthenticated, codes.ResourceExhausted,
		codes.FailedPrecondition, codes.OutOfRange:
		return true
	}
	return errors.Is(err, clientv3.ErrNoAvailableEndpoints)
}
