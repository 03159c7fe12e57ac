package journal

import (
	"context"
	"iter"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Follow yields the events of a run after a number (0: all), first those that
// are there and then each as it is written, until ctx ends or the caller has
// enough. The end of ctx is not yielded as an error. Of an archived run nothing more comes: it ends.
func (j *Journal) Follow(ctx context.Context, id string, after int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if j.moved(ctx, id) {
			j.archivedEvents(id, after, yield)
			return
		}
		for ctx.Err() == nil {
			last, revision, more := j.read(ctx, id, after, quiet(ctx, yield))
			if !more {
				return
			}
			after, more = j.watch(ctx, id, last, revision+1, yield)
			if !more {
				return
			}
		}
	}
}

// quiet keeps the error of a context that ended from the caller.
func quiet(ctx context.Context, yield func(Event, error) bool) func(Event, error) bool {
	return func(ev Event, err error) bool {
		if err != nil && ctx.Err() != nil {
			return false
		}
		return yield(ev, err)
	}
}

// watch yields what is written from a revision on. It returns when the watch
// breaks, with the last number seen, and whether the caller wants more. The watch
// itself waits for a lost etcd without end; so it is asked now and then whether it is there.
func (j *Journal) watch(ctx context.Context, id string, after, revision int64, yield func(Event, error) bool) (int64, bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	written := j.cli.Watch(clientv3.WithRequireLeader(ctx), j.events(id), clientv3.WithPrefix(), clientv3.WithRev(revision), clientv3.WithFilterDelete())
	probe := time.NewTicker(requestTimeout)
	defer probe.Stop()
	for {
		select {
		case resp, ok := <-written:
			if !ok {
				return after, true
			}
			for _, we := range resp.Events {
				ev, err := decodeEvent(we.Kv)
				if !yield(ev, err) || err != nil {
					return after, false
				}
				after = max(after, ev.Seq)
			}
		case <-probe.C:
			if _, err := j.Head(ctx, id); err != nil && ctx.Err() == nil {
				yield(Event{}, err)
				return after, false
			}
		}
	}
}
