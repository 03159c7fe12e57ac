package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fettleops/fettle/lease"
)

func newLeasesCommand(a *app) *cobra.Command {
	var path, format string
	var audit bool
	cmd := &cobra.Command{
		Use:   "leases",
		Short: "Who holds what, and since when",
		Long: "Lists the leases of the model's scope: what is held, by whom, for what, since when, and its token; those that a run\n" +
			"holds across its steps by a name, and those who wait their turn.\n\n" +
			"With --audit it lists instead what people did by hand, the newest last: leases broken, actions in doubt resolved, the\n" +
			"kill switch pulled and released, by whom, when and why. Nothing deletes these records.",
		Example: "  fettle leases --model examples/fleet\n  fettle leases --audit\n  fettle leases break \"in_lb(api)\" --token 1234 --reason \"ops1 is dead\"",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf("-o", format, "text", "json"); err != nil {
				return err
			}
			show, none := a.leases, "nothing is held"
			if audit {
				show, none = a.audit, noDeeds
			}
			err := a.withLocker(cmd.Context(), path, a.existingStore, func(_ *loaded, _ *store, k *lease.Locker) error {
				return show(cmd.Context(), k, format)
			})
			return a.orNone(err, format, none)
		},
	}
	modelFlag(cmd, &path)
	cmd.Flags().BoolVar(&audit, "audit", false, "list what people did: leases broken, actions resolved, pauses; the newest last")
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text or json")
	a.stateDirFlag(cmd)
	cmd.AddCommand(newLeasesBreakCommand(a))
	return cmd
}

// leaseJSON is a lease, or a place in the queue for one.
type leaseJSON struct {
	Resource string      `json:"resource"`
	State    string      `json:"state"` // exclusive, shared, waiting
	Owner    lease.Owner `json:"owner"`
	Since    time.Time   `json:"since"`
	Token    int64       `json:"token"`
	Named    bool        `json:"named,omitempty"` // held by the run across its steps
	For      string      `json:"for,omitempty"`
	Until    *time.Time  `json:"until,omitempty"` // kept until then for a run that waits
	Wants    []string    `json:"wants,omitempty"` // of who waits: what of the resource, which is a whole fluent's queue
}

func (a *app) leases(ctx context.Context, k *lease.Locker, format string) error {
	held, err := k.AllHolders(ctx)
	if err != nil {
		return err
	}
	waiting, err := k.AllWaiting(ctx)
	if err != nil {
		return err
	}
	all := []leaseJSON{}
	for _, h := range append(held, waiting...) {
		all = append(all, leaseOf(h))
	}
	if format == "json" {
		return writeJSON(a.out, all)
	}
	if len(all) == 0 {
		fmt.Fprintln(a.err, "nothing is held")
	}
	a.showLeases(all)
	return nil
}

func leaseOf(h lease.Holder) leaseJSON {
	l := leaseJSON{Resource: h.Resource.String(), State: "shared", Owner: h.Owner, Since: h.Since, Token: h.Fence, Named: h.Named, For: h.For}
	switch {
	case h.Waiting:
		l.State = "waiting"
		for _, r := range h.Wants {
			l.Wants = append(l.Wants, r.String())
		}
	case h.Resource.Exclusive:
		l.State = "exclusive"
	}
	if !h.Until.IsZero() {
		l.Until = &h.Until
	}
	return l
}

func (a *app) showLeases(all []leaseJSON) {
	p := newPaint(a.out)
	names := make([]string, len(all))
	for i, l := range all {
		names[i] = plain(l.Resource)
		if len(l.Wants) > 0 {
			names[i] = plain(strings.Join(l.Wants, ", "))
		}
	}
	w := widest(40, names...)
	for i, l := range all {
		state := pad(l.State, 9)
		if l.State == "waiting" {
			state = p.warn(state)
		}
		since := "since " + l.Since.Local().Format(time.DateTime)
		fmt.Fprintf(a.out, "%s  %s  %s  token %d  %s\n", pad(names[i], w), state, since, l.Token, plain(holderLine(l)))
	}
}

// holderLine says who holds a lease, and what for.
func holderLine(l leaseJSON) string {
	s := l.Owner.String()
	if l.Named {
		s += ", across its steps"
	}
	if l.For != "" {
		s += ", for " + l.For
	}
	if l.Owner.Reason != "" {
		s += " (" + l.Owner.Reason + ")"
	}
	if l.Until != nil {
		s += ", kept until " + l.Until.Local().Format(time.DateTime)
	}
	return s
}
