package executor

import (
	"context"
	"fmt"
	"time"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/world"
)

// Observer reads fluents from the world: a reading for each atom asked for.
type Observer interface {
	// Observe makes unknown what was sampled before notBefore, or earlier than
	// that by more than the age that the model allows.
	Observe(ctx context.Context, u *model.Universe, refs []model.Ref, notBefore time.Time) []world.Reading
	// Confirm makes unknown what was not sampled after the moment, whatever age
	// the model allows.
	Confirm(ctx context.Context, u *model.Universe, refs []model.Ref, after time.Time) []world.Reading
}

// lookFor reads the references once.
type lookFor func(ctx context.Context, refs []model.Ref) []world.Reading

// patiently looks again for what is unknown only because its last sample is too
// old: a source that samples by itself has to come round first. It gives up
// after the time that effects may take to be seen.
func patiently(ctx context.Context, set Settings, refs []model.Ref, look lookFor) []world.Reading {
	readings := look(ctx, refs)
	old := tooOld(readings)
	if len(old) == 0 {
		return readings
	}
	ctx, cancel := context.WithTimeout(ctx, set.Settle)
	defer cancel()
	for len(old) > 0 && pause(ctx, set.Interval) == nil {
		again := make([]model.Ref, len(old))
		for i, n := range old {
			again[i] = model.Ref(readings[n].Atom)
		}
		newer := look(ctx, again)
		if ctx.Err() != nil { // A look that was cut tells less than the one before.
			break
		}
		for i, n := range old {
			readings[n] = newer[i]
		}
		old = tooOld(readings)
	}
	return readings
}

// tooOld lists the readings for which a newer sample may come.
func tooOld(readings []world.Reading) []int {
	var out []int
	for i, rd := range readings {
		if rd.TooOld {
			out = append(out, i)
		}
	}
	return out
}

// guarding reads what an action is guarded by, under its lease.
func (r *run) guarding(ctx context.Context, set Settings, refs []model.Ref) []world.Reading {
	since := r.Now()
	return patiently(ctx, set, refs, func(ctx context.Context, refs []model.Ref) []world.Reading {
		return r.Observer.Observe(ctx, r.u, refs, since)
	})
}

// confirming reads what an action has done that is over: once its fence is
// raised, or it has ended, only later samples tell.
func (r *run) confirming(ctx context.Context, set Settings, refs []model.Ref) []world.Reading {
	since := r.Now()
	return patiently(ctx, set, refs, func(ctx context.Context, refs []model.Ref) []world.Reading {
		return r.Observer.Confirm(ctx, r.u, refs, since)
	})
}

// looking reads what a round starts from. What a source sampled before this
// run's last action ended tells nothing of what that has done.
func (r *run) looking(ctx context.Context, refs []model.Ref, began time.Time) []world.Reading {
	return patiently(ctx, r.longest(), refs, func(ctx context.Context, refs []model.Ref) []world.Reading {
		readings := r.Observer.Observe(ctx, r.u, refs, latest(r.lastActed, began))
		for i := range readings {
			rd := &readings[i]
			if rd.Value.Known() && !rd.Sampled.IsZero() && rd.Sampled.Before(r.lastActed) {
				rd.Value, rd.TooOld = model.Value{}, true
				rd.Err = fmt.Sprintf("sampled %s before the last action ended", r.lastActed.Sub(rd.Sampled).Round(time.Millisecond))
			}
		}
		return readings
	})
}

// longest are the settings of the most patient action.
func (r *run) longest() Settings {
	var out Settings
	for _, s := range r.Settings {
		out.Settle = max(out.Settle, s.Settle)
		if out.Interval == 0 || s.Interval < out.Interval {
			out.Interval = s.Interval
		}
	}
	return out
}
