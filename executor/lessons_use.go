package executor

import (
	"context"
	"slices"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner/llm/prompt"
)

// maxPrompted is the number of lessons that a prompt may have.
const maxPrompted = 20

// ApprovedLessons returns what prompts may say of earlier runs for a goal: the lessons
// of the scope, whose keys begin with that prefix, that a person approved and
// that are neither superseded nor stale under the model, the newest first and at
// most 20. The goal is given as a ground atom.
func ApprovedLessons(ctx context.Context, cli *clientv3.Client, scope string, u *model.Universe, goal string) ([]prompt.Lesson, error) {
	all, err := Lessons{Client: cli, Keys: lease.Keys(scope)}.All(ctx, u)
	if err != nil {
		return nil, err
	}
	var out []prompt.Lesson
	for _, l := range slices.Backward(all) {
		if l.State != LessonApproved || l.Goal != goal {
			continue
		}
		about := l.Action
		if about == "" {
			about = "goal " + l.Goal
		}
		if out = append(out, prompt.Lesson{Action: about, Text: l.Failure + "; " + l.Fix}); len(out) == maxPrompted {
			break
		}
	}
	return out, nil
}

// lessonTimeout bounds what a run does about lessons at its end: no run that has
// lost its store ends later for them than need be.
const lessonTimeout = 3 * time.Second

// propose stores what the run teaches, once it is over, and tells which lessons
// are new. What cannot be stored is told too, and is no reason to fail.
func (r *run) propose(ctx context.Context, end Ended) {
	if r.round == 0 || end.Status == WaitingStatus {
		return
	}
	var ev Proposed
	added, err := r.learned(ctx)
	for _, l := range added {
		ev.Lessons = append(ev.Lessons, ProposedLesson{l.Number, l.Key})
	}
	if err != nil {
		ev.Error = err.Error()
	}
	if len(ev.Lessons) > 0 || ev.Error != "" {
		_ = r.emit(ctx, LessonsProposed, ev) // Where that fails so does the run's last event, which tells.
	}
}

func (r *run) learned(ctx context.Context) ([]Lesson, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lessonTimeout)
	defer cancel()
	var events []journal.Event
	for e, err := range r.Journal.Events(ctx) {
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	lessons, err := Learn(r.u, r.ModelHash, events)
	if err != nil {
		return nil, err
	}
	return Lessons{Client: r.Beliefs.Client, Keys: r.Locker.Keys()}.Propose(ctx, lessons)
}
