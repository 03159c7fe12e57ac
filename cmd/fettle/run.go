package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/policy"
	"github.com/fettleops/fettle/world"
)

// runFlags are the flags of run.
type runFlags struct {
	goal, plan, format  string
	record              string
	approve, step, wait bool
	metrics             metricsFlags
}

// drivingFlags adds the flags of the commands that drive a run: to be asked about
// plans, to record, to show, and to keep its store.
func (a *app) drivingFlags(cmd *cobra.Command, f *runFlags, plans string) {
	fl := cmd.Flags()
	f.askingFlags(fl, plans)
	recordFlag(fl, &f.record)
	fl.StringVarP(&f.format, "output", "o", "text", "text, json (the end alone) or jsonl (every event "+plans+")")
	f.metrics.add(fl)
	a.stateDirFlag(cmd)
	a.leaseTTLFlag(cmd)
}

func (f *runFlags) check() error {
	if err := oneOf("-o", f.format, "text", "json", "jsonl"); err != nil {
		return err
	}
	return f.metrics.check()
}

func newRunCommand(a *app) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [MODEL]",
		Short: "Observe, plan, ask, carry out under guard, replan",
		Long: "Observes the world, plans towards the goal, shows the plan and asks, carries it out step by step under\n" +
			"fenced leases, compares what it sees with what each step promised, and plans again from there when they differ,\n" +
			"all within the limits of the model's policy.\n\n" +
			"With --metrics the run's metrics, read from its journal, are served to Prometheus while it lasts: the endpoint ends\n" +
			"with the run, and when to scrape last is for the scraper to see to; --metrics-linger gives it time.\n\n" +
			"Exit status: 0 the goal is reached, 1 it failed or has no policy, 2 the model has errors, 3 it stopped within its\n" +
			"limits without the goal (a person is needed) or was cancelled, 4 it waits for an approval or for others: see\n" +
			"`fettle resume`. Ctrl-C or SIGTERM finishes and records the action in flight and ends the run as cancelled; a second one\n" +
			"cuts that action off, whose outcome is then in doubt. SIGQUIT is both at once.",
		Example: "  fettle run examples/fleet\n  fettle run --goal healthy --approve --state-dir /var/lib/fettle examples/fleet\n" +
			"  fettle run --metrics 127.0.0.1:9100 --metrics-linger 30s examples/fleet",
		Args:        cobra.MaximumNArgs(1),
		Annotations: map[string]string{guarded: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return a.run(cmd.Context(), modelPath(args), f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.goal, "goal", "", "the goal, with its arguments: \"restored(api)\"; may be left out where the model has one")
	fl.StringVar(&f.plan, "plan", "", "carry out the plan in this file (text or JSON, - for stdin) in place of planning")
	a.drivingFlags(cmd, &f, "of this run")
	return cmd
}

func (a *app) run(ctx context.Context, path string, f runFlags) error {
	l, err := a.load(path)
	if err != nil {
		return err
	}
	defer l.world.Close()
	if err := a.runnable(l); err != nil {
		return err
	}
	given, err := a.planFile(f.plan)
	if err != nil {
		return err
	}
	if l.recorder, err = a.recorder(l, f.record); err != nil {
		return err
	}
	c, err := a.runConfig(l, given, f.goal)
	if err != nil {
		return err
	}
	c.PlanFile = given
	m, err := a.serveMetrics(f.metrics)
	if err != nil {
		return err
	}
	defer m.close(ctx, a) // After the store is closed: lingering holds nothing up.
	c.OnEvent = m.event
	s, err := a.openStore(ctx, l.Loaded)
	if err != nil {
		return err
	}
	defer s.Close()
	locker := a.locker(s)
	defer locker.Close()
	if err := s.intake(ctx, locker, l.policy, time.Now()); err != nil {
		return err
	}
	host, _ := os.Hostname()
	j, err := s.journal.Start(ctx, executor.NewHead(c.GoalName, c.Scope, host, os.Getpid()))
	if err != nil {
		return err
	}
	c.Journal = j
	return a.drive(ctx, l, locker, s, f, c, j.ID(), func(ctx context.Context, c executor.Config) (executor.Ended, error) {
		end, err := executor.Run(ctx, c)
		if err != nil {
			err = fmt.Errorf("run %s: %w", j.ID(), err)
		}
		return end, err
	})
}

// runConfig is what a run towards a goal is made of, its store apart.
func (a *app) runConfig(l *loaded, given *executor.PlanFile, text string) (executor.Config, error) {
	u := goalUniverse(l.Model, text)
	goal, args, name, err := pickGoal(l.Loaded, u, text)
	if err != nil {
		return executor.Config{}, err
	}
	if goal == nil {
		return executor.Config{}, errors.New("the model has no goal; add a goal block")
	}
	proposers, err := a.proposers(l, given, name)
	if err != nil {
		return executor.Config{}, err
	}
	critics, _, passed, err := criticsOf(l, l.recorder)
	for _, s := range passed {
		a.say([]string{"Warning: " + s})
	}
	return executor.Config{
		Universe: u, Goal: goal, GoalArgs: args, GoalName: name, Scope: l.Scope, ModelHash: l.Hash, Version: version(),
		Policy: l.policy, Proposers: proposers, Critics: critics, Settings: settings(l), Observer: l.world, Actuator: l.world, Discoverer: discoverer(l),
		Leases: l.world.LeaseNames(u), By: userName(), Secrets: world.Forms(l.Secrets), Redact: l.Redact, Recorded: recordedModel(l.Loaded, a.vars),
	}, err
}

// runnable refuses what may not be run: without a policy, with restrictions
// that this version does not obey, with fluents or actions that nothing serves.
func (a *app) runnable(l *loaded) error {
	if l.policy == nil {
		return fmt.Errorf("this model has no policy, so nothing limits a run. Add one, for example:\n\n%s",
			indent(policy.Example(), "  "))
	}
	diags := l.Unobeyed()
	diags = append(diags, l.Unsourced()...)
	diags = append(diags, unserved(l)...)
	if !diags.HasErrors() {
		return nil
	}
	a.printDiagnostics(l.Loaded, diags)
	return answer(exitFailed)
}

// unserved names the fluents and actions that no served kind observes or
// carries out.
func unserved(l *loaded) hcl.Diagnostics {
	var diags hcl.Diagnostics
	say := func(at hcl.Range, summary, detail string) {
		diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &at})
	}
	for _, f := range l.Model.Fluents {
		if b := l.Fluents[f].Observe; b != nil && !l.world.Observes(f) {
			say(b.Range, "Not observed by this version",
				fmt.Sprintf("Fluent %q is observed by the kind %q, which this version does not serve.", f.Name, b.Kind))
		}
	}
	for _, act := range l.Model.Actions {
		switch at := l.Actions[act]; {
		case at.Run == nil:
			say(at.DeclRange, "Action without a run block",
				fmt.Sprintf("Nothing carries %q out. Add a run block, or leave the action out of the model that is run.", act.Name))
		case !l.world.Acts(act):
			say(at.Run.Range, "Not carried out by this version",
				fmt.Sprintf("Action %q is carried out by the kind %q, which this version does not serve.", act.Name, at.Run.Kind))
		}
	}
	return diags
}

func settings(l *loaded) map[*model.Action]executor.Settings {
	out := map[*model.Action]executor.Settings{}
	for act, at := range l.Actions {
		out[act] = executor.Settings{
			Timeout: at.Timeout, Settle: at.Settle.Timeout, Interval: at.Settle.Interval, Risk: at.Risk, Undo: at.Undo, Irreversible: !at.Reversible,
		}
		if at.Labels != nil {
			set := out[act]
			set.Labels = func(args []string) (map[string]string, error) { return l.LabelsOf(act, args) }
			out[act] = set
		}
	}
	return out
}

func indent(s, by string) string {
	return by + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n"+by)
}
