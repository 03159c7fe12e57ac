package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/lease/etcd"
	"github.com/fettleops/fettle/model/load"
	"github.com/fettleops/fettle/policy"
	"github.com/fettleops/fettle/world"
)

// stateDirFlag adds the flag that says where the embedded etcd keeps its data.
func (a *app) stateDirFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.stateDir, "state-dir", "", "folder of the embedded etcd (default .fettle beside the model)")
}

// locker acquires leases in the store's scope.
func (a *app) locker(s *store) *lease.Locker {
	return lease.New(s.Client(), s.scope, lease.Options{TTL: a.leaseTTL})
}

// modelFlag adds the flag that names the model of commands whose argument is
// something else.
func modelFlag(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVar(path, "model", ".", "folder or file of the model")
}

// store is the etcd of a model, and what is kept there.
type store struct {
	*etcd.Store
	journal *journal.Journal
	scope   string
	dir     string // the state directory: the archive is below it
	model   *load.Loaded
	warn    io.Writer
	warned  map[string]bool // of runs that cannot be read, by their ids
}

// openStore opens the model's etcd: the cluster of its etcd block, or the
// embedded one in the state directory.
func (a *app) openStore(ctx context.Context, l *load.Loaded) (*store, error) {
	cfg := etcd.Config{StateDir: a.stateDir, Quota: a.quota}
	if cfg.StateDir == "" {
		cfg.StateDir = filepath.Join(l.Folder, ".fettle")
	}
	if e := l.Etcd; e != nil {
		cfg.Endpoints, cfg.Username, cfg.Password, cfg.Prefix = e.Endpoints, e.User, e.Password, e.Prefix
		cfg.TLS = etcd.TLS{CA: e.CAFile, Cert: e.CertFile, Key: e.KeyFile}
	}
	cfg.OnLinger = func(n int) {
		fmt.Fprintln(a.err, lingering(n))
	}
	prefix := cfg.Prefix
	if prefix == "" {
		prefix = etcd.DefaultPrefix
	}
	scope := etcd.ScopePrefix(prefix, l.Scope)
	cfg.OnOrphaned = func(ctx context.Context, cli *clientv3.Client) { bury(ctx, cli, scope) }
	s, err := etcd.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &store{Store: s, journal: journal.OpenWithArchive(s.Client(), scope, cfg.StateDir), scope: scope, dir: cfg.StateDir, model: l, warn: a.err}, nil
}

// withoutSecrets keeps the values of sensitive variables of the store's model, and
// what looks like a secret, out of what a person wrote.
func (s *store) withoutSecrets(text string) string {
	return world.Hide(s.model.Secrets, s.model.Redact)(text)
}

// Close gives the store up. Where this process hosts it for others, it lingers
// until they end, or until it is interrupted.
func (s *store) Close() error {
	ctx, stop := signal.NotifyContext(context.Background(), stopSignals...)
	defer stop()
	return s.CloseContext(ctx)
}

// makeRoom moves what is older than the policy keeps to the archive, and gives
// the space back where it runs short.
func (s *store) makeRoom(ctx context.Context, locker *lease.Locker, p *policy.Policy, now time.Time) error {
	if keep := p.Retention; keep.Set {
		_, err := s.journal.Archive(ctx, s.dir, journal.Archiving{
			Before: now.Add(-keep.Value), Finished: executor.Over, Forget: locker.ForgetRun,
		})
		if err != nil {
			return err
		}
	}
	if !errors.Is(s.CheckSpace(ctx), etcd.ErrNearlyFull) { // Another error is met again.
		return nil
	}
	return s.MakeRoom(ctx)
}

// intake gets the store ready for a new run: nothing is begun where space runs out.
func (s *store) intake(ctx context.Context, locker *lease.Locker, p *policy.Policy, now time.Time) error {
	if err := s.makeRoom(ctx, locker, p, now); err != nil {
		return err
	}
	return s.CheckSpace(ctx)
}

// spaceEvery is how often it is looked, while a run goes on, how full the store is.
const spaceEvery = 2 * time.Second

// existingStore is openStore for commands that only read: without a cluster
// and a state directory there is nothing to read, and none is made.
func (a *app) existingStore(ctx context.Context, l *load.Loaded) (*store, error) {
	dir := a.stateDir
	if dir == "" {
		dir = filepath.Join(l.Folder, ".fettle")
	}
	if l.Etcd == nil {
		if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
			return nil, &noStoreError{dir}
		}
	}
	return a.openStore(ctx, l)
}
