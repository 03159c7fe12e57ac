package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/lease/etcd"
	"github.com/fettleops/fettle/model/load"
	"github.com/fettleops/fettle/policy"
)

// stateDirFlag adds the flag that says where the embedded etcd keeps its data.
func (a *app) stateDirFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.stateDir, "state-dir", "", "folder of the embedded etcd (default .fettle beside the model)")
}

// leaseTTLFlag adds the flag that says how long leases outlive their holder.
func (a *app) leaseTTLFlag(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&a.leaseTTL, "lease-ttl", 15*time.Second,
		"how long the leases of a process that is no longer heard of are kept, in whole seconds")
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
}

// openStore opens the model's etcd: the cluster of its etcd block, or the
// embedded one in the state directory.
func (a *app) openStore(ctx context.Context, l *load.Loaded) (*store, error) {
	cfg := etcd.Config{StateDir: a.stateDir}
	if cfg.StateDir == "" {
		cfg.StateDir = filepath.Join(l.Folder, ".fettle")
	}
	if e := l.Etcd; e != nil {
		cfg.Endpoints, cfg.Username, cfg.Password, cfg.Prefix = e.Endpoints, e.User, e.Password, e.Prefix
		cfg.TLS = etcd.TLS{CA: e.CAFile, Cert: e.CertFile, Key: e.KeyFile}
	}
	cfg.OnLinger = func(n int) {
		fmt.Fprintf(a.err, "%s on this host still use the store that this process holds; it goes on until they end (interrupt it to end now)\n", counted(n, "process"))
	}
	s, err := etcd.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	scope := s.Scope(l.Scope)
	return &store{Store: s, journal: journal.OpenWithArchive(s.Client(), scope, cfg.StateDir), scope: scope, dir: cfg.StateDir}, nil
}

// Close gives the store up. Where this process hosts it for others, it lingers
// until they end, or until it is interrupted.
func (s *store) Close() error {
	ctx, stop := signal.NotifyContext(context.Background(), stopSignals...)
	defer stop()
	return s.CloseContext(ctx)
}

// intake gets the store ready for a new run: what is older than the policy
// keeps is moved to the archive, and nothing is begun where space runs out.
func (s *store) intake(ctx context.Context, locker *lease.Locker, p *policy.Policy, now time.Time) error {
	if keep := p.Retention; keep.Set {
		_, err := s.journal.Archive(ctx, s.dir, journal.Archiving{
			Before: now.Add(-keep.Value), Finished: executor.Over, Forget: locker.ForgetRun,
		})
		if err != nil {
			return err
		}
	}
	return s.CheckSpace(ctx)
}

// existingStore is openStore for commands that only read: without a cluster
// and a state directory there is nothing to read, and none is made.
func (a *app) existingStore(ctx context.Context, l *load.Loaded) (*store, error) {
	dir := a.stateDir
	if dir == "" {
		dir = filepath.Join(l.Folder, ".fettle")
	}
	if l.Etcd == nil {
		if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("there is no run yet: %s does not exist (name another with --state-dir)", dir)
		}
	}
	return a.openStore(ctx, l)
}
