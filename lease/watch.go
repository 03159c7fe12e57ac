package lease

import (
	"context"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// watcher sees locks and owners' keys being deleted by others, which a renewal of the lease does
// not: an operator breaks a lock by its key. One watch serves all that is held.
// It is a courtesy: what it misses, Arm and Finish find by comparing.
type watcher struct {
	l   *Locker
	ctx context.Context //nolint:containedctx // Of the Locker's life.

	mu      sync.Mutex
	started bool
	held    map[string]map[*hold]bool // By key of the lock.
}

// add begins to watch over the locks of h. The first call starts the watch, just after h was acquired.
func (w *watcher) add(h *hold) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range h.locks {
		if w.held[key] == nil {
			w.held[key] = map[*hold]bool{}
		}
		w.held[key][h] = true
	}
	if !w.started {
		w.started = w.l.spawn(func() { w.run(h.fence + 1) })
	}
}

func (w *watcher) remove(h *hold) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range h.locks {
		delete(w.held[key], h)
		if len(w.held[key]) == 0 {
			delete(w.held, key)
		}
	}
}

func (w *watcher) run(from int64) {
	locks := keyRange{string(w.l.keys) + "k/", clientv3.GetPrefixRangeEnd(string(w.l.keys) + "run/")} // Owners of runs too.
	for w.ctx.Err() == nil {
		events := w.l.cli.Watch(w.ctx, locks.from, clientv3.WithRange(locks.to), clientv3.WithRev(from), clientv3.WithFilterPut())
		for resp := range events {
			from = max(from, resp.Header.Revision+1, resp.CompactRevision)
			for _, ev := range resp.Events {
				w.deleted(string(ev.Kv.Key), ev.Kv.ModRevision)
			}
		}
		select { // Compacted or the client is closed: no hurry.
		case <-w.ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (w *watcher) deleted(key string, revision int64) {
	if Without(Deadline) {
		return
	}
	w.mu.Lock()
	var lost []*hold
	for h := range w.held[key] {
		if revision > h.fence {
			lost = append(lost, h)
		}
	}
	w.mu.Unlock()
	for _, h := range lost {
		h.lose(ErrBroken)
	}
}

// holderOf returns what of ours has a key that was created at the revision, nil where it is not ours.
func (w *watcher) holderOf(key string, revision int64) *hold {
	w.mu.Lock()
	defer w.mu.Unlock()
	for h := range w.held[key] {
		if h.fence == revision {
			return h
		}
	}
	return nil
}

func (w *watcher) loseAll(cause error) {
	w.mu.Lock()
	var all []*hold
	for _, hs := range w.held {
		for h := range hs {
			all = append(all, h)
		}
	}
	w.mu.Unlock()
	for _, h := range all {
		h.lose(cause)
	}
}
