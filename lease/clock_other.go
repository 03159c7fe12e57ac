//go:build !linux

package lease

import "time"

// boottime is the time since the program started, on Go's monotonic clock.
func boottime() time.Duration { return time.Since(started) }

var started = time.Now()
