package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/validator"
	"github.com/fettleops/fettle/world"
)

// planFlags are the flags of plan.
type planFlags struct {
	state, goal, planner, out, format string
	record, at                        string
	observe, optimal, showPrompt      bool
	limits                            limitFlags
}

func newPlanCommand(a *app) *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan [flags] [MODEL | DOMAIN.pddl PROBLEM.pddl]",
		Short: "Propose a plan, validated, and change nothing",
		Long: `Ask the model's planners for a plan, validate each proposal, give its critique back, until
a plan is valid or the limits are reached. Without planner blocks the built-in search plans.
Language models are called only where the model's policy limits calls and cost; --show-prompt
prints the question without calling anyone, for which neither a key nor a policy is needed.

The plan alone goes to stdout, one action a line; everything else to stderr. The limits are those
of the model's policy, which flags can only tighten; without a policy they are the flags'.

Exit status 0: here is a plan. 2: it was proved that there is none. 3: none was found within the
limits, or none can be told while facts are unknown. 1: it could not be tried.`,
		Example: `  $ fettle plan examples/fleet
  search  8 steps, cost 8, valid, optimal (3 ms)
  drain(api)
  restart(api)
  …
  $ fettle plan examples/fleet | fettle validate --plan - examples/fleet
  valid: 8 steps, cost 8, goal healthy reached

  $ fettle plan --show-prompt examples/coordinated    # what a language model would be asked
  $ fettle plan --observe --out today.json examples/fleet && fettle run --plan today.json examples/fleet`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("-o", f.format, "text", "json"); err != nil {
				return err
			}
			f.limits.given = cmd.Flags().Changed
			return a.plan(cmd.Context(), args, f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.state, "state", "", "the state to start from: the name of a state block or a JSON file; may be left out where the model has one")
	fl.BoolVar(&f.observe, "observe", false, "read the world and start from what is observed")
	fl.StringVar(&f.goal, "goal", "", `the goal, with its arguments: "restored(api)"; may be left out where the model has one`)
	fl.StringVar(&f.planner, "planner", "", "ask this planner alone: the name of a planner block, or search")
	fl.BoolVar(&f.optimal, "optimal", false, "search for a plan of least cost")
	fl.StringVar(&f.out, "out", "", "save the plan in this file, for run --plan and validate --plan")
	fl.BoolVar(&f.showPrompt, "show-prompt", false, "print what the first planner that is not the search (or --planner) would be asked, and ask nobody")
	recordFlag(fl, &f.record)
	atFlag(fl, &f.at)
	fl.StringVarP(&f.format, "output", "o", "text", "text or json")
	f.limits.register(fl)
	a.stateDirFlag(cmd)
	cmd.MarkFlagsMutuallyExclusive("state", "observe")
	cmd.MarkFlagsMutuallyExclusive("show-prompt", "out")
	cmd.MarkFlagsMutuallyExclusive("show-prompt", "record")
	return cmd
}

// planning is one call of plan.
type planning struct {
	loaded  *loaded
	problem validator.Problem
	limits  planLimits
	result  planner.Result
	// startHash identifies the start; empty: the state's JSON does.
	startHash string
}

func (a *app) plan(ctx context.Context, args []string, f planFlags) error {
	task, err := pddlFiles(args)
	if err != nil {
		return err
	}
	if task {
		p, err := a.taskPlanning(args, f)
		if err != nil {
			return err
		}
		return a.propose(ctx, p, f)
	}
	l, err := a.load(modelPath(args))
	if err != nil {
		return err
	}
	defer l.world.Close()
	p := &planning{loaded: l}
	if p.limits, err = f.limits.limits(l.policy); err != nil {
		return err
	}
	if p.problem, err = a.planProblem(ctx, l, f); err != nil {
		return err
	}
	ruler, err := a.ruler(l, p.problem.U, p.problem.GoalName, f.at)
	if err != nil {
		return err
	}
	if ruler != nil {
		p.problem.Rules, p.limits.PlanRule = ruler.Rules(0), ruler.WholePlan(p.problem.Start)
	}
	return a.propose(ctx, p, f)
}

// propose holds the round and prints what came of it.
func (a *app) propose(ctx context.Context, p *planning, f planFlags) error {
	p.limits.Search.Optimal = f.optimal
	if f.showPrompt {
		return a.showPrompt(ctx, p, f)
	}
	rec, err := a.recorder(p.loaded, f.record)
	if err != nil {
		return err
	}
	proposers, said, err := plannersOf(p.loaded, f.planner, p.limits.Search, rec)
	if err != nil {
		return err
	}
	critics, rounds, passed, err := criticsOf(p.loaded, rec)
	if err != nil {
		return err
	}
	p.limits.CriticRounds = rounds
	for _, s := range passed {
		said = append(said, "Warning: "+s)
	}
	a.say(said)
	if err := a.round(ctx, p, proposers, critics); err != nil {
		return err
	}
	if f.out != "" && p.result.Status == planner.Valid {
		if err := p.save(f.out); err != nil {
			return err
		}
	}
	return a.printPlan(p, f.format)
}

// planProblem joins the state and the goal that the flags name.
func (a *app) planProblem(ctx context.Context, l *loaded, f planFlags) (validator.Problem, error) {
	u := model.NewUniverse(l.Model)
	var p validator.Problem
	if f.observe {
		var found []world.Found
		u, found = discover(ctx, l)
		a.warnOfUnfound(found)
		readings, err := a.observeNamed(ctx, l, u, nil)
		if err != nil {
			return p, err
		}
		p.Start = stateOf(u, readings)
		why := map[string]string{}
		for _, r := range readings {
			why[u.Text(r.Atom)] = r.Err
		}
		p.Why = func(atom model.Atom) string { return why[u.Text(atom)] }
	} else {
		start, err := pickState(l.Loaded, u, f.state)
		if err != nil {
			return p, err
		}
		p.Start = start
	}
	p.U = p.Start.Universe()
	goal, args, name, err := pickGoal(l.Loaded, p.U, f.goal)
	if err != nil {
		return p, err
	}
	if goal == nil {
		return p, errors.New("this model has no goal block, so there is nothing to plan for; add one")
	}
	p.Goal, p.GoalArgs, p.GoalName, p.Allowed = goal.Cond, args, name, goal.Actions
	return p, nil
}

// errDeadline ends a planning that takes as long as a whole run may.
var errDeadline = errors.New("the policy's deadline is over")

// round holds the planning round, telling of each attempt on stderr.
func (a *app) round(ctx context.Context, p *planning, proposers []planner.Proposer, critics []planner.Critic) error {
	var budget planner.Budget = planner.Unlimited{}
	line := newWaitingLine(a.err)
	defer line.stop()
	teller := a.attemptTeller(line, proposers)
	tell := func(at planner.Attempt) { teller(p.loaded.tellable(at)) }
	note := func(at planner.Attempt) error { tell(at); return nil }
	if pol := p.loaded.policy; pol != nil {
		spent := newSpending(pol, time.Now)
		budget = spent
		note = func(at planner.Attempt) error { spent.attempted(); tell(at); return nil }
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, pol.Deadline, errDeadline)
		defer cancel()
	}
	res, err := planner.Round(ctx, p.problem, proposers, p.limits.Limits, budget, nil, note, critics...)
	p.result = p.loaded.tellableResult(res)
	tellUsed(line, p.loaded.policy, res.Usage)
	if errors.Is(err, errDeadline) {
		p.result.Reason = errDeadline.Error()
		return nil
	}
	return err
}

// planHash identifies a plan as the approval of a run does.
func (p *planning) planHash() string {
	return executor.PlanHash(p.loaded.Hash, p.problem.GoalName, p.result.Plan)
}
