package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/world"
)

// decisionFlags are the flags of approve and reject.
type decisionFlags struct {
	model, plan, planHash, reason, feedback, format string
}

func (f *decisionFlags) check() error {
	const least = 6
	if f.planHash != "" && len(f.planHash) < least {
		return fmt.Errorf("--plan-hash takes at least %d characters of the hash", least)
	}
	return oneOf("-o", f.format, "text", "json")
}

func newApproveCommand(a *app) *cobra.Command {
	var f decisionFlags
	cmd := &cobra.Command{
		Use:   "approve RUN",
		Short: "Say yes to what a run asks, or give it another plan",
		Long: "Answers the question of a run: whether its plan, or one step of it, may be carried out. It shows what is approved, and\n" +
			"writes down who approved it, when and why. The approval is for that model, goal and plan alone, in the round that asks,\n" +
			"until approval_expires of the policy: the same plan made anew after a failure is asked about again, unless the policy has\n" +
			"approval_covers, and so is a plan that a rule asks about by then. Deleting it, or `fettle reject`, takes it back before\n" +
			"the next action. RUN is an id, the beginning of one, or \"last\".\n\n" +
			"A run that asks on a terminal, or waits with --wait, goes on at once. One that ended waiting (exit status 4) goes on\n" +
			"with `fettle resume`: the approved plan is carried out as it is, without planning anew, if it is still valid from what\n" +
			"is observed then; otherwise the approval is void, and the run plans and asks anew.\n\n" +
			"With --plan another plan is given in place of the one that waits. It is held against the model, the policy and what\n" +
			"was observed last; one that is not valid is refused with its critique, and nothing is kept. A question about one step, or about\n" +
			"going back after the run stopped, takes no plan.\n\n" +
			"Exit status: 0 it is approved, 1 there is nothing that can be, 2 the plan given is not valid.",
		Example: "  fettle approve last --reason \"agreed with the database team\"\n  fettle approve 01J9ZC --plan-hash 5f2b91c07a33\n" +
			"  fettle approve last --plan shorter.plan --model examples/fleet",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return a.withLocker(cmd.Context(), f.model, a.existingStore, func(l *loaded, s *store, k *lease.Locker) error {
				return a.approveRun(cmd.Context(), l, s, k, args[0], f)
			})
		},
	}
	modelFlag(cmd, &f.model)
	fl := cmd.Flags()
	fl.StringVar(&f.plan, "plan", "", "approve the plan in this file (text or JSON, - for stdin) in place of the one that waits")
	fl.StringVar(&f.planHash, "plan-hash", "", "approve this plan alone (the hash, or its beginning): refuse where another waits")
	fl.StringVar(&f.reason, "reason", "", "why; kept with the approval and in the audit log")
	fl.StringVarP(&f.format, "output", "o", "text", "text or json")
	a.stateDirFlag(cmd)
	return cmd
}

func (a *app) approver(l *loaded, s *store, k *lease.Locker) executor.Approver {
	return executor.Approver{Client: s.Client(), Locker: k, Journal: s.journal, Secrets: world.Forms(l.Secrets), Redact: l.Redact}
}

func (a *app) approveRun(ctx context.Context, l *loaded, s *store, k *lease.Locker, name string, f decisionFlags) error {
	id, err := findRun(ctx, s, name)
	if err != nil {
		return err
	}
	by := a.approver(l, s, k)
	p, err := by.Pending(ctx, id)
	if err != nil {
		return err
	}
	w := executor.Word{By: userName(), Reason: l.withoutSecrets(f.reason), PlanHash: f.planHash}
	steps, err := by.Shown(ctx, *p)
	if err != nil {
		return err
	}
	if f.plan != "" {
		if steps, err = a.editPlan(ctx, l, s, k, *p, f, &w); err != nil {
			return err
		}
	}
	rep, err := by.Approve(ctx, *p, l.Hash, w)
	if err != nil {
		return err
	}
	next, err := a.whatNext(ctx, k, id)
	if err != nil {
		return err
	}
	return a.sayApproved(*p, rep, steps, next, f.format)
}

// editPlan reads the plan to be approved in place of the one that waits, and
// refuses it where it is not valid. It returns what the plan is to do.
func (a *app) editPlan(
	ctx context.Context, l *loaded, s *store, k *lease.Locker, p executor.Pending, f decisionFlags, w *executor.Word,
) ([]executor.PlannedStep, error) {
	if err := p.TakesPlan(); err != nil {
		return nil, err
	}
	file, err := a.planFile(f.plan)
	if err != nil {
		return nil, err
	}
	if l.policy == nil {
		return nil, errors.New("this model has no policy, so nothing of it can be run")
	}
	c, err := a.runConfig(l, file, p.Goal) // It checks what a saved plan is for.
	if err != nil {
		return nil, err
	}
	c.Locker, c.Beliefs = k, executor.Beliefs{Client: s.Client(), Keys: k.Keys()}
	checked, err := executor.CheckPlan(ctx, c, s.journal, p.Run, file)
	if err != nil {
		return nil, err
	}
	if checked.Critique != "" {
		return nil, a.refusePlan(checked.Attempt, f.format)
	}
	for _, st := range checked.Read {
		w.Plan = append(w.Plan, st.String())
	}
	if len(w.Plan) == 0 {
		return nil, fmt.Errorf("plan %s has no steps; `fettle cancel %s` ends the run", file.Name, p.Run)
	}
	w.Hash, w.Why = executor.PlanHash(l.Hash, p.Goal, checked.Read), checked.Why
	return checked.Planned, nil
}

// whatNext says what goes on with a run that was answered.
func (a *app) whatNext(ctx context.Context, k *lease.Locker, id string) (string, error) {
	owner, err := k.RunOwnerOf(ctx, id)
	if err != nil {
		return "", err
	}
	if owner == nil || deadHere(owner) {
		return "go on with `fettle resume " + id + "`", nil
	}
	who := owner.Owner
	who.Run, who.Reason = "", ""
	return "the run is under way (" + who.String() + ") and goes on", nil
}
