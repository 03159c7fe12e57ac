package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/lease"
)

func newRunsCommand(a *app) *cobra.Command {
	var path, format string
	var active bool
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List the runs",
		Long: "Lists the runs, the newest first. --active leaves out those that are over, and tells of each of the others what it is\n" +
			"at or waits for, since when, and what to type: an approval, a pause, a lease that others hold, a window that is shut, an\n" +
			"action in doubt, or that its process is gone.",
		Example: "  fettle runs --active --model examples/fleet",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf("-o", format, "text", "json"); err != nil {
				return err
			}
			return a.withStore(cmd.Context(), path, func(s *store) error {
				return a.listRuns(cmd.Context(), s, active, format)
			})
		},
	}
	modelFlag(cmd, &path)
	cmd.Flags().BoolVar(&active, "active", false, "only those that run or wait, with what is in their way")
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text or json")
	a.stateDirFlag(cmd)
	return cmd
}

// undriven is the reason shown for a run that is under way by its record and
// that no process drives: it was killed. It can be resumed or cancelled.
const undriven = gateKilled

// listed is a run as it is listed.
type listed struct {
	executor.Head
	Gates []gate `json:"gates,omitempty"` // of one that is not over
	Error string `json:"error,omitempty"` // of a damaged one: why it cannot be read
}

func (a *app) listRuns(ctx context.Context, s *store, active bool, format string) error {
	now := time.Now()
	shown, err := a.listed(ctx, s, active, now)
	if err != nil {
		return err
	}
	if format == "json" {
		return writeJSON(a.out, shown)
	}
	if len(shown) == 0 {
		fmt.Fprintln(a.err, "no runs")
	}
	for _, h := range shown {
		status := h.Status
		if h.Reason != "" {
			status += " (" + h.Reason + ")"
		}
		if h.Error != "" {
			fmt.Fprintf(a.out, "%s  %s  %s\n", plain(h.Run), startedAt(h.Head), status)
			continue
		}
		fmt.Fprintf(a.out, "%s  %s  %s  %s, %s  %s\n", h.Run, startedAt(h.Head), pad(status, 24),
			count(h.Rounds, "round"), count(h.Actions, "action"), plain(h.Goal))
		tellGates(a.out, h.Gates, now, "    ")
	}
	return nil
}

// listed returns the runs, or those that are not over with their gates.
func (a *app) listed(ctx context.Context, s *store, active bool, now time.Time) ([]listed, error) {
	all, damaged, err := heads(ctx, s)
	if err != nil {
		return nil, err
	}
	s.passOver(damaged)
	locker := a.locker(s)
	defer locker.Close()
	var c *concierge
	if active {
		if c, err = newConcierge(ctx, s, locker, now); err != nil {
			return nil, err
		}
	}
	shown := []listed{}
	for _, h := range all {
		if active && h.Status != executor.Running && h.Status != executor.WaitingStatus {
			continue
		}
		l := listed{Head: h}
		if active {
			at, err := c.situation(ctx, h)
			if err != nil {
				return nil, err
			}
			l.Gates, l.Rounds, l.Actions = at.gates(), at.stand.rounds, at.stand.actions // The head has those of its end.
		}
		if killed, err := isUndriven(ctx, locker, h); err != nil {
			return nil, err
		} else if killed {
			l.Reason = undriven
		}
		shown = append(shown, l)
	}
	if active {
		return shown, nil
	}
	for _, rec := range damaged {
		shown = append(shown, listed{Head: damagedHead(rec), Error: whyDamaged(rec)})
	}
	slices.SortStableFunc(shown, func(a, b listed) int { return cmp.Compare(b.Run, a.Run) })
	return shown, nil
}

// isUndriven tells whether a run is under way by its record, and no process drives it.
func isUndriven(ctx context.Context, k *lease.Locker, h executor.Head) (bool, error) {
	if h.Status != executor.Running {
		return false, nil
	}
	owner, err := k.RunOwnerOf(ctx, h.Run)
	return err == nil && (owner == nil || deadHere(owner)), err
}
