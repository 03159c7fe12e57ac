package etcd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

// yieldTicks is how long, half a second, one of those who joined a host that has
// ended is let take its place: a short command that did would have to stay for them.
const yieldTicks = 25

// openEmbedded hosts the embedded etcd, or joins the process that does. While
// another starts or ends, it tries both until ctx ends.
func openEmbedded(ctx context.Context, cfg Config) (*Store, error) {
	dir, err := openStateDir(cfg.StateDir)
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for yields := yieldTicks; ; yields-- {
		lock, free, err := tryLock(dir.lock(), os.O_CREATE)
		if err != nil {
			return nil, err
		}
		var s *Store
		switch {
		case !free:
			if s, err = join(ctx, dir, cfg); err == nil {
				return s, nil
			}
		case yields > 0 && countJoined(dir) > 0:
			err = errors.Join(errStarting, lock.Close())
		default:
			return host(ctx, dir, lock, cfg)
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
		return nil, err
	}
	l, err := newLocal(dir, cfg.Quota, srv)
	if err != nil {
		return nil, errors.Join(err, srv.close())
	}
	s, err := dial(ctx, localConfig(srv.socket, l.last), l.last, cfg.Prefix)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("embedded etcd in %s does not answer: %w", dir, err), srv.close())
	}
	l.guard()
	s.local, s.onLinger = l, cfg.OnLinger
	if orphaned {
		s.tidy(ctx)
		if cfg.OnOrphaned != nil {
			cfg.OnOrphaned(ctx, s.client)
		}
	}
	if err := srv.announce(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// StartAgain is what mends most commands whose host has ended, and ends their
// message; a run is to be gone on with instead.
const StartAgain = "start this command again"

// localConfig is for the server at a socket of this host: it answers soon, or
// another takes its place.
func localConfig(socket string, last *lastError) clientv3.Config {
	conf := clientConfig([]string{"unix://" + socket}, last)
	conf.DialOptions = append(conf.DialOptions, grpc.WithConnectParams(grpc.ConnectParams{
		Backoff:           backoff.Config{BaseDelay: 10 * time.Millisecond, Multiplier: 1.5, Jitter: 0.2, MaxDelay: 200 * time.Millisecond},
		MinConnectTimeout: time.Second,
	}))
	return conf
}

// errStarting means that a host has the lock and has not announced its socket yet.
var errStarting = errors.New("it has not announced its socket")

func join(ctx context.Context, dir stateDir, cfg Config) (*Store, error) {
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
	l, err := newLocal(dir, cfg.Quota, nil)
	if err != nil {
		return nil, err
	}
	l.last.failFast.Store(true) // It answers soon, or there is another look.
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if l.enlisted, err = enlist(dir); err != nil { // Before the last look whether it is still announced: a host that ends looks the other way round.
		return nil, err
	}
	s, err := dial(ctx, localConfig(path, l.last), l.last, cfg.Prefix)
	if err != nil {
		return nil, errors.Join(err, resign(l.enlisted))
	}
	if now, err := os.ReadFile(dir.endpoint()); err != nil || string(now) != string(raw) {
		return nil, errors.Join(errStarting, s.client.Close(), resign(l.enlisted))
	}
	l.last.failFast.Store(false)
	l.guard()
	s.local, s.onLinger = l, cfg.OnLinger
	return s, nil
}
