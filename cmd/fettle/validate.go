package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

type validateFlags struct {
	plan, state, goal, format, at string
	trace                         bool
}

func newValidateCommand(a *app) *cobra.Command {
	var f validateFlags
	cmd := &cobra.Command{
		Use:   "validate --plan FILE [flags] [MODEL | DOMAIN.pddl PROBLEM.pddl]",
		Short: "Simulate a plan offline, changing nothing",
		Long: `Simulate a whole plan from a state and report the first violation: what fails,
since which step, and what would mend it. Nothing outside is read or changed.

Exit status 0: the plan is valid. 2: it is not. 1: it could not be told.`,
		Example: `  $ cat swapped.plan
  drain(api)
  restart(api)
  drain(db)
  readd(api)
  $ fettle validate --plan swapped.plan --state fault examples/classic
  step 3: drain(db) not applicable; missing capacity

    capacity = false since step 1: drain(api)
    would be restored by readd(api) (applicable now), readd(db)
    repair: move step 4, readd(api), before step 3

  $ fettle validate blocks.pddl blocks-4-0.pddl --plan blocks-4-0.plan
  valid: 6 steps, cost 6, goal blocks-4-0 reached`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			if a.restore != nil {
				a.restore() // A plan may have no end, and there is nothing to be put in order.
			}
			return a.validate(args, f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.plan, "plan", "", "the plan, as text, PDDL or JSON; - for stdin")
	fl.StringVar(&f.state, "state", "", "the state to start from: the name of a state block or a JSON file; may be left out where the model has one")
	fl.StringVar(&f.goal, "goal", "", `the goal, with its arguments: "restored(api)"; may be left out where the model has one`)
	fl.StringVarP(&f.format, "output", "o", "text", "text or json")
	atFlag(fl, &f.at)
	fl.BoolVar(&f.trace, "trace", false, "show what every step changes")
	_ = cmd.MarkFlagRequired("plan") // the flag exists
	return cmd
}

func (a *app) validate(args []string, f validateFlags) error {
	if err := oneOf("-o", f.format, "text", "json"); err != nil {
		return err
	}
	var rules ruling
	p, err := a.validationProblem(args, f, &rules)
	if err != nil {
		return err
	}
	plan, err := a.openPlan(f.plan)
	if err != nil {
		return err
	}
	defer plan.Close()
	return a.report(p, plan, f, &rules)
}

// validationProblem is what the plan is held against: a model with the state
// and the goal that the flags name, or a PDDL task.
func (a *app) validationProblem(args []string, f validateFlags, rules *ruling) (validator.Problem, error) {
	var p validator.Problem
	if task, err := pddlFiles(args); err != nil {
		return p, err
	} else if task {
		return a.taskProblem(args, f)
	}
	l, err := a.load(modelPath(args))
	if err != nil {
		return p, err
	}
	defer l.world.Close()
	if p.Start, err = pickState(l.Loaded, model.NewUniverse(l.Model), f.state); err != nil {
		return p, err
	}
	p.U = p.Start.Universe()
	goal, words, name, err := pickGoal(l.Loaded, p.U, f.goal)
	if goal != nil {
		p.Goal, p.GoalArgs, p.GoalName, p.Allowed = goal.Cond, words, name, goal.Actions
	}
	if err != nil {
		return p, err
	}
	rules.Ruler, err = a.ruler(l, p.U, name, f.at)
	return p, err
}

func (a *app) taskProblem(args []string, f validateFlags) (validator.Problem, error) {
	if err := notForTasks(map[string]bool{"state": f.state != "", "goal": f.goal != ""}); err != nil {
		return validator.Problem{}, err
	}
	t, err := a.loadTask(args)
	if err != nil {
		return validator.Problem{}, err
	}
	return problemOf(t), nil
}

// openPlan opens a plan file, or stdin for "-".
func (a *app) openPlan(file string) (io.ReadCloser, error) {
	if file == "-" {
		return io.NopCloser(a.in), nil
	}
	r, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read the plan: %w", err)
	}
	return r, nil
}

// report validates and prints; the exit code is the answer.
func (a *app) report(p validator.Problem, plan io.Reader, f validateFlags, rules *ruling) error {
	out := bufio.NewWriter(a.out)
	trace := []tracedStep{}
	switch {
	case f.trace && f.format == "json":
		p.Trace = func(step int, g model.Ground, writes []model.Write) {
			trace = append(trace, traceStep(p.U, step, g, writes))
		}
	case f.trace:
		p.Trace = func(step int, g model.Ground, writes []model.Write) {
			printTrace(out, p.U, step, g, writes)
		}
	}
	rules.follow(&p)
	r := validator.Validate(p, validator.ReadPlan(plan))
	if r.Err != nil {
		return fmt.Errorf("read the plan: %w", r.Err)
	}
	for _, why := range rules.hold(&r) {
		fmt.Fprintln(a.err, "a person would be asked:", why)
	}
	if err := writeReport(out, &r, f, trace); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if !r.Valid {
		return answer(exitNo)
	}
	return nil
}

func writeReport(out *bufio.Writer, r *validator.Report, f validateFlags, trace []tracedStep) error {
	if f.format == "text" {
		if f.trace && r.Steps > 0 {
			fmt.Fprintln(out)
		}
		return r.WriteText(out)
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	doc, err := r.MarshalJSON()
	if err != nil {
		return err
	}
	if f.trace {
		steps, err := json.Marshal(trace)
		if err != nil {
			return err
		}
		doc = fmt.Appendf(doc[:len(doc)-1], `,"trace":%s}`, steps)
	}
	return enc.Encode(json.RawMessage(doc))
}

// tracedStep is what a step changed, as JSON shows it.
type tracedStep struct {
	Step    int            `json:"step"`
	Action  string         `json:"action"`
	Changes []tracedChange `json:"changes"`
}

type tracedChange struct {
	Fluent string `json:"fluent"`
	From   any    `json:"from"`
	To     any    `json:"to"`
}

func traceStep(u *model.Universe, step int, g model.Ground, writes []model.Write) tracedStep {
	t := tracedStep{step, u.StepText(g), []tracedChange{}}
	for _, w := range writes {
		if w.Changed() {
			t.Changes = append(t.Changes, tracedChange{writeText(u, w), u.Plain(w.Fluent, w.Old), u.Plain(w.Fluent, w.New)})
		}
	}
	return t
}

// printTrace writes one line a step: its number, the action, what changed.
func printTrace(out io.Writer, u *model.Universe, step int, g model.Ground, writes []model.Write) {
	var changes []string
	for _, w := range writes {
		if w.Changed() {
			changes = append(changes, writeText(u, w)+" → "+u.ValueText(w.Fluent, w.New))
		}
	}
	if len(changes) == 0 {
		changes = []string{"no change"}
	}
	fmt.Fprintf(out, "%5d  %s  %s\n", step, u.StepText(g), strings.Join(changes, ", "))
}

func writeText(u *model.Universe, w model.Write) string {
	return u.Text(model.Atom{Fluent: w.Fluent, Args: u.Args(w.Fluent, w.Index)})
}
