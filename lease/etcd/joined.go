package etcd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// joined is where those who joined the host are counted: a file each, locked by
// its process. The lock is the kernel's and ends with the process, however that
// ends; files of those who died are taken away by whoever counts.
func (d stateDir) joined() string { return filepath.Join(string(d), "etcd.joined") }

// enlist counts this process among the joined, until the file is closed.
func enlist(dir stateDir) (*os.File, error) {
	if err := os.MkdirAll(dir.joined(), 0o700); err != nil {
		return nil, mendable(string(dir), err)
	}
	for {
		f, err := os.CreateTemp(dir.joined(), "")
		if err != nil {
			return nil, mendable(string(dir), err)
		}
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		here, statErr := os.Stat(f.Name())
		mine, ownErr := f.Stat()
		if err == nil && statErr == nil && ownErr == nil && os.SameFile(here, mine) {
			return f, nil
		}
		_ = f.Close() // Counted as dead before it was locked.
		if err != nil && !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, mendable(string(dir), err)
		}
	}
}

// resign ends what enlist began.
func resign(f *os.File) error {
	return errors.Join(ignoreAbsent(os.Remove(f.Name())), f.Close())
}

// countJoined returns how many processes have joined and not ended.
func countJoined(dir stateDir) int {
	files, err := os.ReadDir(dir.joined())
	if err != nil {
		return 0 // Nobody ever joined.
	}
	n := 0
	for _, one := range files {
		path := filepath.Join(dir.joined(), one.Name())
		f, err := os.Open(path)
		if err != nil {
			continue // It has just resigned.
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			_ = os.Remove(path) // Its process died.
		} else {
			n++
		}
		_ = f.Close() // Opened for reading only.
	}
	return n
}

// orphaned tells, for the holder of the host's lock, whether every process that
// used the etcd has ended. The announcement of a host that was killed is
// withdrawn first: whoever joins by it after that looks again, finds none, and
// gives up before it has done anything.
func (d stateDir) orphaned() (bool, error) {
	if err := ignoreAbsent(os.Remove(d.endpoint())); err != nil {
		return false, mendable(string(d), err)
	}
	return countJoined(d) == 0, nil
}

// lingerLook is how often a host that lingers counts: the end of another process has no event of its own.
const lingerLook = 50 * time.Millisecond

// linger waits until nobody is joined any more, and then withdraws the
// announcement, so that nobody joins late. It ends early with ctx, or when the store can be used no more.
func (s *server) linger(ctx context.Context, ended func() error, tell func(n int)) error {
	tick := time.NewTicker(lingerLook)
	defer tick.Stop()
	told := 0
	for ended() == nil {
		n := countJoined(s.dir)
		if n == 0 {
			if err := ignoreAbsent(os.Remove(s.dir.endpoint())); err != nil {
				return err
			}
			if countJoined(s.dir) == 0 {
				return nil
			}
			if err := s.announce(); err != nil { // Somebody came at the last moment.
				return err
			}
			continue
		}
		if n != told {
			told = n
			tell(n)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
	return nil
}
