package lease

import (
	"time"

	"golang.org/x/sys/unix"
)

// boottime is the time since the machine started. It goes on while the machine
// is suspended, as etcd's clock does; Go's own monotonic clock stands still.
func boottime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return time.Since(started) // Kernels before 2.6.39.
	}
	return time.Duration(ts.Nano())
}

var started = time.Now()
