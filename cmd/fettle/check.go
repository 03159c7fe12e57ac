package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"github.com/fettleops/fettle/model/load"
	"github.com/fettleops/fettle/world"
)

func newCheckCommand(a *app) *cobra.Command {
	var format string
	var tries bool
	cmd := &cobra.Command{
		Use:   "check [MODEL | DOMAIN.pddl PROBLEM.pddl]",
		Short: "Load and type-check a model; print every diagnostic",
		Long: `Loads the model and checks it whole: names, types and arity in every condition,
effects, states, the bodies of observe and run blocks, the policy. Every mistake
is printed, in one run, and in a model without any what is most likely not meant:
what is never used, can never apply or does not undo. Nothing is observed and
nothing is done.

With --world it also tries what the model speaks of: whether commands could be
started and servers are within reach, what queries match, whether the store, the
planners' keys and the notifiers are there, and whether settle and timeouts fit
the scrapes and the leases. It observes, and changes nothing: no action is run
and no fence raised. It takes 30 seconds at most.

Exit codes: 0 the model is fine (there may be warnings), 2 it has errors or
something that it needs is not within reach, 1 its files could not be read.`,
		Example: `  fettle check examples/fleet
  fettle check --world examples/fleet
  fettle check -o json . | jq '.diagnostics[].summary'`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("-o", format, "text", "json"); err != nil {
				return err
			}
			if task, err := pddlFiles(args); err != nil {
				return err
			} else if task && tries {
				return errors.New("a PDDL task speaks of no world: leave out --world")
			} else if task {
				return a.checkTask(args, format)
			}
			return a.check(cmd.Context(), modelPath(args), format, tries)
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text or json")
	cmd.Flags().BoolVar(&tries, "world", false, "try the connections, commands and settings")
	a.stateDirFlag(cmd)
	a.leaseTTLFlag(cmd)
	return cmd
}

func (a *app) check(ctx context.Context, path, format string, tries bool) error {
	l, diags, err := a.read(path)
	if err != nil {
		return err
	}
	defer l.world.Close()
	if !diags.HasErrors() {
		diags = load.Sort(append(append(append(diags, l.Doubts()...), l.ownCritic()...), l.restrictions()...))
	}
	var trials []world.Trial
	if tries && !diags.HasErrors() { // A faulty model does not say what to try.
		trials = a.tryWorld(ctx, l)
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("interrupted: %w", err)
		}
		diags = load.Sort(append(diags, amiss(trials)...))
	}
	code := exitDone
	if diags.HasErrors() {
		code = exitNo
	}
	if format == "json" {
		if err := writeJSON(a.out, checkedJSON{diagnosticsJSON(l.Loaded, diags), trialsJSON(trials)}); err != nil {
			return err
		}
		return answer(code)
	}
	writeDiagnostics(a.out, newPaint(a.out), l.Loaded, diags)
	if len(diags) > 0 {
		fmt.Fprintln(a.out)
	}
	if code == exitDone {
		fmt.Fprintln(a.out, "fine: "+l.contents()+warnings(diags))
	} else {
		fmt.Fprintln(a.out, findings(diags))
	}
	if len(trials) > 0 {
		writeTrials(a.out, newPaint(a.out), trials)
	}
	return answer(code)
}

// restrictions warns of what the model restricts and this version does not
// carry out, so that run refuses such a model, and of what does nothing yet.
func (l *loaded) restrictions() hcl.Diagnostics {
	diags := l.Unobeyed()
	out := l.Unserved()
	for _, d := range diags {
		w := *d
		w.Severity = hcl.DiagWarning
		out = append(out, &w)
	}
	return out
}

// contents counts what the model has.
func (l *loaded) contents() string {
	types := 0
	for _, t := range l.Model.Types {
		if !t.Enum {
			types++
		}
	}
	var parts []string
	for _, p := range []struct {
		n    int
		noun string
	}{
		{len(l.Model.Actions), "action"},
		{len(l.Model.Fluents), "fluent"},
		{types, "type"},
		{len(l.Model.Invariants), "invariant"},
		{len(l.Model.Goals), "goal"},
		{len(l.Model.States), "state"},
	} {
		if p.n > 0 {
			parts = append(parts, counted(p.n, p.noun))
		}
	}
	switch {
	case len(parts) == 0:
		return "nothing is declared yet"
	case l.policy == nil:
		return strings.Join(parts, ", ") + "; no policy, so it cannot be run"
	}
	return strings.Join(parts, ", ") + ", a policy"
}

// warnings counts them, where there are any.
func warnings(diags hcl.Diagnostics) string {
	if len(diags) == 0 {
		return ""
	}
	return "; " + counted(len(diags), "warning")
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func findings(diags hcl.Diagnostics) string {
	errs := len(onlyErrors(diags))
	s := counted(errs, "error")
	if w := len(diags) - errs; w > 0 {
		s += ", " + counted(w, "warning")
	}
	return s
}
