package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/world"
)

func newLeasesBreakCommand(a *app) *cobra.Command {
	var path, reason, format string
	var token int64
	cmd := &cobra.Command{
		Use:   "break KEY",
		Short: "Take a lease away from its holder",
		Long: "Deletes all leases of one acquisition, which --token names, and writes down who did it and why. The fence is raised, so\n" +
			"that an actuator which keeps one accepts nothing more from that holder. What the holder may have done stays in doubt,\n" +
			"for whoever comes next to observe: see `fettle intents`.",
		Example: "  fettle leases\n  fettle leases break \"in_lb(api)\" --token 1234 --reason \"ops1 is dead\"",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("-o", format, "text", "json"); err != nil {
				return err
			}
			err := a.withLocker(cmd.Context(), path, a.existingStore, func(l *loaded, _ *store, k *lease.Locker) error {
				return a.breakLease(cmd.Context(), l, k, args[0], token, reason, format)
			})
			return without(err, "nothing is held and nothing was broken")
		},
	}
	modelFlag(cmd, &path)
	cmd.Flags().Int64Var(&token, "token", 0, "the token that `fettle leases` shows with it, so that nobody else's is broken")
	cmd.Flags().StringVar(&reason, "reason", "", "why; it is written down")
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text or json")
	_ = cmd.MarkFlagRequired("token")
	_ = cmd.MarkFlagRequired("reason")
	a.stateDirFlag(cmd)
	return cmd
}

func (a *app) breakLease(ctx context.Context, l *loaded, k *lease.Locker, key string, token int64, reason, format string) error {
	u := model.NewUniverse(l.Model)
	res, err := resourceOf(l, u, key)
	if err != nil { // Of another version of the model: the token says what is meant.
		name, args, perr := model.ParseAtom(key)
		if perr != nil {
			return err
		}
		res = lease.ParseResource(model.FormatAtom(name, args...))
	}
	broken, err := k.Break(ctx, res, token, userName(), l.withoutSecrets(reason))
	if err != nil {
		return err
	}
	if err := raiseAfter(ctx, l, u, broken); err != nil {
		fmt.Fprintf(a.err, "Warning: the lease is broken, but the fence was not raised: %v; the next holder raises it before acting\n", err)
	}
	if format == "json" {
		return writeJSON(a.out, broken.Audit)
	}
	fmt.Fprintf(a.out, "broken: %s\n", plain(broken.Audit.Holder.String()))
	for _, h := range broken.Holders {
		fmt.Fprintf(a.out, "  %s\n", plain(h.Resource.String()))
	}
	return nil
}

// raiseAfter raises the fence of the action whose leases were broken. What was
// held for no action of the model, by a person's script say, has none.
func raiseAfter(ctx context.Context, l *loaded, u *model.Universe, broken lease.Broken) error {
	holder := broken.Audit.Holder
	name, args, err := model.ParseAtom(holder.Action)
	if err != nil {
		return nil
	}
	g, fault := u.Bind(model.Step{Action: name, Args: args}, nil)
	if fault != nil {
		return nil
	}
	f := world.Fence{Token: broken.Fence, Run: holder.Run, ActionID: "break-" + broken.Audit.ID}
	for _, h := range broken.Holders {
		f.Resources = append(f.Resources, h.Resource.String())
		if h.Resource.Exclusive {
			f.Writes = append(f.Writes, h.Resource.String())
		}
	}
	return l.world.Raise(ctx, u, g, f)
}
