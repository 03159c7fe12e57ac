package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/model/load"
)

func newPauseCommand(a *app) *cobra.Command {
	return a.switchCommand("pause", "Pull the kill switch: no action starts anywhere while it is on",
		"Pulls the kill switch of the model's scope: no controller begins another action until `fettle unpause`, whatever it\n"+
			"restarts in between. An action in flight is finished. Runs that come to an action stop to wait: go on with them by\n"+
			"`fettle resume`. Who paused, and why, is written down.",
		"  fettle pause --reason \"incident 4711: hands off\"", a.pause)
}

func newUnpauseCommand(a *app) *cobra.Command {
	return a.switchCommand("unpause", "Release the kill switch",
		"Releases the kill switch. Runs that stopped because of it go on by `fettle resume`. Who released it is written down.",
		"  fettle unpause --reason \"incident 4711 is over\"", a.unpause)
}

func (a *app) switchCommand(
	name, short, long, example string, do func(context.Context, *lease.Locker, string, string) error,
) *cobra.Command {
	var path, reason, format string
	cmd := &cobra.Command{
		Use: name, Short: short, Long: long, Example: example, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf("-o", format, "text", "json"); err != nil {
				return err
			}
			return a.withLocker(cmd.Context(), path, a.openStore, func(l *loaded, _ *store, k *lease.Locker) error {
				return do(cmd.Context(), k, l.withoutSecrets(reason), format)
			})
		},
	}
	modelFlag(cmd, &path)
	cmd.Flags().StringVar(&reason, "reason", "none given", "why; it is written down and shown to whoever is kept waiting")
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text or json")
	a.stateDirFlag(cmd)
	return cmd
}

// paused is the state of the kill switch, as JSON.
type paused struct {
	Paused bool               `json:"paused"`
	Record *lease.PauseRecord `json:"record,omitempty"` // of the pause; where it was released: of the one that was
}

func (a *app) pause(ctx context.Context, k *lease.Locker, reason, format string) error {
	rec, already, err := k.Pause(ctx, userName(), reason)
	switch {
	case err != nil:
		return err
	case format == "json":
		return writeJSON(a.out, paused{true, &rec})
	case already:
		fmt.Fprintf(a.out, "already paused: %s\n", plain(rec.String()))
	default:
		fmt.Fprintln(a.out, "paused: no action starts until `fettle unpause`")
	}
	return nil
}

func (a *app) unpause(ctx context.Context, k *lease.Locker, reason, format string) error {
	was, ok, err := k.Unpause(ctx, userName(), reason)
	switch {
	case err != nil:
		return err
	case format == "json" && ok:
		return writeJSON(a.out, paused{false, &was})
	case format == "json":
		return writeJSON(a.out, paused{})
	case !ok:
		fmt.Fprintln(a.out, "nothing was paused")
	default:
		fmt.Fprintf(a.out, "released: %s\n", plain(was.String()))
	}
	return nil
}

// withLocker loads the model, opens its store and uses what acquires leases there.
func (a *app) withLocker(
	ctx context.Context, path string, open func(context.Context, *load.Loaded) (*store, error),
	use func(*loaded, *store, *lease.Locker) error,
) error {
	l, err := a.load(path)
	if err != nil {
		return err
	}
	defer l.world.Close()
	s, err := open(ctx, l.Loaded)
	if err != nil {
		return err
	}
	k := a.locker(s)
	return errors.Join(use(l, s, k), k.Close(), s.Close())
}
