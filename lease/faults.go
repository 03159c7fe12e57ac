//go:build faults && linux

package lease

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// The switches of the test build, from the environment:
//
//	FETTLE_FAULT=no-deadline,no-fence   protections taken away, see Protection
//	FETTLE_PAUSE_AT=armed               SIGSTOP to itself at that point, once
//	FETTLE_KILL_AT=acted:2              SIGKILL to itself, the second time that point is reached
//	FETTLE_PAUSE_FILE=path              gets a line "<point> <pid>" before either
var without = sync.OnceValue(func() map[Protection]bool {
	out := map[Protection]bool{}
	for name := range strings.SplitSeq(os.Getenv("FETTLE_FAULT"), ",") {
		if p, ok := strings.CutPrefix(strings.TrimSpace(name), "no-"); ok {
			out[Protection(p)] = true
		}
	}
	return out
})

// Without reports whether a protection is taken away.
func Without(p Protection) bool { return without()[p] }

var (
	pointsMu sync.Mutex
	points   = map[string]int{} // How often each was reached.
)

// Point marks a point of the protocol at which tests stop or kill the process.
func Point(name string) {
	pointsMu.Lock()
	points[name]++
	n := points[name]
	pointsMu.Unlock()
	for variable, signal := range map[string]unix.Signal{"FETTLE_PAUSE_AT": unix.SIGSTOP, "FETTLE_KILL_AT": unix.SIGKILL} {
		at, times, ok := strings.Cut(os.Getenv(variable), ":")
		want := 1
		if ok {
			want, _ = strconv.Atoi(times) // Not a number: never.
		}
		if at == name && n == want {
			strike(name, signal)
		}
	}
}

// strike signals the very thread that it runs on, which therefore goes no further before the signal has been obeyed.
func strike(name string, signal unix.Signal) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if path := os.Getenv("FETTLE_PAUSE_FILE"); path != "" {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(f, name, os.Getpid())
		if err := f.Close(); err != nil {
			panic(err)
		}
	}
	if err := unix.Tgkill(os.Getpid(), unix.Gettid(), signal); err != nil {
		panic(err)
	}
}
