package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/world"
)

func newCancelCommand(a *app) *cobra.Command {
	var path, reason, format string
	cmd := &cobra.Command{
		Use:   "cancel RUN",
		Short: "End a run: its action in flight is finished and recorded first",
		Long: "Ends a run before its next action, wherever it is driven, and waits until it has ended: the action in flight is\n" +
			"finished and recorded. A run that nobody drives, because it waits or its process was killed, is ended at once. What\n" +
			"is in doubt stays so: see `fettle intents`. RUN is an id, the beginning of one, or \"last\".",
		Example: "  fettle cancel last --reason \"the deploy was rolled back by hand\"",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("-o", format, "text", "json"); err != nil {
				return err
			}
			return a.withStore(cmd.Context(), path, func(s *store) error {
				return a.cancel(cmd.Context(), s, path, args[0], reason, format)
			})
		},
	}
	modelFlag(cmd, &path)
	cmd.Flags().StringVar(&reason, "reason", "", "why; kept with the run")
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text or json")
	a.stateDirFlag(cmd)
	return cmd
}

func (a *app) cancel(ctx context.Context, s *store, path, name, reason, format string) error {
	id, err := findRun(ctx, s, name)
	if err != nil {
		return err
	}
	locker := a.locker(s)
	defer locker.Close()
	k := executor.Canceller{
		Client: s.Client(), Locker: locker, Journal: s.journal, Secrets: world.Forms(s.model.Secrets), Redact: s.model.Redact, Model: a.modelOf(ctx, s, path, id),
	}
	k.OnAsked = func() {
		fmt.Fprintf(a.err, "run %s is asked to end; its action in flight is finished and recorded first\n", id)
	}
	end, err := k.Cancel(ctx, id, executor.Cancellation{By: userName(), Reason: s.withoutSecrets(reason)})
	if err != nil {
		return err
	}
	if format == "json" {
		if err := writeJSON(a.out, runEnd{id, end}); err != nil {
			return err
		}
	}
	if end.Status != executor.Cancelled {
		return fmt.Errorf("run %s was not cancelled: it had ended as %s", id, end.Status)
	}
	if format == "text" {
		fmt.Fprintf(a.out, "run %s is cancelled after %s, %s\n", id, count(end.Rounds, "round"), count(end.Actions, "action"))
		for _, d := range end.InDoubt {
			fmt.Fprintf(a.out, "  in doubt  %s\n", plain(d))
		}
		for _, o := range end.Owed {
			if !slices.ContainsFunc(end.InDoubt, func(d string) bool { return strings.Contains(o, d) }) {
				fmt.Fprintf(a.out, "  you owe   %s\n", plain(o))
			}
		}
		if len(end.Released) > 0 {
			fmt.Fprintf(a.out, "  released  %s\n", plain(strings.Join(end.Released, ", ")))
		}
	}
	return nil
}

// modelOf finds the model that a run was driven with: the one at the path where
// it is unchanged, else the one that the journal has.
func (a *app) modelOf(ctx context.Context, s *store, path, id string) executor.ModelOf {
	m := &replayModels{app: a, flags: replayFlags{model: path}, body: func(sum string) ([]byte, error) { return s.journal.Blob(ctx, id, sum) }}
	return m.find
}
