package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/world"
)

// drive carries a run out and shows it, and answers with its exit code. A
// signal stops it before its next action, a second one cuts the action in flight.
func (a *app) drive(
	ctx context.Context, l *loaded, s *store, f runFlags, c executor.Config, id string,
	how func(context.Context, executor.Config) (executor.Ended, error),
) error {
	locker := a.locker(s)
	defer locker.Close()
	l.world.UseLeases(world.NewLeases(locker, id))
	c.Locker, c.Beliefs = locker, executor.Beliefs{Client: s.Client(), Keys: locker.Keys()}
	c.Stop = ctx.Done()
	hard, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { a.secondSignal(hard, cancel) })()
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

// secondSignal cancels the action in flight when a second signal comes.
func (a *app) secondSignal(hard context.Context, cancel context.CancelFunc) {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(ch)
	fmt.Fprintln(a.err, "stopping: the action in flight is finished and recorded first; once more to cancel it")
	select {
	case <-ch:
		cancel()
	case <-hard.Done():
	}
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
