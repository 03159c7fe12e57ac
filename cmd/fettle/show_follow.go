package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/lease/etcd"
)

// follower shows a run as it goes on.
type follower struct {
	*app
	name, id string
	format   string
	to       shower
	seq      int64 // of the last event shown
}

// followRun shows a run until it ends or waits, or until nobody drives it.
// Where the embedded etcd goes with the process that hosted it, as that of a run
// that is killed, the store is opened again.
func (a *app) followRun(ctx context.Context, path, name, format string) error {
	f := &follower{app: a, name: name, format: format}
	for began := time.Now(); ; {
		seen := f.seq
		err := a.withStore(ctx, path, func(s *store) error { return f.follow(ctx, s) })
		if f.seq > seen {
			began = time.Now()
		}
		if !etcd.Interrupted(err) || ctx.Err() != nil || time.Since(began) > reopenFor {
			return err
		}
	}
}

// reopenFor is how long a store that went away is opened again without anything
// new to show.
const reopenFor = 15 * time.Second

func (f *follower) follow(ctx context.Context, s *store) error {
	if f.id == "" {
		id, err := findRun(ctx, s, f.name)
		if err != nil {
			return err
		}
		f.id, f.to = id, f.shower(id, f.format)
	}
	err := f.events(ctx, s)
	var gone *undrivenError
	switch {
	case errors.As(err, &gone):
		if err := f.to.end(); err != nil {
			return err
		}
		fmt.Fprintln(f.err, gone)
		return answer(exitWaiting)
	case err != nil:
		return err
	}
	return f.to.end()
}

// events shows what is there and what comes, until the run's end.
func (f *follower) events(ctx context.Context, s *store) error {
	fctx, stop := context.WithCancelCause(ctx)
	var beside sync.WaitGroup
	defer beside.Wait()
	defer stop(nil)
	beside.Go(func() { stop(f.awaitUndriven(fctx, s)) })
	beside.Go(func() { stop(f.awaitOutage(fctx, s)) })
	ended := false
	for e, err := range s.journal.Follow(fctx, f.id, f.seq) {
		if err != nil {
			return err
		}
		if err := f.show(e); err != nil {
			return err
		}
		if ended = executor.Resting(ended, e); ended && last(ctx, s, f.id, e.Seq) {
			return nil
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	// The watch may have been cut short of what was written last.
	ended = false
	err := each(s.journal.Events(ctx, f.id), func(e journal.Event) error {
		ended = executor.Resting(ended, e)
		return f.show(e)
	})
	if err != nil || ended {
		return err
	}
	return context.Cause(fctx)
}

// show shows an event that was not shown before.
func (f *follower) show(e journal.Event) error {
	if e.Seq <= f.seq {
		return nil
	}
	f.seq = e.Seq
	return f.to.event(e)
}

// undrivenError says that a run has not ended and that no process drives it.
type undrivenError struct{ head executor.Head }

func (e *undrivenError) Error() string {
	return fmt.Sprintf("run %s has not ended, and nobody drives it: pid %d on %s did, and is gone; `fettle resume %s` goes on with it",
		e.head.Run, e.head.PID, e.head.Host, e.head.Run)
}

// outageEvery is how often it is asked whether the store still answers.
const outageEvery = time.Second

// awaitOutage returns an error once the store does not answer: a watch waits for
// one that is gone without a word. The end of ctx is no outage.
func (f *follower) awaitOutage(ctx context.Context, s *store) error {
	tick := time.NewTicker(outageEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if _, err := s.journal.Head(ctx, f.id); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// claimGrace is how long a run may be without a process that drives it: between
// its head and its claim, and where a process claims it anew.
const claimGrace = time.Second

// awaitUndriven returns an undrivenError once nobody drives the run, by the key of its
// owner, although it has not ended. The end of ctx is no such thing.
func (f *follower) awaitUndriven(ctx context.Context, s *store) error {
	locker := f.locker(s)
	defer locker.Close()
	for missing := false; ; {
		owner, err := locker.RunOwnerOf(ctx, f.id)
		if err != nil {
			return err
		}
		head, err := headOf(ctx, s, f.id)
		switch {
		case err != nil:
			return err
		case owner != nil && !deadHere(owner):
			missing = false
			look, cancel := context.WithTimeout(ctx, outageEvery) // One that died here is seen before its claim expires.
			if err = locker.AwaitUnclaimed(look, f.id); look.Err() != nil {
				err = nil
			}
			cancel()
		case head.Status != executor.Running:
			<-ctx.Done() // Its last event tells.
			return nil
		case missing || owner != nil:
			return &undrivenError{head}
		default:
			missing = true
			wait, cancel := context.WithTimeout(ctx, claimGrace)
			<-wait.Done()
			cancel()
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// last tells whether no event of the run comes after a number, as far as can be read.
func last(ctx context.Context, s *store, id string, seq int64) bool {
	for e, err := range s.journal.Events(ctx, id) {
		if err == nil && e.Seq > seq {
			return false
		}
	}
	return true
}
