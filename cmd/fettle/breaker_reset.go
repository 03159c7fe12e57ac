package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/fettleops/fettle/executor/ledger"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/policy"
)

func newBreakerResetCommand(a *app) *cobra.Command {
	var path, reason, format string
	cmd := &cobra.Command{
		Use:   "reset GOAL",
		Short: "Let runs towards a goal begin again",
		Long: "Begins the count of runs without success towards a goal anew, so that runs begin again; a success that did not last no\n" +
			"longer stands in the way either. Who did it, and why, is written down: see `fettle leases --audit`. Limits on actions are\n" +
			"not reset: they are over when their time is.",
		Example: "  fettle breaker\n  fettle breaker reset \"restored(api)\" --reason \"the disk is replaced\"",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("-o", format, "text", "json"); err != nil {
				return err
			}
			name, objects, err := model.ParseAtom(args[0])
			if err != nil {
				return fmt.Errorf("a goal is named as %q is not: %w", args[0], err)
			}
			err = a.withLedger(cmd.Context(), path, func(l *loaded, _ policy.Shared, g *ledger.Ledger) error {
				return a.resetBreaker(cmd.Context(), g, model.FormatAtom(name, objects...), l.withoutSecrets(reason), format)
			})
			return without(err, noRunsYet)
		},
	}
	modelFlag(cmd, &path)
	cmd.Flags().StringVar(&reason, "reason", "", "why; it is written down")
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text or json")
	_ = cmd.MarkFlagRequired("reason")
	a.stateDirFlag(cmd)
	return cmd
}

func (a *app) resetBreaker(ctx context.Context, g *ledger.Ledger, goal, reason, format string) error {
	was, err := g.Reset(ctx, goal, userName(), reason)
	if err != nil {
		return err
	}
	if format == "json" {
		return writeJSON(a.out, was)
	}
	fmt.Fprintf(a.out, "reset: runs towards %s begin again\n", plain(goal))
	for _, o := range (policy.Shared{}).State(goal, was.Runs, time.Time{}).Row {
		fmt.Fprintf(a.out, "    no longer counts: %s\n", plain(o.String()))
	}
	return nil
}
