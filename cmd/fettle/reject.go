package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/policy"
)

func newRejectCommand(a *app) *cobra.Command {
	var f decisionFlags
	cmd := &cobra.Command{
		Use:   "reject RUN",
		Short: "Say no to what a run asks, with or without what to do otherwise",
		Long: "Answers the question of a run with no, or takes an approval back before the next action. RUN is an id, the beginning of\n" +
			"one, or \"last\".\n\n" +
			"Without --feedback the run ends as escalated (rejected). With it the run plans anew, once it is gone on with: the\n" +
			"planners are told what you said, and the plan that you rejected is not taken again, from whatever state.\n\n" +
			"Exit status: 0 it is rejected, 1 there is nothing that can be.",
		Example: "  fettle reject last\n  fettle reject last --feedback \"drain web-2 first: web-1 has the batch jobs until noon\"",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return a.withLocker(cmd.Context(), f.model, a.existingStore, func(l *loaded, s *store, k *lease.Locker) error {
				return a.rejectRun(cmd.Context(), l, s, k, args[0], f)
			})
		},
	}
	modelFlag(cmd, &f.model)
	fl := cmd.Flags()
	fl.StringVar(&f.feedback, "feedback", "", "what to do otherwise; the planners are told, and the run plans anew")
	fl.StringVar(&f.planHash, "plan-hash", "", "reject this plan alone (the hash, or its beginning): refuse where another waits")
	fl.StringVarP(&f.format, "output", "o", "text", "text or json")
	a.stateDirFlag(cmd)
	return cmd
}

// rejectedJSON is a rejection, as JSON.
type rejectedJSON struct {
	executor.Reply
	Ended *executor.Ended `json:"ended,omitempty"` // the run, by this
	Next  string          `json:"next,omitempty"`  // what is to be done
}

func (a *app) rejectRun(ctx context.Context, l *loaded, s *store, k *lease.Locker, name string, f decisionFlags) error {
	id, err := findRun(ctx, s, name)
	if err != nil {
		return err
	}
	by := a.approver(l, s, k)
	by.Model = a.modelOf(ctx, s, f.model, id)
	rep, err := by.Reject(ctx, id, executor.Word{By: userName(), Feedback: l.withoutSecrets(f.feedback), PlanHash: f.planHash})
	if err != nil {
		return err
	}
	out := rejectedJSON{Reply: rep}
	if out.Ended, out.Next, err = a.afterRejection(ctx, l, s, k, by, rep); err != nil {
		return err
	}
	if f.format == "json" {
		return writeJSON(a.out, out)
	}
	what := "plan " + shortHash(rep.PlanHash)
	if rep.Step > 0 {
		what = fmt.Sprintf("step %d of plan %s", rep.Step, shortHash(rep.PlanHash))
	}
	fmt.Fprintf(a.out, "rejected for run %s, goal %s: %s\n", id, plain(rep.Goal), what)
	if out.Ended != nil {
		fmt.Fprintf(a.out, "the run has ended as %s (%s) after %s, %s\n", out.Ended.Status, out.Ended.Reason, count(out.Ended.Rounds, "round"), count(out.Ended.Actions, "action"))
		for _, d := range out.Ended.InDoubt {
			fmt.Fprintf(a.out, "  in doubt  %s\n", plain(d))
		}
	}
	if out.Next != "" {
		fmt.Fprintln(a.out, out.Next)
	}
	return nil
}

// afterRejection ends a run that nobody drives and that is not to plan anew, or
// says what goes on with it.
func (a *app) afterRejection(
	ctx context.Context, l *loaded, s *store, k *lease.Locker, by executor.Approver, rep executor.Reply,
) (*executor.Ended, string, error) {
	if rep.Feedback != "" {
		next, err := a.whatNext(ctx, k, rep.Run)
		if err == nil {
			next += "; it plans anew"
		}
		return nil, next, err
	}
	head, err := headOf(ctx, s, rep.Run)
	if err != nil {
		return nil, "", err
	}
	if l.policy != nil && l.policy.OnStop == policy.Restore && head.Actions > 0 {
		next, err := a.whatNext(ctx, k, rep.Run)
		return nil, next + ": it puts back what it did (on_stop = restore) and ends", err
	}
	end, err := by.EndRejected(ctx, rep)
	var owned *lease.OwnedError
	switch {
	case err == nil:
		return &end, "", nil
	case errors.As(err, &owned) && deadHere(owned):
		return nil, "its process was killed: `fettle resume " + rep.Run + "` ends the run, as rejected", nil
	case errors.As(err, &owned):
		return nil, "the run is under way: it ends before its next action", nil
	}
	return nil, "", err
}
