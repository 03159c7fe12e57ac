package lease

import (
	"sync"
	"time"
)

// deadline is until when a holder may believe in its lock. It is counted from
// when a keepalive was sent, not from when its answer came: the server restarts
// the TTL somewhere between the two. It never moves back, and once passed it is
// final, whatever answer comes later.
type deadline struct {
	margin time.Duration

	mu     sync.Mutex
	at     time.Duration
	passed bool
}

// extend counts a keepalive acknowledged for ttl that was sent at the time given.
func (d *deadline) extend(sent, ttl, now time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at != 0 && now >= d.at {
		d.passed = true
	}
	if !d.passed {
		d.at = max(d.at, sent+ttl-d.margin)
	}
}

// remaining returns the time left, zero once the deadline has been seen to pass.
func (d *deadline) remaining(now time.Duration) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if Without(Deadline) {
		return time.Hour
	}
	if now >= d.at {
		d.passed = true
	}
	if d.passed {
		return 0
	}
	return d.at - now
}
