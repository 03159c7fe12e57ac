package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/world"
)

func newIntentsCommand(a *app) *cobra.Command {
	var path, format string
	cmd := &cobra.Command{
		Use:   "intents",
		Short: "Actions under way, and those of unknown outcome",
		Long: "Lists the actions that were armed and have no outcome yet: those being carried out, and those in doubt, whose process\n" +
			"died or lost its lease in mid-action. Any run that needs what one of these writes takes it over by itself: it raises the\n" +
			"fence, observes, and records what it sees. Where nothing can be seen, a person says what became of it.",
		Example: "  fettle intents --model examples/fleet\n  fettle intents resolve 01J9ZC…-003 --as applied --reason \"seen in the console\"",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf("-o", format, "text", "json"); err != nil {
				return err
			}
			err := a.withLocker(cmd.Context(), path, a.existingStore, func(_ *loaded, _ *store, k *lease.Locker) error {
				return a.intents(cmd.Context(), k, format)
			})
			return a.orNone(err, format, "no action is under way or in doubt")
		},
	}
	modelFlag(cmd, &path)
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text or json")
	a.stateDirFlag(cmd)
	cmd.AddCommand(newIntentsResolveCommand(a))
	return cmd
}

// intentJSON is an action that was armed and has no outcome.
type intentJSON struct {
	ID       string      `json:"id"`
	Action   string      `json:"action"`
	State    string      `json:"state"` // under_way, in_doubt
	Owner    lease.Owner `json:"owner"`
	Since    time.Time   `json:"since"`
	Fence    int64       `json:"fence"`
	Writes   []string    `json:"writes"`
	Unfenced bool        `json:"unfenced,omitempty"`
	TimeoutS float64     `json:"timeout_s"`
}

func (a *app) intents(ctx context.Context, k *lease.Locker, format string) error {
	all, err := k.Intents(ctx)
	if err != nil {
		return err
	}
	held, err := k.AllHolders(ctx)
	if err != nil {
		return err
	}
	shown := []intentJSON{}
	for _, in := range all {
		shown = append(shown, intentOf(in, held))
	}
	if format == "json" {
		return writeJSON(a.out, shown)
	}
	if len(shown) == 0 {
		fmt.Fprintln(a.err, "no action is under way or in doubt")
	}
	p := newPaint(a.out)
	for _, in := range shown {
		state := strings.ReplaceAll(in.State, "_", " ")
		if in.State == "in_doubt" {
			state = p.warn(state)
		}
		fmt.Fprintf(a.out, "%s  %s  %s  since %s  %s\n", plain(in.ID), plain(in.Action), state, in.Since.Local().Format(time.DateTime), plain(in.Owner.String()))
		fmt.Fprintf(a.out, "    may have written %s\n", plain(strings.Join(in.Writes, ", ")))
	}
	return nil
}

func intentOf(in lease.Intent, held []lease.Holder) intentJSON {
	out := intentJSON{
		ID: in.ID, Action: in.Owner.Action, State: "in_doubt", Owner: in.Owner, Since: in.Since, Fence: in.Fence,
		Unfenced: in.Unfenced, TimeoutS: in.Timeout.Seconds(), Writes: []string{},
	}
	token := in.Fence
	if in.Taken != nil {
		token = in.Taken.Fence
	}
	if slices.ContainsFunc(held, func(h lease.Holder) bool { return h.Fence == token }) {
		out.State = "under_way"
	}
	for _, m := range in.Marks {
		out.Writes = append(out.Writes, m.String())
	}
	return out
}

func newIntentsResolveCommand(a *app) *cobra.Command {
	var path, as, reason, format string
	cmd := &cobra.Command{
		Use:   "resolve ID",
		Short: "Say what became of an action in doubt",
		Long: "Records, by your word, whether an action in doubt took effect, and lets others go on with what it wrote. Who said so, and\n" +
			"why, is written down. An action whose process still holds its leases cannot be resolved.",
		Example: "  fettle intents resolve 01J9ZC…-003 --as not-applied --reason \"the job never started\"",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(oneOf("--as", as, "applied", "not-applied"), oneOf("-o", format, "text", "json")); err != nil {
				return err
			}
			err := a.withLocker(cmd.Context(), path, a.existingStore, func(l *loaded, s *store, k *lease.Locker) error {
				return a.resolveIntent(cmd.Context(), l, s, k, args[0], as, reason, format)
			})
			return without(err, "no action is under way or in doubt")
		},
	}
	modelFlag(cmd, &path)
	cmd.Flags().StringVar(&as, "as", "", "applied or not-applied")
	cmd.Flags().StringVar(&reason, "reason", "", "how you know; it is written down")
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text or json")
	_ = cmd.MarkFlagRequired("as")
	_ = cmd.MarkFlagRequired("reason")
	a.stateDirFlag(cmd)
	return cmd
}

func (a *app) resolveIntent(ctx context.Context, l *loaded, s *store, k *lease.Locker, id, as, reason, format string) error {
	result := lease.Result(strings.ReplaceAll(as, "-", "_"))
	in, ok, err := k.Intent(ctx, id)
	if err != nil || !ok {
		return errors.Join(err, noIntent(id, ok))
	}
	ops, err := beliefsAfter(l, s, k, in, result)
	if err != nil {
		fmt.Fprintf(a.err, "Warning: what the run believes is left as it is: %v\n", err)
	}
	by := executor.Resolver{Locker: k, Journal: s.journal, Secrets: world.Forms(l.Secrets), Redact: l.Redact}
	in, untold, err := by.Resolve(ctx, in, result, executor.Word{By: userName(), Reason: l.withoutSecrets(reason)}, ops...)
	if err != nil {
		return err
	}
	if untold != "" {
		fmt.Fprintf(a.err, "the record of run %s does not tell of it yet: %s\n", plain(in.Owner.Run), plain(untold))
	}
	if format == "json" {
		return writeJSON(a.out, in)
	}
	fmt.Fprintf(a.out, "%s (%s) is resolved as %s\n", plain(in.Owner.Action), plain(in.ID), as)
	return nil
}

func noIntent(id string, ok bool) error {
	if ok {
		return nil
	}
	return fmt.Errorf("there is no action %q under way or in doubt; `fettle intents` lists them", id)
}

// beliefsAfter are the values of fluents that nothing observes, as the action leaves them.
func beliefsAfter(l *loaded, s *store, k *lease.Locker, in lease.Intent, result lease.Result) ([]clientv3.Op, error) {
	b := executor.Beliefs{Client: s.Client(), Keys: k.Keys()}
	return b.After(model.NewUniverse(l.Model), in, result)
}
