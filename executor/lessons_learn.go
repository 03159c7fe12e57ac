package executor

import (
	"fmt"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/model"
)

// Learn derives the lessons of a run from its events and from the model that
// has this hash. It is a pure function of them. A failure makes a lesson once it
// is confirmed that it was mended:
//
//   - the validator's critique of a plan, by a plan that it accepted later in
//     the same round, by the same action when it was carried out later and its
//     effects were seen, or by observing that the goal holds after steps which
//     were carried out later;
//   - an action whose effects did not show, by seeing those effects after an
//     action that was carried out later.
//
// What was learnt under another model, before the run was gone on with, is
// left out, and so is what a state that changed by itself seems to teach. The
// error is that of an event which cannot be read.
func Learn(u *model.Universe, modelHash string, events []journal.Event) ([]Lesson, error) {
	l := &learner{u: u, known: map[string]bool{}}
	for _, e := range events {
		if err := l.event(e); err != nil {
			return nil, fmt.Errorf("event %d (%s): %w", e.Seq, e.Kind, err)
		}
	}
	if l.model != modelHash {
		return nil, nil
	}
	return l.lessons, nil
}

// learner is what is folded from the events of a run, in their order.
type learner struct {
	u       *model.Universe
	goal    string
	model   string // hash of the model that the run is driven with
	planner string // of the plan under way
	open    []*mistake
	done    []string // steps that were carried out, in order
	lessons []Lesson
	known   map[string]bool // failure keys of lessons
}

// mistake is a failure that nothing has mended yet.
type mistake struct {
	Lesson
	round  int
	since  int            // steps carried out before it
	unseen map[string]any // the effects that did not show, and what they should be; nil for a critique
}

func (l *learner) event(e journal.Event) error {
	switch e.Kind {
	case RunStarted:
		return fold(e, func(v Started) { l.goal, l.model = v.Goal, v.ModelHash })
	case RunResumed:
		return fold(e, func(v Resumed) { l.under(v.ModelHash) })
	case AttemptMade:
		return fold(e, func(v Attempt) { l.attempt(e, v) })
	case PlanAccepted:
		return fold(e, func(v Plan) { l.accepted(e, v) })
	case StepFinished:
		return fold(e, func(v Finished) { l.finished(e, v) })
	case Observed:
		return fold(e, func(v Observation) { l.observed(e, v) })
	}
	return nil
}

// under notes which model the run goes on with.
func (l *learner) under(hash string) {
	if hash != l.model {
		*l = learner{u: l.u, goal: l.goal, model: hash, known: map[string]bool{}}
	}
}

func (l *learner) attempt(e journal.Event, v Attempt) {
	bad := v.Violation
	if bad == nil {
		return
	}
	l.failed(e, mistake{round: v.Round, Lesson: Lesson{
		Planner: v.Planner, Kind: v.Kind, Action: bad.Action, Missing: bad.Missing, Key: bad.Key, Failure: sentence(v.Critique),
	}})
}

// failed opens a mistake, or adds to the same one.
func (l *learner) failed(e journal.Event, m mistake) {
	for _, o := range l.open {
		if o.Key == m.Key {
			o.round = m.round
			if len(o.Failed) < maxSeqs {
				o.Failed = append(o.Failed, e.Seq)
			}
			return
		}
	}
	m.Goal, m.ModelHash, m.Run, m.Failed, m.since = l.goal, l.model, e.Run, []int64{e.Seq}, len(l.done)
	l.open = append(l.open, &m)
}

// accepted takes in a plan that the validator accepted: it mends what was wrong
// with the plans of its round.
func (l *learner) accepted(e journal.Event, v Plan) {
	l.planner = v.Planner
	l.mended(e, func(m *mistake) string {
		if m.unseen != nil || m.round != v.Round {
			return ""
		}
		return acceptedInstead(v.Steps)
	})
}

func (l *learner) finished(e journal.Event, v Finished) {
	missed := unshown(v)
	switch {
	case v.Outcome == applied, v.Outcome == diverged && len(unseen(v.Seen)) == 0:
		l.done = append(l.done, v.Action)
		l.mended(e, func(m *mistake) string {
			if m.unseen == nil && m.Action == v.Action && witnessed(v.Seen) || m.unseen != nil && shown(m.unseen, v.Seen) {
				return reachedBy(m.Action, l.done[m.since:])
			}
			return ""
		})
	case v.Outcome == diverged && len(missed) > 0:
		names := unseen(v.Seen)
		l.failed(e, mistake{round: v.Round, unseen: missed, Lesson: Lesson{
			Planner: l.planner, Kind: diverged, Action: v.Action, Missing: clipped(names[:min(len(names), maxConjuncts)]),
			Key: boundedKey(diverged, v.Action, names), Failure: sentence(describe(v)),
		}})
	}
}

// unshown are the effects in whose place something else was observed, where
// that is so of all that were not seen: what could not be observed proves nothing.
func unshown(v Finished) map[string]any {
	out := map[string]any{}
	for _, s := range v.Seen {
		if s.Verified != "no" {
			continue
		}
		if s.Value == nil {
			return nil
		}
		out[s.Fluent] = s.Want
	}
	return out
}

// shown tells whether everything wanted was observed. What is decoded from JSON
// is a bool, a number or a string.
func shown(want map[string]any, seen []Seen) bool {
	n := 0
	for _, s := range seen {
		if v, ok := want[s.Fluent]; ok && v == s.Want && s.Verified == "observed" {
			n++
		}
	}
	return n == len(want)
}

func witnessed(seen []Seen) bool {
	for _, s := range seen {
		if s.Verified == "observed" {
			return true
		}
	}
	return false
}

// observed takes in a look at the world: where the goal holds, the steps that
// were carried out since mend what was wrong with the plans before them.
func (l *learner) observed(e journal.Event, v Observation) {
	if len(v.Missing) > 0 || v.More > 0 {
		return
	}
	l.mended(e, func(m *mistake) string {
		if m.unseen != nil || m.since == len(l.done) {
			return ""
		}
		return reachedBy(m.Action, l.done[m.since:])
	})
}

// mended makes lessons of the mistakes that an event mends: fix says how, ""
// where it does not.
func (l *learner) mended(e journal.Event, fix func(*mistake) string) {
	var open []*mistake
	for _, m := range l.open {
		how := fix(m)
		if how == "" {
			open = append(open, m)
			continue
		}
		def, ok := Definition(l.u, m.Kind, m.Action, m.Goal)
		if !ok || l.known[string(m.Key)] || len(l.lessons) == maxLearned {
			continue
		}
		l.known[string(m.Key)] = true
		m.Fix, m.Definition, m.Fixed, m.At = how, def, []int64{e.Seq}, e.Time
		l.lessons = append(l.lessons, m.Lesson)
	}
	l.open = open
}
