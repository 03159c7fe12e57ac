package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/lease/etcd"
	"github.com/fettleops/fettle/world"
)

// drive carries a run out and shows it, and answers with its exit code. A
// signal stops it before its next action, a second one cuts the action in flight.
func (a *app) drive(
	ctx context.Context, l *loaded, locker *lease.Locker, s *store, f runFlags, c executor.Config, id string,
	how func(context.Context, executor.Config) (executor.Ended, error),
) error {
	l.world.UseLeases(world.NewLeases(locker, id))
	c.Locker, c.Beliefs = locker, executor.Beliefs{Client: s.Client(), Keys: locker.Keys()}
	c.Stop = ctx.Done()
	if len(l.Planners) > 0 {
		var err error
		if l.lessons, err = executor.ApprovedLessons(ctx, s.Client(), s.scope, c.Universe, c.GoalName); err != nil {
			return fmt.Errorf("read the lessons: %w", err)
		}
	}
	space := s.WatchSpace(spaceEvery)
	defer space.Close()
	c.Space = space
	var flying atomic.Bool
	hard, cancel := a.hardContext(ctx, &flying)
	defer cancel()
	show := newRenderer(a.out, id)
	c.OnEvent = inOrder(c.OnEvent, inFlight(&flying), a.onEvent(f.format, show))
	if f.format == "text" {
		c.OnUnwritten = a.onEvent(f.format, show)
	}
	told, err := a.notified(ctx, l, s, &c, id)
	if err != nil {
		return err
	}
	defer told() // However it ends.
	c.OnSilence = a.silent
	a.asking(ctx, f, &c)
	end, err := how(hard, c)
	if err != nil {
		return s.broken(id, end, err)
	}
	if end.Reason == executor.LeaseLost { // The journal does not tell it where another has the run by now.
		fmt.Fprintf(a.err, "run %s: %s\n", id, end.Message)
	}
	if f.format == "json" {
		if err := writeJSON(a.out, runEnd{id, end}); err != nil {
			return err
		}
	}
	return answer(exitOf(end))
}

// broken adds to the error of a run that lost its store: since when, what may be
// under way still, and what to do.
func (s *store) broken(id string, end executor.Ended, err error) error {
	since, why := s.Outage()
	if since.IsZero() {
		return err
	}
	more := []string{fmt.Sprintf("etcd has not answered since %s: %s", since.Format(time.TimeOnly), strings.TrimSuffix(why, "; "+etcd.StartAgain))}
	for _, action := range end.InDoubt {
		more = append(more, "in doubt: "+action)
	}
	if len(end.InDoubt) == 0 {
		more = append(more, "no action was under way")
	}
	more = append(more, "once etcd answers again, go on with `fettle resume "+id+"`: it looks at what was done first")
	return fmt.Errorf("%w\n  %s", err, strings.Join(more, "\n  "))
}

// runEnd is how a run ended, as JSON.
type runEnd struct {
	Run string `json:"run"`
	executor.Ended
}

// hardContext returns a context that the first signal, which ends ctx, leaves
// alone: the action in flight is finished and recorded. The second cuts it, and
// so does SIGQUIT at once.
func (a *app) hardContext(ctx context.Context, flying *atomic.Bool) (context.Context, context.CancelFunc) {
	hard, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ch := make(chan os.Signal, 2)
	signal.Notify(ch, stopSignals...)
	go func() {
		defer signal.Stop(ch)
		for told := false; ; told = true {
			select {
			case s := <-ch:
				if cut := told || s == syscall.SIGQUIT; cut {
					cancel()
				}
				if !told {
					a.stopping(s, flying.Load())
				}
			case <-hard.Done():
				return
			}
		}
	}()
	return hard, cancel
}

// stopping says what a signal to stop does.
func (a *app) stopping(s os.Signal, flying bool) {
	if isTerminal(a.err) {
		fmt.Fprintln(a.err) // Behind the ^C.
	}
	switch {
	case !flying:
		fmt.Fprintln(a.err, "stopping: no action is under way")
	case s == syscall.SIGQUIT:
		fmt.Fprintln(a.err, "stopping: the action in flight is cut off, and whether it took effect is unknown")
	default:
		fmt.Fprintln(a.err, "stopping: the action in flight is finished and recorded first; once more to cut it")
	}
}

// inFlight follows whether an action is under way.
func inFlight(flying *atomic.Bool) func(journal.Event) {
	return func(e journal.Event) {
		switch e.Kind {
		case executor.StepArmed:
			flying.Store(true)
		case executor.StepFinished, executor.StepRefused:
			flying.Store(false)
		}
	}
}

// silent says that etcd has not answered for a while.
func (a *app) silent(most time.Duration) {
	if isTerminal(a.err) {
		fmt.Fprintln(a.err) // Behind what is under way.
	}
	fmt.Fprintf(a.err, "etcd does not answer; it is waited for, for at most %s\n", most)
}

func (a *app) onEvent(format string, show *renderer) func(journal.Event) {
	switch format {
	case "text":
		return func(e journal.Event) {
			if err := show.event(e); err != nil {
				fmt.Fprintln(a.err, "Error:", err)
			}
		}
	case "jsonl":
		enc := json.NewEncoder(a.out)
		return func(e journal.Event) {
			if err := enc.Encode(e); err != nil {
				fmt.Fprintln(a.err, "Error:", err)
			}
		}
	}
	return nil
}

// exitOf translates the end of a run into an exit code.
func exitOf(e executor.Ended) int {
	switch e.Status {
	case executor.Succeeded:
		return exitDone
	case executor.WaitingStatus:
		return exitWaiting
	case executor.Escalated, executor.Cancelled:
		return exitEscalated
	}
	return exitFailed
}
