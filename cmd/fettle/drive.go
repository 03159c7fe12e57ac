package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/lease"
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
	hard, cancel := a.hardContext(ctx)
	defer cancel()
	show := newRenderer(a.out, id)
	c.OnEvent = inOrder(c.OnEvent, a.onEvent(f.format, show))
	c.Ask, c.AskSteps = a.asker(ctx, f, show), f.step
	end, err := how(hard, c)
	if err != nil {
		return err
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

// runEnd is how a run ended, as JSON.
type runEnd struct {
	Run string `json:"run"`
	executor.Ended
}

// hardContext returns a context that the first signal, which ends ctx, leaves
// alone: the action in flight is finished and recorded. The second cuts it.
func (a *app) hardContext(ctx context.Context) (context.Context, context.CancelFunc) {
	hard, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ch := make(chan os.Signal, 2)
	signal.Notify(ch, stopSignals...)
	go func() {
		defer signal.Stop(ch)
		select {
		case <-ch:
		case <-hard.Done():
			return
		}
		if isTerminal(a.err) {
			fmt.Fprintln(a.err) // Behind the ^C.
		}
		fmt.Fprintln(a.err, "stopping: an action in flight is finished and recorded first; once more to cut it")
		select {
		case <-ch:
			cancel()
		case <-hard.Done():
		}
	}()
	return hard, cancel
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
