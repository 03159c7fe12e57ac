package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/model"
)

func newLessonsApproveCommand(a *app) *cobra.Command {
	return a.lessonCommand(executor.ApproveLesson, &cobra.Command{
		Use:   "approve N",
		Short: "Let a lesson into the prompts of language models",
		Long: "Approves a lesson: from now on the prompts of the model's planners say it, as data, whenever they plan for its goal. An\n" +
			"approved one that has the same goal and the same failure is superseded by it. Who approved it, when and why is written down,\n" +
			"and `fettle lessons reject` takes the approval back.",
		Example: "  fettle lessons approve 3 --reason \"the balancer needs it\"",
	})
}

func newLessonsRejectCommand(a *app) *cobra.Command {
	return a.lessonCommand(executor.RejectLesson, &cobra.Command{
		Use:   "reject N",
		Short: "Keep a lesson out of prompts",
		Long: "Rejects a lesson, or takes its approval back: no prompt says it, and no later run proposes the same again. Who rejected it,\n" +
			"when and why is written down.",
		Example: "  fettle lessons reject 4 --reason \"only so during the migration\"",
	})
}

// lessonCommand completes a command that decides on a lesson.
func (a *app) lessonCommand(deed executor.LessonDeed, cmd *cobra.Command) *cobra.Command {
	var path, reason, format string
	cmd.Args = cobra.ExactArgs(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		n, err := strconv.ParseInt(args[0], 10, 64)
		if err != nil || n < 1 {
			return fmt.Errorf("a lesson is named by its number, not by %q; `fettle lessons` lists them", args[0])
		}
		if err := oneOf("-o", format, "text", "json"); err != nil {
			return err
		}
		err = a.withLessons(cmd.Context(), path, func(l *loaded, u *model.Universe, s executor.Lessons) error {
			return a.decideLesson(cmd.Context(), u, s, n, deed, l.withoutSecrets(reason), format)
		})
		return without(err, noLessons)
	}
	modelFlag(cmd, &path)
	cmd.Flags().StringVar(&reason, "reason", "", "why; it is written down")
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text or json")
	a.stateDirFlag(cmd)
	return cmd
}

func (a *app) decideLesson(
	ctx context.Context, u *model.Universe, s executor.Lessons, n int64, deed executor.LessonDeed, reason, format string,
) error {
	r, err := s.Decide(ctx, u, n, deed, userName(), reason)
	switch {
	case errors.Is(err, executor.ErrNoLesson):
		return fmt.Errorf("there is no lesson %d; `fettle lessons` lists them", n)
	case err != nil:
		return err
	case format == "json":
		return writeJSON(a.out, r)
	}
	last := r.Decisions[len(r.Decisions)-1]
	if r.Already {
		fmt.Fprintf(a.out, "lesson %d is %s\n", n, plain(decision(last)))
		return nil
	}
	fmt.Fprintf(a.out, "lesson %d is %s\n", n, r.State)
	for _, old := range r.Superseded {
		fmt.Fprintf(a.out, "  lesson %d is superseded by it\n", old)
	}
	return nil
}
