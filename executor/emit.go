package executor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fettleops/fettle/journal"
)

// recordTimeout bounds the recording of one event or outcome. Once that has
// failed, what is still tried is bounded by lastTimeout, so that a run which has
// lost its store ends soon.
const (
	recordTimeout = 15 * time.Second
	lastTimeout   = time.Second
)

// silence is how long the store may take to answer before somebody is told.
const silence = 2 * time.Second

// recording is the context in which what happened is recorded: it does not
// follow the run's own cancellation.
func recording(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
}

// recording is the one of a run, whose patience with the store is bounded in all.
func (r *run) recording(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.mute {
		return context.WithTimeout(context.WithoutCancel(ctx), lastTimeout)
	}
	ctx, cancel := recording(ctx)
	if r.OnSilence == nil {
		return ctx, cancel
	}
	told := time.AfterFunc(silence, func() { r.OnSilence(recordTimeout) })
	return ctx, func() {
		told.Stop()
		cancel()
	}
}

// emit appends an event to the journal, cancelled or not. Once another process
// drives the run nothing is written of it here.
func (r *run) emit(ctx context.Context, kind string, data any, blobs ...journal.Blob) error {
	ctx, cancel := r.recording(ctx)
	defer cancel()
	if ok, err := r.drives(ctx); err != nil {
		return r.unrecorded(err)
	} else if !ok {
		return nil
	}
	e, err := r.Journal.Ride(kind, data, blobs...)
	if err == nil {
		err = r.write(ctx, e)
	}
	switch {
	case r.gone:
		return nil
	case errors.Is(err, journal.ErrNotWriter):
		r.handedOver(ctx, r.events())
		return nil
	case err != nil:
		return r.unrecorded(err)
	}
	r.recorded(e)
	return nil
}

// write writes an event as the process that drives the run. Where it turns out
// that the right was lost, or another has written that event, it claims the run first.
func (r *run) write(ctx context.Context, e journal.Entry) error {
	tctx, cancel := context.WithTimeout(ctx, beliefTimeout)
	defer cancel()
	resp, err := r.Beliefs.Client.Txn(tctx).If(append(e.Cmps(), r.owner.Cmp())...).Then(e.Ops()...).Commit()
	if err == nil && resp.Succeeded {
		return nil
	}
	if err == nil {
		if ok, err := r.reclaim(ctx); !ok || err != nil {
			return err
		}
	}
	return r.Journal.Write(ctx, e) // It looks first, where the answer was lost.
}

// unrecorded notes that the journal cannot be written: nothing is done after that.
func (r *run) unrecorded(err error) error {
	r.mute = true
	return fmt.Errorf("the journal cannot be written, so nothing more is done: %w", err)
}

// recorded tells whoever watches of an event that is in the journal.
func (r *run) recorded(e journal.Entry) {
	r.rode = append(r.rode, e)
	r.rode = r.rode[max(0, len(r.rode)-rodeLately):]
	if r.OnEvent != nil && !r.gone {
		r.OnEvent(e.Event)
	}
}

// unwritten tells whoever watches of an event that could not be recorded any more.
func (r *run) unwritten(e journal.Entry) {
	if r.OnUnwritten != nil && !r.gone {
		r.OnUnwritten(e.Event)
	}
}
