package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/fettleops/fettle/executor/ledger"
	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/policy"
)

// noRunsYet says that nothing counts towards what controllers share.
const noRunsYet = "no controller has begun anything"

func newBreakerCommand(a *app) *cobra.Command {
	var path, format string
	cmd := &cobra.Command{
		Use:   "breaker",
		Short: "What all controllers used of their shared limits, and which goals are shut",
		Long: "Shows, of the limits in the policy's `shared` block, how much all controllers of the scope used together and from when\n" +
			"on there is room again; and for each goal how many runs in a row ended without success. Where that reaches `breaker`, no\n" +
			"run towards the goal begins until a person resets it, or for as long as `breaker_reset` says.",
		Example: "  fettle breaker --model examples/fleet\n  fettle breaker reset healthy --reason \"the disk is replaced\"",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf("-o", format, "text", "json"); err != nil {
				return err
			}
			err := a.withLedger(cmd.Context(), path, func(_ *loaded, s policy.Shared, g *ledger.Ledger) error {
				return a.breaker(cmd.Context(), s, g, format)
			})
			if no := (*noStoreError)(nil); errors.As(err, &no) && format == "json" {
				return writeJSON(a.out, sharedJSON{}.whole())
			}
			return a.orNone(err, format, noRunsYet)
		},
	}
	modelFlag(cmd, &path)
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text or json")
	a.stateDirFlag(cmd)
	cmd.AddCommand(newBreakerResetCommand(a))
	return cmd
}

// withLedger uses the ledger in the model's store, where there is one, with the
// limits of the model's policy.
func (a *app) withLedger(ctx context.Context, path string, use func(*loaded, policy.Shared, *ledger.Ledger) error) error {
	return a.withLocker(ctx, path, a.existingStore, func(l *loaded, s *store, k *lease.Locker) error {
		var limits policy.Shared
		if l.policy != nil {
			limits = l.policy.Shared
		}
		return use(l, limits, ledger.New(s.Client(), k.Keys(), nil))
	})
}

// sharedJSON is where everything stands that controllers share.
type sharedJSON struct {
	Limits []policy.SharedUse    `json:"limits"`
	Goals  []policy.BreakerState `json:"goals"`
}

// whole has lists where there is nothing.
func (s sharedJSON) whole() sharedJSON {
	s.Limits, s.Goals = append([]policy.SharedUse{}, s.Limits...), append([]policy.BreakerState{}, s.Goals...)
	return s
}

func (a *app) breaker(ctx context.Context, s policy.Shared, g *ledger.Ledger, format string) error {
	uses, err := g.Uses(ctx, s)
	if err != nil {
		return err
	}
	goals, err := g.Goals(ctx)
	if err != nil {
		return err
	}
	shown := sharedJSON{Limits: uses}
	for _, goal := range goals {
		shown.Goals = append(shown.Goals, s.State(goal.Goal, goal.Runs, time.Now()))
	}
	if format == "json" {
		return writeJSON(a.out, shown.whole())
	}
	if !s.LimitsActions() && !s.LimitsRuns() {
		fmt.Fprintln(a.err, "the policy has no `shared` block: controllers share no limits")
	}
	if len(uses)+len(goals) == 0 {
		fmt.Fprintln(a.err, noRunsYet)
	}
	a.showUses(uses)
	for _, b := range shown.Goals {
		a.showGoal(b)
	}
	return nil
}

// showUses shows how much of each limit on actions is used, full ones with the
// time from which there is room.
func (a *app) showUses(uses []policy.SharedUse) {
	p := newPaint(a.out)
	names := make([]string, len(uses))
	for i, u := range uses {
		names[i] = plain(u.Of)
	}
	w := widest(40, names...)
	for i, u := range uses {
		line := fmt.Sprintf("%s  %s  %d of %d in %s", pad(u.Limit, len("max_per_object")), pad(names[i], w), u.Used, u.Most, policy.Spell(u.Span))
		if u.Used >= u.Most {
			line += "  " + p.warn("full") + again(u.Frees)
		}
		fmt.Fprintln(a.out, line)
	}
}

func again(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return ", room from " + at.Local().Format(time.DateTime)
}

// showGoal shows where the count of runs without success stands for a goal.
func (a *app) showGoal(b policy.BreakerState) {
	of := ""
	if b.Most > 0 {
		of = fmt.Sprintf(" of %d", b.Most)
	}
	fmt.Fprintf(a.out, "goal %s  %s  %d%s runs in a row without success\n", plain(b.Goal), breakerState(newPaint(a.out), b), len(b.Row), of)
	row := b.Row[max(0, len(b.Row)-rowShown):]
	if n := len(b.Row) - len(row); n > 0 {
		fmt.Fprintf(a.out, "    … and %d before these\n", n)
	}
	for _, o := range row {
		fmt.Fprintf(a.out, "    %s\n", plain(o.String()))
	}
	switch {
	case b.Trial != "" && b.Waits:
		fmt.Fprintf(a.out, "    run %s was let through to try, and waits: `fettle resume` or `fettle cancel` it\n", plain(b.Trial))
	case b.Trial != "":
		fmt.Fprintf(a.out, "    run %s was let through to try, and is under way\n", plain(b.Trial))
	case b.Open && !b.Until.IsZero():
		fmt.Fprintf(a.out, "    one run is let through to try from %s\n", b.Until.Local().Format(time.DateTime))
	}
	if !b.Lasts.IsZero() {
		fmt.Fprintf(a.out, "    run %s reached it; it has to last until %s\n", plain(b.Success.Run), b.Lasts.Local().Format(time.DateTime))
	}
	if b.Open || !b.Lasts.IsZero() {
		fmt.Fprintf(a.out, "    `fettle breaker reset %s --reason …` begins the count anew\n", plain(policy.ShellWord(b.Goal)))
	}
}

// rowShown is how many runs without success are shown, the last.
const rowShown = 5

func breakerState(p paint, b policy.BreakerState) string {
	switch {
	case b.Open:
		return p.bad("open") + " since " + b.Since.Local().Format(time.DateTime)
	case b.Most == 0:
		return p.faint("no limit")
	case len(b.Row) >= b.Most:
		return p.warn("lets one run through to try")
	}
	return p.good("closed")
}
