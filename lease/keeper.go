package lease

import (
	"context"
	"errors"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// keeper renews one lease every third of its TTL, and ends its life when the
// deadline passes. A renewal that hangs never delays the look at the deadline.
type keeper struct {
	h    *hold
	next time.Duration // When to renew.
}

// renewal is the answer to one.
type renewal struct{ err error }

// look is how often the deadline is looked at, at most: Go's timers stand still while a machine is suspended.
const look = 250 * time.Millisecond

func (k *keeper) run() {
	h := k.h
	k.next = h.l.o.Clock() + k.firstRenewal()
	var answer chan renewal
	defer func() {
		if answer != nil {
			h.end(ErrReleased) // Ends the renewal under way; without effect where a cause is set.
			<-answer
		}
	}()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		now := h.l.o.Clock()
		left := h.grant.remaining(now)
		if left == 0 {
			h.lose(ErrDeadline)
			return
		}
		if answer == nil && now >= k.next {
			answer = k.renew()
		}
		timer.Reset(k.wait(now, left, answer != nil))
		select {
		case <-h.life.Done():
			return
		case r := <-answer:
			answer = nil
			if !k.answered(r) {
				return
			}
		case <-timer.C:
		}
	}
}

// firstRenewal is sooner where the lease has waited in the pool.
func (k *keeper) firstRenewal() time.Duration {
	g := k.h.grant
	age := g.ttl - g.margin - g.remaining(k.h.l.o.Clock())
	return max(0, g.ttl/3-max(0, age))
}

func (k *keeper) wait(now, left time.Duration, underWay bool) time.Duration {
	d := min(left, look)
	if !underWay {
		d = min(d, k.next-now)
	}
	return max(d, time.Millisecond)
}

func (k *keeper) renew() chan renewal {
	h := k.h
	k.next = h.l.o.Clock() + h.grant.ttl/3
	answer := make(chan renewal, 1)
	go func() {
		answer <- renewal{h.l.keepAlive(h.life, h.grant)}
	}()
	return answer
}

// answered reports whether to go on. A failed renewal is tried again soon.
func (k *keeper) answered(r renewal) bool {
	h, err := k.h, r.err
	switch {
	case Without(Deadline):
	case errors.Is(err, rpctypes.ErrLeaseNotFound):
		h.lose(ErrExpired)
		return false
	case err != nil && !errors.Is(err, context.Canceled):
		k.next = min(k.next, h.l.o.Clock()+max(h.grant.ttl/30, 20*time.Millisecond))
	}
	return true
}
