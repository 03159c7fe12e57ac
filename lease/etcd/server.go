package etcd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/wal"
)

// server is the embedded etcd of this process.
type server struct {
	dir    stateDir
	lock   *os.File
	log    *log
	etcd   *embed.Etcd
	socket string // Path of the client socket.
	url    string
	temp   string // Folder of the sockets where it is not the state directory.
	quota  int64
}

// smallSegments makes the preallocated files of etcd's log small: the state directory of a
// command-line tool should not take 128 MiB. Other sizes on disk are read all the same.
var smallSegments = sync.OnceFunc(func() { wal.SegmentSizeBytes = 8 << 20 })

// closeTimeout bounds the end of a server that failed; a sound one ends by itself.
const closeTimeout = 3 * time.Second

func start(ctx context.Context, dir stateDir, lock *os.File, quota int64) (*server, error) {
	if err := checkSpace(dir); err != nil {
		return nil, err
	}
	sockets, err := dir.socketDir()
	if err != nil {
		return nil, err
	}
	lg, err := openLog(dir.log())
	if err != nil {
		return nil, mendable(string(dir), err)
	}
	s := &server{dir: dir, lock: lock, log: lg, socket: filepath.Join(sockets, "etcd.sock"), quota: quota}
	s.url = "unix://" + s.socket
	if sockets != string(dir) {
		s.temp = sockets
	}
	smallSegments()
	if err := s.run(ctx); err != nil {
		return nil, errors.Join(err, lg.close())
	}
	return s, nil
}

func (s *server) config() *embed.Config {
	cfg := embed.NewConfig()
	cfg.Name = "fettle"
	cfg.Dir = s.dir.data()
	client := url.URL{Scheme: "unix", Path: s.socket}
	peer := url.URL{Scheme: "unix", Path: filepath.Join(filepath.Dir(s.socket), "etcd.peer.sock")}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.TickMs, cfg.ElectionMs = 10, 100 // A leader of one needs no patience.
	cfg.EnableGRPCGateway = false
	// An hour of history: whoever watches a run from its beginning finds it.
	cfg.AutoCompactionMode, cfg.AutoCompactionRetention = embed.CompactorModePeriodic, "1h"
	cfg.QuotaBackendBytes = s.quota
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(s.log.zap)
	return cfg
}

// run starts the server and waits until it serves.
func (s *server) run(ctx context.Context) error {
	err := s.startEtcd(ctx)
	if err != nil {
		return s.damaged(err)
	}
	select {
	case <-s.etcd.Server.ReadyNotify():
		return nil
	case err = <-s.etcd.Err():
	case <-s.log.failed:
		err = errors.New(s.log.reason())
	case <-ctx.Done():
		err = ctx.Err()
	}
	return errors.Join(s.damaged(err), s.stop())
}

// startEtcd turns the panics and fatal errors with which etcd meets a damaged
// data folder into errors. Some end a goroutine that etcd itself waits for, so
// it is started in one of its own, which is then left behind.
func (s *server) startEtcd(ctx context.Context) error {
	type result struct {
		etcd *embed.Etcd
		err  error
	}
	done := make(chan result, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- result{err: fmt.Errorf("%v", p)}
			}
		}()
		etcd, err := embed.StartEtcd(s.config())
		done <- result{etcd, err}
	}()
	select {
	case r := <-done:
		s.etcd = r.etcd
		return r.err
	case <-s.log.failed:
		return errors.New(s.log.reason())
	case <-ctx.Done():
		go func() {
			if r := <-done; r.etcd != nil {
				r.etcd.Close()
			}
		}()
		return ctx.Err()
	}
}

func (s *server) damaged(err error) error {
	if free := checkSpace(s.dir); free != nil {
		return errors.Join(free, err)
	}
	if errors.Is(err, fs.ErrPermission) {
		return mendable(string(s.dir), err)
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return fmt.Errorf("the embedded etcd in %s is not ready: %w (details in %s)", s.dir.data(), err, s.dir.log())
	}
	return fmt.Errorf("the embedded etcd cannot start from %s: %w; its data may be damaged: nothing was deleted, "+
		"move that folder aside to begin anew, or put a copy back (details in %s)", s.dir.data(), err, s.dir.log())
}

// announce writes down the socket, for those who join. It is renamed into place, so that nobody reads half of it.
func (s *server) announce() error {
	tmp := s.dir.endpoint() + ".new"
	if err := os.WriteFile(tmp, []byte(s.socket+"\n"), 0o600); err != nil {
		return mendable(string(s.dir), err)
	}
	if err := os.Rename(tmp, s.dir.endpoint()); err != nil {
		return mendable(string(s.dir), err)
	}
	return nil
}

// failure says why the running server failed; empty while it has not.
func (s *server) failure() string {
	reason := s.log.reason()
	if reason == "" {
		return ""
	}
	return fmt.Sprintf("the embedded etcd in %s failed: %s (details in %s)", s.dir.data(), reason, s.dir.log())
}

// close withdraws the announcement, stops the server and gives up the lock last, so that the next host
// finds everything put away.
func (s *server) close() error {
	err := ignoreAbsent(os.Remove(s.dir.endpoint()))
	err = errors.Join(err, s.stop())
	if s.temp != "" {
		err = errors.Join(err, ignoreAbsent(os.RemoveAll(s.temp)), ignoreAbsent(os.Remove(s.dir.sockets())))
	}
	return errors.Join(err, s.log.close(), s.lock.Close())
}

// stop ends the server and waits for it. A server that failed may never end: it is left behind, and said so.
func (s *server) stop() error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.etcd.Close()
	}()
	if s.log.reason() == "" {
		<-done
		return nil
	}
	bound := time.NewTimer(closeTimeout)
	defer bound.Stop()
	select {
	case <-done:
		return nil
	case <-bound.C:
		return errors.New(s.failure())
	}
}

func ignoreAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
