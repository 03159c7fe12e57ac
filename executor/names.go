package executor

import (
	"context"
	"fmt"
	"slices"

	"github.com/fettleops/fettle/lease"
)

// partNames deals with the named leases at the end of the run: they end with
// it. Where it waits for an approval that expires they are kept until then,
// for the run alone, which takes them back when it is gone on with.
func (r *run) partNames(ctx context.Context, e *Ended) {
	ctx, cancel := r.recording(ctx)
	defer cancel()
	id := r.Journal.ID()
	if lasts := r.Policy.ApprovalExpires; e.Status == WaitingStatus && e.Reason == approvalWanted && lasts.Set {
		until := r.Now().Add(lasts.Value).UTC()
		if kept, err := r.Locker.Keep(ctx, id, until); err == nil {
			if e.Kept = kept; len(kept) > 0 {
				e.KeptUntil = &until
			}
			return
		}
	}
	e.Released = r.heldNames(ctx)
	_ = r.Locker.ReleaseAllNamed(ctx, id) // What cannot be given back expires.
}

// heldNames lists the named leases of the run. What cannot be read is not listed.
func (r *run) heldNames(ctx context.Context) []string {
	all, err := r.Locker.AllHolders(ctx)
	if err != nil {
		return nil
	}
	var out []string
	for _, h := range all {
		if h.Named && h.Owner.Run == r.Journal.ID() {
			out = append(out, h.Resource.String())
		}
	}
	return out
}

func namesOf(named []*lease.Named) []string {
	var out []string
	for _, n := range named {
		out = append(out, n.Name())
	}
	return out
}

// others drops the holders that are this run itself.
func (r *run) others(holders []lease.Holder) []lease.Holder {
	return slices.DeleteFunc(holders, func(h lease.Holder) bool { return h.Owner.Run == r.Journal.ID() })
}

// awaitFormer waits until the locks of the process that drove the run before
// have expired: they are the run's own, so its patience with others does not bound it.
func (r *run) awaitFormer(ctx context.Context) error {
	ctx, cancel := r.bounded(ctx)
	defer cancel()
	for told := false; ; told = true {
		all, err := r.Locker.AllHolders(ctx)
		if err != nil {
			return err
		}
		var mine []lease.Resource
		for _, h := range all {
			if h.Owner.Run == r.Journal.ID() && !h.Named {
				mine = append(mine, lease.Resource{Fluent: h.Resource.Fluent, Instance: h.Resource.Instance, Exclusive: true})
			}
		}
		if len(mine) == 0 {
			return nil
		}
		if !told {
			why := fmt.Sprintf("the process that drove this run before still has %s, until that expires", mine[0])
			if err := r.emit(ctx, StepWaiting, Waiting{StepRef: StepRef{Round: r.round}, Busy: why}); err != nil {
				return err
			}
		}
		if err := r.breathe(ctx, mine); err != nil {
			return err
		}
	}
}
