package etcd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// openEmbedded hosts the embedded etcd, or joins the process that does. While
// another starts or ends, it tries both until ctx ends.
func openEmbedded(ctx context.Context, cfg Config) (*Store, error) {
	dir, err := openStateDir(cfg.StateDir)
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		lock, free, err := tryLock(dir.lock())
		if err != nil {
			return nil, err
		}
		if free {
			return host(ctx, dir, lock, cfg)
		}
		s, err := join(ctx, dir, cfg.Prefix)
		if err == nil {
			return s, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("another process hosts the etcd of state directory %s, but it does not answer: %w; end that process or wait for it", dir, err)
		case <-tick.C:
		}
	}
}

func host(ctx context.Context, dir stateDir, lock *os.File, cfg Config) (*Store, error) {
	orphaned, err := dir.orphaned()
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	srv, err := start(ctx, dir, lock, cfg.Quota)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	last := &lastError{explain: srv.failure, failed: srv.log.failed}
	s, err := dial(ctx, clientConfig([]string{srv.url}, last), last, cfg.Prefix)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("embedded etcd in %s does not answer: %w", dir, err), srv.close())
	}
	s.server = srv
	if orphaned {
		s.tidy(ctx)
		if cfg.OnOrphaned != nil {
			cfg.OnOrphaned(ctx, s.client)
		}
	}
	if err := srv.announce(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.onLinger = cfg.OnLinger
	return s, nil
}

// StartAgain is what mends most commands whose host has ended, and ends their
// message; a run is to be gone on with instead.
const StartAgain = "start this command again"

// errStarting means that a host has the lock and has not announced its socket yet.
var errStarting = errors.New("it has not announced its socket")

func join(ctx context.Context, dir stateDir, prefix string) (*Store, error) {
	raw, err := os.ReadFile(dir.endpoint())
	if err != nil {
		return nil, errStarting
	}
	path := strings.TrimSpace(string(raw))
	if _, err := os.Stat(path); err != nil {
		return nil, errStarting
	}
	if err := private(filepath.Dir(path)); err != nil {
		return nil, err
	}
	last := &lastError{explain: func() string {
		if hostEnded(dir.lock()) {
			return fmt.Sprintf("the process that hosted the etcd of state directory %s has ended; %s", dir, StartAgain)
		}
		return ""
	}}
	last.failFast.Store(true) // The host is on this machine: it answers soon or has ended.
	conf := clientConfig([]string{"unix://" + path}, last)
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	me, err := enlist(dir) // Before the last look whether it is still announced: a host that ends looks the other way round.
	if err != nil {
		return nil, err
	}
	s, err := dial(ctx, conf, last, prefix)
	if err != nil {
		return nil, errors.Join(err, resign(me))
	}
	s.enlisted = me
	if now, err := os.ReadFile(dir.endpoint()); err != nil || string(now) != string(raw) {
		return nil, errors.Join(errStarting, s.Close())
	}
	return s, nil
}
