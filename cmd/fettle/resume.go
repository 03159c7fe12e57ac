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
			"model has changed: one that was approved meanwhile (`fettle approve`) is carried out without planning anew, if it is\n" +
			"still valid from what is observed. Of two processes that resume one run, one wins; the other says who drives it.\n\n" +
			"A run that was given a plan (--plan) goes on with what is left of it: the longest end of it that is valid from what is\n" +
			"observed. --plan gives it another. With --metrics its metrics are served as by `fettle run`, from its beginning on.\n\n" +
			"Exit status: as of `fettle run`.",
		Example:     "  fettle resume last\n  fettle resume 01J9ZC --approve --metrics 127.0.0.1:9100 --model examples/fleet",
		Args:        cobra.ExactArgs(1),
		Annotations: map[string]string{guarded: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return a.resume(cmd.Context(), path, args[0], f)
		},
	}
	modelFlag(cmd, &path)
	fl := cmd.Flags()
	fl.StringVar(&f.plan, "plan", "", "carry out what is left of the plan in this file (text or JSON, - for stdin), not of the one the run was given")
	a.drivingFlags(cmd, &f, "from now on")
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
	if l.recorder, err = a.recorder(l, f.record); err != nil {
		return err
	}
	m, err := a.serveMetrics(f.metrics)
	if err != nil {
		return err
	}
	defer m.close(ctx, a) // After the store is closed, as for run.
	s, err := a.existingStore(ctx, l.Loaded)
	if err != nil {
		return err
	}
	defer s.Close()
	id, err := findRun(ctx, s, name)
	if err != nil {
		return err
	}
	c, err := a.resumeConfig(ctx, l, s, id, f.plan)
	if err != nil {
		return fmt.Errorf("run %s: %w", id, err)
	}
	locker := a.locker(s)
	defer locker.Close()
	if err := s.makeRoom(ctx, locker, l.policy, time.Now()); err != nil {
		return err
	}
	if err := m.catchUp(s.journal.Events(ctx, id)); err != nil {
		return err
	}
	c.OnEvent = m.event
	return a.drive(ctx, l, locker, s, f, c, id, func(ctx context.Context, c executor.Config) (executor.Ended, error) {
		end, err := executor.Resume(ctx, c, s.journal, id)
		if waited, werr := a.awaitDead(ctx, c.Locker, id, err); werr != nil || !waited {
			return end, errors.Join(err, werr)
		}
		return executor.Resume(ctx, c, s.journal, id)
	})
}

// resumeConfig is what the run goes on with: its goal and, unless another is
// named, the plan that it was given.
func (a *app) resumeConfig(ctx context.Context, l *loaded, s *store, id, plan string) (executor.Config, error) {
	head, err := headOf(ctx, s, id)
	if err != nil {
		return executor.Config{}, err
	}
	another, err := a.planFile(plan)
	if err != nil {
		return executor.Config{}, err
	}
	given := another
	if given == nil {
		if given, err = executor.PlanOf(ctx, s.journal, id); err != nil {
			return executor.Config{}, err
		}
	}
	c, err := a.runConfig(l, given, head.Goal)
	c.PlanFile = another // The journal has the other one.
	if given != nil {
		for i, p := range c.Proposers {
			c.Proposers[i] = remainder{p}
		}
	}
	return c, err
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
