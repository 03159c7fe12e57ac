package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/model"
)

// noLessons says that there is nothing to decide on.
const noLessons = "no run has proposed a lesson"

func newLessonsCommand(a *app) *cobra.Command {
	var path, format string
	cmd := &cobra.Command{
		Use:   "lessons",
		Short: "What runs have learned about planning, and its approval",
		Long: "Lists the lessons that runs have proposed: a failure of a plan, and what mended it, each confirmed by the validator or by\n" +
			"observation. Nothing in a lesson was written by a language model. One reaches the prompts of the model's planners only once\n" +
			"a person has approved it, for its own goal, and only as long as the action that failed is as it was: one whose action has\n" +
			"changed in the model since is stale. Lessons never bear on what the validator or the policy allow.\n\n" +
			"Lessons are kept beside the journal and are never edited or deleted; the archive moves runs, not lessons.",
		Example: "  fettle lessons --model examples/fleet\n  fettle lessons approve 3 --reason \"the balancer needs it\"\n  fettle lessons reject 4",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf("-o", format, "text", "json"); err != nil {
				return err
			}
			err := a.withLessons(cmd.Context(), path, func(_ *loaded, u *model.Universe, s executor.Lessons) error {
				return a.lessons(cmd.Context(), u, s, format)
			})
			return a.orNone(err, format, noLessons)
		},
	}
	modelFlag(cmd, &path)
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text or json")
	a.stateDirFlag(cmd)
	cmd.AddCommand(newLessonsApproveCommand(a), newLessonsRejectCommand(a))
	return cmd
}

// withLessons uses the lessons in the model's store, where there is one.
func (a *app) withLessons(ctx context.Context, path string, use func(*loaded, *model.Universe, executor.Lessons) error) error {
	return a.withLocker(ctx, path, a.existingStore, func(l *loaded, s *store, k *lease.Locker) error {
		return use(l, model.NewUniverse(l.Model), executor.Lessons{Client: s.Client(), Keys: k.Keys()})
	})
}

func (a *app) lessons(ctx context.Context, u *model.Universe, s executor.Lessons, format string) error {
	all, err := s.All(ctx, u)
	if err != nil {
		return err
	}
	if format == "json" {
		return writeJSON(a.out, all)
	}
	if len(all) == 0 {
		fmt.Fprintln(a.err, noLessons)
	}
	for _, l := range all {
		a.lesson(l)
	}
	return nil
}

// lesson shows one lesson to a person.
func (a *app) lesson(l executor.Standing) {
	p := newPaint(a.out)
	state := string(l.State)
	if l.State == executor.LessonProposed || l.State == executor.LessonStale {
		state = p.warn(state)
	}
	fmt.Fprintf(a.out, "%d  %s  goal %s  %s\n", l.Number, state, plain(l.Goal), plain(string(l.Key)))
	fmt.Fprintf(a.out, "    failed  %s\n", plain(l.Failure))
	fmt.Fprintf(a.out, "    fix     %s\n", plain(l.Fix))
	fmt.Fprintf(a.out, "    from    %s\n", plain(origin(l.Lesson)))
	if l.State == executor.LessonStale {
		fmt.Fprintf(a.out, "    stale   what it is about was changed in the model since; it is not used\n")
	}
	for _, d := range l.Decisions {
		fmt.Fprintf(a.out, "    %s\n", plain(decision(d)))
	}
}

// origin says where a lesson comes from.
func origin(l executor.Lesson) string {
	from := fmt.Sprintf("run %s, events %s", l.Run, numbers(append(append([]int64{}, l.Failed...), l.Fixed...)))
	if l.Planner != "" {
		from += ", planner " + l.Planner
	}
	return from + ", " + l.At.Local().Format(time.DateTime)
}

func numbers(ns []int64) string {
	var out []string
	for _, n := range ns {
		out = append(out, fmt.Sprint(n))
	}
	return strings.Join(out, ", ")
}

// decision says who decided what.
func decision(d executor.LessonDecision) string {
	done := map[executor.LessonDeed]string{
		executor.ApproveLesson: "approved", executor.RejectLesson: "rejected", executor.SupersedeLesson: "superseded",
	}[d.Deed]
	s := fmt.Sprintf("%s by %s on %s", done, d.By, d.Host)
	if d.For != 0 {
		s += fmt.Sprintf(", who approved %d in its place", d.For)
	}
	s += ", " + d.At.Local().Format(time.DateTime)
	if d.Reason != "" {
		s += ": " + d.Reason
	}
	return s
}
