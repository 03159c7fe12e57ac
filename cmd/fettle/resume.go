package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/lease"
)

func newResumeCommand(a *app) *cobra.Command {
	var f runFlags
	var path string
	cmd := &cobra.Command{
		Use:   "resume RUN",
		Short: "Go on with a run that waits, or whose process was killed",
		Long: "Goes on with a run that stopped to wait (exit status 4), or whose process ended without a word. RUN is its id, the\n" +
			"beginning of one, or \"last\".\n\n" +
			"The world is observed afresh and planned from; what the run has used of its policy's limits stays used, and the time\n" +
			"in which nobody drove it does not count. An action that its former process left in doubt is taken over first: its\n" +
			"fence is raised, what it did is observed, and nothing is done twice. An approval stands for that very plan, unless the\n" +
			"model has changed. Of two processes that resume one run, one wins; the other says who drives it.\n\n" +
			"Exit status: as of `fettle run`.",
		Example:     "  fettle resume last\n  fettle resume 01J9ZC --approve --model examples/fleet",
		Args:        cobra.ExactArgs(1),
		Annotations: map[string]string{guarded: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("-o", f.format, "text", "json", "jsonl"); err != nil {
				return err
			}
			return a.resume(cmd.Context(), path, args[0], f)
		},
	}
	modelFlag(cmd, &path)
	fl := cmd.Flags()
	fl.BoolVar(&f.approve, "approve", false, "answer yes beforehand to every plan from now on")
	fl.BoolVar(&f.step, "step", false, "ask before each step too")
	fl.StringVarP(&f.format, "output", "o", "text", "text, json (the end alone) or jsonl (every event from now on)")
	a.stateDirFlag(cmd)
	a.leaseTTLFlag(cmd)
	return cmd
}

func (a *app) resume(ctx context.Context, path, name string, f runFlags) error {
	l, err := a.load(path)
	if err != nil {
		return err
	}
	defer l.world.Close()
	if err := a.runnable(l); err != nil {
		return err
	}
	s, err := a.existingStore(ctx, l.Loaded)
	if err != nil {
		return err
	}
	defer s.Close()
	id, err := findRun(ctx, s, name)
	if err != nil {
		return err
	}
	head, err := headOf(ctx, s, id)
	if err != nil {
		return err
	}
	c, err := a.runConfig(l, f, head.Goal)
	if err != nil {
		return fmt.Errorf("run %s: %w", id, err)
	}
	locker := a.locker(s)
	defer locker.Close()
	return a.drive(ctx, l, locker, s, f, c, id, func(ctx context.Context, c executor.Config) (executor.Ended, error) {
		end, err := executor.Resume(ctx, c, s.journal, id)
		if waited, werr := a.awaitDead(ctx, c.Locker, id, err); werr != nil || !waited {
			return end, errors.Join(err, werr)
		}
		return executor.Resume(ctx, c, s.journal, id)
	})
}

// deadWait is how much longer than its own leases those of a process that has
// ended are waited for: it may have been started with another --lease-ttl.
const deadWait = 30 * time.Second

// awaitDead waits, where a process of this host that has ended still counts as
// the one that drives the run, until it does so no more.
func (a *app) awaitDead(ctx context.Context, locker *lease.Locker, id string, err error) (bool, error) {
	var owned *lease.OwnedError
	if !errors.As(err, &owned) || !deadHere(owned) {
		return false, nil
	}
	ttl, _ := locker.Times()
	fmt.Fprintf(a.err, "process %d, which drove the run, has ended; waiting until its right to do so expires\n", owned.Owner.PID)
	ctx, cancel := context.WithTimeout(ctx, 2*ttl+deadWait)
	defer cancel()
	return true, locker.AwaitUnclaimed(ctx, id)
}

// deadHere tells whether the owner was a process of this host that has ended,
// although its right to drive the run has not expired yet.
func deadHere(o *lease.OwnedError) bool {
	host, err := os.Hostname()
	return err == nil && o.Owner.Host == host && dead(o.Owner.PID)
}

// dead tells whether a process of this host has ended, be it reaped or not.
func dead(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(after, "Z")
}
