package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/model/load"
)

func newRestoreCommand(a *app) *cobra.Command {
	var f runFlags
	var path string
	cmd := &cobra.Command{
		Use:   "restore RUN",
		Short: "Put back what a run left worse than it found it",
		Long: "Begins a run of its own that brings the severity of another run's goal down to what it was when that run started:\n" +
			"observed, planned, asked about, guarded and recorded like any other, within the limits of the policy. RUN is an id, the\n" +
			"beginning of one, or \"last\". Its goal is written severity(GOAL) <= N, which `fettle plan --goal` takes too.\n\n" +
			"The goal of that run must give a severity; the report of the run (`fettle show RUN`) tells what it left, and the way\n" +
			"back that was known then. --plan carries that way out, or another.\n\n" +
			"Exit status: as of `fettle run`.",
		Example:     "  fettle restore last\n  fettle restore 01J9ZC --approve --model examples/node-reboot\n  fettle plan --observe --goal \"severity(healthy) <= 0\"",
		Args:        cobra.ExactArgs(1),
		Annotations: map[string]string{guarded: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return a.putBack(cmd.Context(), path, args[0], f)
		},
	}
	modelFlag(cmd, &path)
	fl := cmd.Flags()
	fl.StringVar(&f.plan, "plan", "", "carry out the plan in this file (text or JSON, - for stdin) in place of planning")
	a.drivingFlags(cmd, &f, "of this run")
	return cmd
}

func (a *app) putBack(ctx context.Context, path, name string, f runFlags) error {
	l, err := a.load(path)
	if err != nil {
		return err
	}
	l.world.Close()
	if f.goal, err = a.startOf(ctx, l.Loaded, name); err != nil {
		return err
	}
	return a.run(ctx, path, f)
}

// startOf names the goal that a run's severity is what it was at its start.
func (a *app) startOf(ctx context.Context, l *load.Loaded, name string) (string, error) {
	s, err := a.existingStore(ctx, l)
	if err != nil {
		return "", err
	}
	defer s.Close()
	id, err := findRun(ctx, s, name)
	if err != nil {
		return "", err
	}
	goal, severity, ok, err := executor.StartOf(ctx, s.journal, id)
	switch {
	case err != nil:
		return "", err
	case !ok:
		return "", fmt.Errorf("run %s took no severity at its start: its goal %s gives none, it was not known, or the run observed nothing; "+
			"say what is wanted with `fettle run --goal`", id, goal)
	}
	return executor.NoWorseName(goal, severity), nil
}

// noWorse reads the name of a goal that is the severity of another: of which,
// and how high it may be.
func noWorse(name string) (of string, most float64, ok bool) {
	rest, ok := strings.CutPrefix(name, "severity(")
	i := strings.LastIndex(rest, ") <= ")
	if !ok || i < 0 {
		return "", 0, false
	}
	most, err := strconv.ParseFloat(rest[i+len(") <= "):], 64)
	return rest[:i], most, err == nil
}

// pickSeverity returns the goal that the severity of another is at most so high.
func pickSeverity(l *load.Loaded, u *model.Universe, of string, most float64) (*model.Goal, []int32, string, error) {
	g, args, name, err := pickGoal(l, u, of)
	switch {
	case err != nil:
		return nil, nil, "", err
	case g == nil || g.Severity == nil:
		return nil, nil, "", fmt.Errorf("the goal %s gives no severity", of)
	}
	g = executor.NoWorse(g, name, most)
	return g, args, g.Name, nil
}
