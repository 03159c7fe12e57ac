package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/fettleops/fettle/lease/etcd"
	"github.com/fettleops/fettle/world"
)

// enoughSpace is the space below which the embedded etcd is not started.
const enoughSpace = 64 << 20

// tryStore tells whether the store could be used: every endpoint of a cluster
// is asked, of a state directory it is only looked whether it could be written.
func (a *app) tryStore(ctx context.Context, l *loaded) []world.Trial {
	if l.Etcd != nil {
		return a.tryCluster(ctx, l)
	}
	dir := a.stateDir
	if dir == "" {
		dir = filepath.Join(l.Folder, ".fettle")
	}
	t := world.Trial{Block: "state directory", Source: world.Source{Query: dir}}
	says, err := usable(dir)
	if t.Says = says; err != nil {
		t.Says, t.Wrong, t.Broken = err.Error(), "State directory not usable", true
		t.Mend = "Nothing is run without it; name another with --state-dir."
	}
	return []world.Trial{t}
}

// usable tells whether the embedded etcd could be started in the folder, or be
// joined there.
func usable(dir string) (says string, err error) {
	st, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return makeable(dir)
	}
	switch {
	case err != nil:
		return "", err
	case !st.IsDir():
		return "", errors.New("it is not a folder")
	}
	var own unix.Stat_t
	if err := unix.Stat(dir, &own); err == nil && int(own.Uid) != os.Geteuid() {
		return "", fmt.Errorf("it belongs to user %d, not to this user %d", own.Uid, os.Geteuid())
	}
	if err := writable(dir); err != nil {
		return "", err
	}
	return "can be written", nil
}

// makeable looks at the nearest folder above that there is.
func makeable(dir string) (says string, err error) {
	above, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for errors.Is(missing(above), fs.ErrNotExist) && above != filepath.Dir(above) {
		above = filepath.Dir(above)
	}
	if st, err := os.Stat(above); err != nil {
		return "", err
	} else if !st.IsDir() {
		return "", fmt.Errorf("%s is not a folder", above)
	}
	if err := writable(above); err != nil {
		return "", err
	}
	return "is not there yet, and can be made", nil
}

func missing(path string) error {
	_, err := os.Stat(path)
	return err
}

func writable(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return fmt.Errorf("%s cannot be written: %w", dir, err)
	}
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	if free := uint64(st.Bavail) * uint64(st.Bsize); free < enoughSpace {
		return fmt.Errorf("%d MiB are free in %s, and %d are needed", free>>20, dir, enoughSpace>>20)
	}
	return nil
}

// tryCluster asks each endpoint of the etcd block.
func (a *app) tryCluster(ctx context.Context, l *loaded) []world.Trial {
	out := make([]world.Trial, len(l.Etcd.Endpoints))
	var g errgroup.Group
	for i, e := range l.Etcd.Endpoints {
		g.Go(func() error {
			out[i] = a.tryEndpoint(ctx, l, e)
			return nil
		})
	}
	_ = g.Wait() // the functions return no error
	down := 0
	for _, t := range out {
		if t.Wrong != "" {
			down++
		}
	}
	for i := range out {
		if down == len(out) && down > 0 {
			out[i].Broken, out[i].Mend = true, "Nothing is run without the store."
		}
	}
	return out
}

// tryEndpoint reads from the store by one endpoint alone.
func (a *app) tryEndpoint(ctx context.Context, l *loaded, endpoint string) world.Trial {
	t := world.Trial{Block: "etcd endpoint", Source: world.Source{Kind: "etcd", Query: endpoint}, Range: l.Etcd.Range, Says: "answers"}
	alone, block := *l.Loaded, *l.Etcd
	block.Endpoints, alone.Etcd = []string{endpoint}, &block
	s, err := a.openStore(ctx, &alone)
	if err != nil {
		t.Says, t.Wrong, t.Mend = spoken(err), "Store not within reach", "As long as others answer, they serve in its place."
		return t
	}
	defer s.Close()
	if err := s.CheckSpace(ctx); errors.Is(err, etcd.ErrNearlyFull) {
		t.Says, t.Wrong, t.Mend = spoken(err), "Store nearly full", "No run begins as long as it is."
	}
	return t
}
