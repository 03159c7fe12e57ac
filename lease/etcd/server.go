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

	"go.etcd.io/etcd/api/v3/etcdserverpb"
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
	ready  bool // It has served.
	behind bool // It could not be ended, or may yet come up.
}

// smallSegments makes the preallocated files of etcd's log small: the state directory of a
// command-line tool should not take 128 MiB. Other sizes on disk are read all the same.
var smallSegments = sync.OnceFunc(func() { wal.SegmentSizeBytes = 8 << 20 })

// closeTimeout bounds the end of a server that failed; a sound one ends by itself.
const closeTimeout = 3 * time.Second

// start starts the server and waits until it serves. It has the lock from now on:
// an error gives it up, but where the server may yet come up.
func start(ctx context.Context, dir stateDir, lock *os.File, quota int64) (*server, error) {
	s, err := prepare(dir, lock, quota)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	smallSegments()
	begun := time.Now()
	err = s.run(ctx)
	if err == nil {
		s.ready = true
		return s, nil
	}
	err = s.unready(err, time.Since(begun))
	if !s.behind {
		err = errors.Join(err, s.putAway(), lock.Close())
	}
	return nil, err
}

// prepare looks whether the server can be started, before anything is written.
func prepare(dir stateDir, lock *os.File, quota int64) (*server, error) {
	if err := checkSpace(dir); err != nil {
		return nil, err
	}
	if err := dir.checkData(); err != nil {
		return nil, dir.damaged(err)
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
	return s, nil
}

func (s *server) config() *embed.Config {
	cfg := embed.NewConfig()
	cfg.Name = "fettle"
	cfg.Dir = s.dir.data()
	client := url.URL{Scheme: "unix", Path: s.socket}
	peer := url.URL{Scheme: "unix", Path: filepath.Join(filepath.Dir(s.socket), "etcd.peer.sock")}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	// Nobody is listened to as a peer, who could write anything: of the URL of a unix socket etcd drops the path,
	// and would listen at an abstract one, which every user of the host can reach. The address is but a name.
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = nil, []url.URL{peer}
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
		return err
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
	_ = s.stop() // That it did not end adds nothing.
	return err
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
		s.behind = true
		go func() {
			if r := <-done; r.etcd != nil {
				r.etcd.Close()
			}
			_ = s.lock.Close() // Nothing was written to it.
		}()
		return ctx.Err()
	}
}

// unready says why the server does not serve, and what may mend it.
func (s *server) unready(err error, after time.Duration) error {
	if free := checkSpace(s.dir); free != nil {
		return errors.Join(free, err)
	}
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("the embedded etcd in %s was not ready yet: %w", s.dir.data(), err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the embedded etcd in %s is not ready after %s; where the disk is very slow try again, else its data may be damaged: "+
			"nothing was deleted, %s (details in %s)", s.dir.data(), after.Round(100*time.Millisecond), putBack, s.dir.log())
	}
	return fmt.Errorf("%w (details in %s)", s.dir.damaged(err), s.dir.log())
}

// putBack is what mends damaged data.
const putBack = "move that folder aside to begin anew, or put a copy back"

// damaged says of an error that was met in the data what may mend it.
func (d stateDir) damaged(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return mendable(string(d), err)
	}
	return fmt.Errorf("the embedded etcd cannot start from %s: %w; its data may be damaged: nothing was deleted, %s", d.data(), err, putBack)
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

// revokeAll ends every lease, so that whoever holds one is told at once and stops.
func (s *server) revokeAll() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	leases, err := s.etcd.Server.LeaseLeases(ctx, &etcdserverpb.LeaseLeasesRequest{})
	if err != nil {
		return // Their holders stop at their own deadline.
	}
	for _, l := range leases.Leases {
		_, _ = s.etcd.Server.LeaseRevoke(ctx, &etcdserverpb.LeaseRevokeRequest{ID: l.ID})
	}
}

// close withdraws the announcement, stops the server and gives up the lock last, so that the next host
// finds everything put away.
func (s *server) close() error {
	err := ignoreAbsent(os.Remove(s.dir.endpoint()))
	return errors.Join(err, s.stop(), s.putAway(), s.lock.Close())
}

// putAway takes away what is of use only while the server serves: the socket, and
// its folder unless one of the joined takes over, who needs the same path.
func (s *server) putAway() error {
	err := errors.Join(s.log.close(), ignoreAbsent(os.Remove(s.socket)))
	if s.temp != "" && countJoined(s.dir) == 0 {
		err = errors.Join(err, ignoreAbsent(os.RemoveAll(s.temp)), ignoreAbsent(os.Remove(s.dir.sockets())))
	}
	return err
}

// stop ends the server and waits for it. A server that failed or never served may
// never end: it is left behind, and said so.
func (s *server) stop() error {
	s.log.closing.Store(true)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.etcd.Close()
	}()
	if s.ready && s.log.reason() == "" {
		<-done
		return nil
	}
	bound := time.NewTimer(closeTimeout)
	defer bound.Stop()
	select {
	case <-done:
		return nil
	case <-bound.C:
		s.behind = true
		return errors.New(s.failure())
	}
}

func ignoreAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
