package executor

import (
	"context"
	"fmt"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/policy"
)

// Stalled is what a run was that goes on in the process which drove it before:
// that one, or etcd, stood still for longer than its leases last.
const Stalled = "stalled"

// regain goes on with a run after this process lost the right to drive it, where
// it is still its own: it takes over from itself what it left in doubt, and plans
// anew. Where another process drove the run meanwhile, that one has it for good.
func (r *run) regain(ctx context.Context) (*Ended, error) {
	rctx, cancel := recording(ctx) // Each of its records has its own, which tells of silence.
	defer cancel()
	mine, err := r.isMine(rctx)
	if err != nil {
		return nil, r.unrecorded(err)
	}
	if !mine {
		return r.lostRun(), nil
	}
	if r.open {
		f := &failure{kind: "lease", infra: true, key: policy.NewFailureKey(LeaseLost, ""), reason: r.lostRun().Message}
		if _, err := r.endRound(rctx, f, 0); err != nil {
			return nil, err
		}
	}
	names, err := r.takeBack(rctx)
	if err != nil {
		return nil, r.unrecorded(err)
	}
	ev := Resumed{
		ModelHash: r.ModelHash, Version: r.Version, Was: Stalled, UsedS: r.Now().Sub(r.started).Seconds(), InDoubt: r.doubts(), Adopted: namesOf(names),
	}
	ev.Host, ev.PID = identity()
	if err := r.emit(rctx, RunResumed, ev); err != nil {
		return nil, err
	}
	if r.gone {
		return r.lostRun(), nil
	}
	r.hands++
	r.lost = false
	return nil, nil
}

// isMine tells whether this process has the right to drive the run again, and
// nobody else had it meanwhile.
func (r *run) isMine(ctx context.Context) (bool, error) {
	if ok, err := r.drives(ctx); !ok || err != nil {
		return false, err
	}
	j := r.events()
	events, err := eventsOf(ctx, j, r.Journal.ID())
	if err != nil {
		return false, err
	}
	if hands(events) == r.hands {
		return true, nil
	}
	r.handedOver(ctx, j)
	return false, nil
}

// handedOver notes that another process had the run meanwhile, and what became of it.
func (r *run) handedOver(ctx context.Context, j *journal.Journal) {
	switch h, err := readHead(ctx, j, r.Journal.ID()); {
	case err != nil:
		r.taken("another process went on with it")
	case h.over():
		r.taken("it has ended meanwhile: " + h.ending())
	default:
		r.taken(fmt.Sprintf("pid %d on %s went on with it", h.PID, h.Host))
	}
}

// events is the journal that the run is written in, to be read.
func (r *run) events() *journal.Journal {
	return journal.Open(r.Beliefs.Client, string(r.Locker.Keys()))
}

// hands counts how often the events tell that a process went on with the run, or ended it.
func hands(events []journal.Event) int {
	n := 0
	for _, e := range events {
		if e.Kind == RunResumed || e.Kind == RunEnded {
			n++
		}
	}
	return n
}
