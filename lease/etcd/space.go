package etcd

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Space watches how full etcd is while a run is under way, off the path of its
// requests. It is safe for concurrent use.
type Space struct {
	store *Store
	low   atomic.Bool
	end   context.CancelFunc
	looks sync.WaitGroup
}

// WatchSpace begins to look how full etcd is, at once and then every so often, until Close.
func (s *Store) WatchSpace(every time.Duration) *Space {
	ctx, end := context.WithCancel(context.Background())
	w := &Space{store: s, end: end}
	w.looks.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			w.look(ctx, every)
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
	return w
}

func (w *Space) look(ctx context.Context, bound time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	if q, err := w.store.Quota(ctx); err == nil { // Else what was known stands.
		w.low.Store(q.NearlyFull())
	}
}

// Low tells, without asking etcd, whether it was nearly full when last looked at.
func (w *Space) Low() bool { return w.low.Load() }

// Check asks etcd whether it is nearly full and tries to mend that, see
// MakeRoom. It returns an error that is ErrNearlyFull where it still is. That etcd
// does not answer is no such thing: whoever goes on to write is told. No action
// of this process may be under way.
func (w *Space) Check(ctx context.Context) error {
	err := w.store.CheckSpace(ctx)
	if errors.Is(err, ErrNearlyFull) && w.store.MakeRoom(ctx) == nil {
		err = w.store.CheckSpace(ctx)
	}
	if !errors.Is(err, ErrNearlyFull) {
		w.low.Store(false)
		return nil
	}
	w.low.Store(true)
	return err
}

// Close ends the looking.
func (w *Space) Close() {
	w.end()
	w.looks.Wait()
}
