package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/executor/audit"
	"github.com/fettleops/fettle/journal"
)

func newAuditCommand(a *app) *cobra.Command {
	var since, format string
	cmd := &cobra.Command{
		Use:   "audit [MODEL]",
		Short: "Where the model and the world disagree; how well planners use critiques",
		Long: "Reads the journals of all runs, archived ones too, and tells of each action, the worst first, how often its declared\n" +
			"effects were seen and how long that took, which were not, whose settle or timeout is too short and what to set, what its\n" +
			"steps were refused for, and what is in doubt; and of each planner how often its plans were valid, and how often a proposal\n" +
			"after a critique no longer had the failure. Times are held against the model as it is now.\n\n" +
			"Effects are counted over the executions that the actuator called done. One that was not seen within settle and came true\n" +
			"later in the run, before another action wrote it, counts as late.\n\n" +
			"Exit status: 0, whatever is found.",
		Example: "  fettle audit examples/fleet\n  fettle audit --since 7d\n  fettle audit -o json | jq '.actions[] | select(.disagreed > 0)'",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("-o", format, "text", "json"); err != nil {
				return err
			}
			var from time.Time
			if since != "" {
				d, err := parseAge(since)
				if err != nil {
					return fmt.Errorf("--since %q: write for example 90m, 12h or 7d", since)
				}
				from = time.Now().Add(-d)
			}
			return a.auditRuns(cmd.Context(), modelPath(args), from, format)
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "only runs that were active within this time (90m, 12h, 7d)")
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text or json")
	a.stateDirFlag(cmd)
	return cmd
}

// parseAge reads a positive duration, also in days.
func parseAge(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		const most = 36500
		n, err := strconv.ParseUint(days, 10, 32)
		if err != nil || n == 0 || n > most {
			return 0, strconv.ErrRange
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(s)
	if err == nil && d <= 0 {
		err = strconv.ErrRange
	}
	return d, err
}

// auditRuns folds all runs since a time, the zero time for all there are.
func (a *app) auditRuns(ctx context.Context, path string, since time.Time, format string) error {
	l, err := a.load(path)
	if err != nil {
		return err
	}
	defer l.world.Close()
	s, err := a.existingStore(ctx, l.Loaded)
	if err != nil {
		return a.orNone(err, format, "nothing to audit")
	}
	defer s.Close() //nolint:errcheck // Nothing was written.
	f := audit.New(auditSettings(l), l.Hash, func(run, sum string) ([]byte, error) { return s.journal.Blob(ctx, run, sum) })
	if err := a.foldRuns(ctx, s, f, since); err != nil {
		return err
	}
	report := f.Report()
	if format == "json" {
		return writeJSON(a.out, report)
	}
	a.printAudit(l, report, since)
	return nil
}

// foldRuns takes in the runs. One whose events cannot be read to the end does
// not keep the others back.
func (a *app) foldRuns(ctx context.Context, s *store, f *audit.Fold, since time.Time) error {
	heads, err := s.journal.Runs(ctx)
	if err != nil {
		return err
	}
	for _, rec := range heads {
		if rec.Damaged != nil {
			s.passOver([]journal.Head{rec})
			continue
		}
		if rec.Updated.Before(since) {
			continue
		}
		var h executor.Head
		if err := json.Unmarshal(rec.Data, &h); err != nil {
			fmt.Fprintf(a.err, "the head of run %s cannot be read: %v\n", plain(rec.Run), err)
		}
		h.Run, h.Started = rec.Run, rec.Started
		if err := f.Run(h, s.journal.Events(ctx, rec.Run)); err != nil {
			if ctx.Err() != nil {
				return err
			}
			fmt.Fprintf(a.err, "only a part of run %s counts: %s\n", plain(rec.Run), plain(err.Error()))
		}
	}
	return nil
}

func auditSettings(l *loaded) map[string]audit.Settings {
	out := map[string]audit.Settings{}
	for act, info := range l.Actions {
		out[act.Name] = audit.Settings{Timeout: info.Timeout, Settle: info.Settle.Timeout}
	}
	return out
}
