package etcd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// local is the part that this process has in the embedded etcd of a state
// directory: it hosts the server, or has joined the process that does and takes its
// place when that ends. The data and the socket's path stay as they were, so to
// those who use it this is a short silence of etcd, as any restart is.
type local struct {
	dir   stateDir
	quota int64
	last  *lastError

	mu       sync.Mutex
	server   *server  // Nil: joined.
	enlisted *os.File // Nil: hosts.
	pins     []pin    // What must stay in its place.

	stop context.CancelFunc
	look sync.WaitGroup
}

// pin is a file that was there.
type pin struct {
	path string
	file fs.FileInfo
}

// newLocal is the part of who hosts the server or, where that is nil, joins.
func newLocal(dir stateDir, quota int64, srv *server) (*local, error) {
	l := &local{dir: dir, quota: quota, server: srv}
	l.last = newLastError(l.check)
	for _, path := range []string{dir.lock(), dir.data()} {
		info, err := os.Stat(path)
		if err != nil {
			return nil, mendable(string(dir), err)
		}
		l.pins = append(l.pins, pin{path, info})
	}
	return l, nil
}

// host returns the server that this process runs, nil where it joined.
func (l *local) host() *server {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.server
}

// check is why nothing may be done with the store any more. It costs two looks
// at the file system.
func (l *local) check() error {
	if srv := l.host(); srv != nil {
		if reason := srv.failure(); reason != "" {
			return &reasonError{reason, ErrServerGone}
		}
	}
	for _, p := range l.pins {
		now, err := os.Stat(p.path)
		if err == nil && os.SameFile(p.file, now) || err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) {
			continue
		}
		return &reasonError{fmt.Sprintf("the state directory %s was moved, removed or replaced while it was in use; put it back", l.dir), ErrTakenAway}
	}
	return nil
}

// guardLook is how often a store that is not asked anything is looked after.
const guardLook = 50 * time.Millisecond

// guard looks after the store until stop: it ends what waits once nothing comes of
// it any more, and takes the host's place.
func (l *local) guard() {
	ctx, stop := context.WithCancel(context.Background())
	l.stop = stop
	l.look.Go(func() {
		tick := time.NewTicker(guardLook)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if err := l.last.ended(); err != nil {
				if srv := l.host(); srv != nil && errors.Is(err, ErrTakenAway) {
					srv.revokeAll() // They mean nothing any more.
				}
				return
			}
			if l.host() == nil {
				l.takeOver()
			}
		}
	})
}

// takeOver hosts the server where the process that did has ended.
func (l *local) takeOver() {
	lock, free, err := tryLock(l.dir.lock(), 0)
	if err != nil || !free {
		return // It lives, another was faster, or the folder is gone.
	}
	ctx, cancel := context.WithTimeout(context.Background(), hostTimeout)
	defer cancel()
	srv, err := start(ctx, l.dir, lock, l.quota)
	if err == nil {
		if err = srv.announce(); err != nil {
			err = errors.Join(err, srv.close())
		}
	}
	if err != nil {
		l.last.end(&reasonError{fmt.Sprintf("the process that hosted the etcd of state directory %s has ended, and this one cannot take its place: %v; %s", l.dir, err, StartAgain), ErrServerGone})
		return
	}
	l.mu.Lock()
	me := l.enlisted
	l.server, l.enlisted = srv, nil
	l.mu.Unlock()
	_ = resign(me) // What is left of it is locked by nobody, and not counted.
}

// close ends the part of this process. As a host it lingers first, unless tell is nil.
func (l *local) close(ctx context.Context, tell func(int), closeClient func() error) error {
	l.stop()
	l.look.Wait()
	var err error
	if l.server != nil && tell != nil {
		err = l.server.linger(ctx, l.last.ended, tell)
	}
	err = errors.Join(err, closeClient())
	switch {
	case l.enlisted != nil:
		return errors.Join(err, resign(l.enlisted))
	case errors.Is(l.last.ended(), ErrTakenAway):
		return err // Left to end with the process: what it would put away is known by its path, where another's may be by now.
	}
	return errors.Join(err, l.server.close())
}
