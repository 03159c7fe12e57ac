package executor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/policy"
)

// reckon says how the run leaves the world: the severity at its start and now,
// what it put back and what not, and the way back that is known from here.
func (r *run) reckon(ctx context.Context, e *Ended) {
	if r.baseline == nil || r.gone {
		return
	}
	now := r.severity(r.state)
	e.Severity = &SeveritySpan{Start: r.baseline.start(), Now: now.value()}
	e.Restored = r.restored
	if r.actions == 0 || now.hi <= *r.lowest() {
		return
	}
	reason := r.whyNot(*e)
	if r.bore(r.deeds) && !r.mute {
		w := way{how: NoneAtAll}
		r.find(context.WithoutCancel(ctx), &w, r.state, r.deeds, "")
		if w.ok() {
			e.WayBack = texts(w.steps)
			if more := len(e.WayBack) - maxListed; more > 0 {
				e.WayBack = append(e.WayBack[:maxListed], fmt.Sprintf("and %d more", more))
			}
		} else if r.returned == nil || r.returned.why == "" {
			reason += "; no way back is known from here: " + w.why
		}
	}
	if !r.mute && e.Status != Succeeded {
		reason += r.sayLeft(e.WayBack)
	}
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "") + "…"
	}
	e.NotRestored = r.notRestored(reason)
	if e.Status != WaitingStatus && !r.mute {
		e.oweBack(r.Journal.ID())
	}
}

// oweBack adds the decision that a person owes about what was not put back.
func (e *Ended) oweBack(run string) {
	switch {
	case len(e.NotRestored) == 0:
	case len(e.WayBack) > 0:
		e.Owed = append(e.Owed, "put back what was not (`fettle restore "+run+"`), or decide to leave it: the way back is "+strings.Join(e.WayBack, ", "))
	default:
		e.Owed = append(e.Owed, "decide what becomes of what was not put back")
	}
}

// leaves says how a run that nobody drives leaves the world, as it is cancelled:
// as it said when it began to wait; or, where its process ended without a word,
// as its journal knows it. It returns what the run found when it began.
func (k Canceller) leaves(ctx context.Context, id string, e *Ended) (*Observation, error) {
	events, err := eventsOf(ctx, k.Journal, id)
	if err != nil {
		return nil, err
	}
	w, err := wordsOf(events)
	if err != nil {
		return nil, err
	}
	if w.silent {
		k.lastKnown(ctx, id, e, w, events)
		return w.first, nil
	}
	e.Undone, e.UndoneMore, e.LastSeen, e.Unseen = w.last.Undone, w.last.UndoneMore, w.last.LastSeen, w.last.Unseen
	if w.start != nil {
		e.Severity, e.NotRestored, e.WayBack = w.last.Severity, w.last.NotRestored, w.last.WayBack
		for i := range e.NotRestored {
			e.NotRestored[i].Reason = afterCancel
		}
	}
	return w.first, nil
}

// words are what a run said of the world at its beginning and last.
type words struct {
	first  *Observation
	start  *Baseline
	last   Ended
	silent bool // something was done since
}

func wordsOf(events []journal.Event) (w words, err error) {
	w.silent = true
	for _, ev := range events {
		switch ev.Kind {
		case Observed:
			if w.first == nil {
				err = fold(ev, func(o Observation) { w.first = &o })
			}
			w.silent = true
		case SeverityTaken:
			err = fold(ev, func(b Baseline) { w.start = &b })
		case RunEnded:
			w.last, w.silent = Ended{}, false
			err = fold(ev, func(v Ended) { w.last = v })
		case DoubtResolved: // A person may say so while nobody drives the run.
		default:
			w.silent = true
		}
		if err != nil {
			return w, fmt.Errorf("event %d (%s): %w", ev.Seq, ev.Kind, err)
		}
	}
	return w, nil
}

// lastKnown says how a run whose process ended without a word left the world.
func (k Canceller) lastKnown(ctx context.Context, id string, e *Ended, w words, events []journal.Event) {
	body := func(sum string) ([]byte, error) { return k.Journal.Blob(ctx, id, sum) }
	known, err := k.known(events, body)
	if known != nil {
		at := known.At
		e.Undone, e.UndoneMore, e.LastSeen = known.Missing, known.More, &at
		e.fit()
	} else if !errors.Is(err, errUnlooked) {
		e.Unseen = "the process that drove the run ended without a word, and what it had seen is not known: " + err.Error()
		if len(e.Unseen) > maxReason {
			e.Unseen = strings.ToValidUTF8(e.Unseen[:maxReason], "") + "…"
		}
	}
	if w.start == nil {
		return
	}
	e.Severity = &SeveritySpan{Start: w.start.start()}
	if known == nil || known.past.Goal.Severity == nil {
		if e.Actions > 0 {
			e.NotRestored = []NotRestored{{Reason: withoutAWord + ": how it left the world is not known"}}
		}
		return
	}
	now := known.past.severity(known.past.state)
	e.Severity.Now = now.value()
	if e.Actions > 0 && now.hi > *known.past.lowest() {
		e.NotRestored = known.past.notRestored(withoutAWord + ": this is as it was seen last")
	}
}

func (k Canceller) known(events []journal.Event, body func(string) ([]byte, error)) (*LastKnown, error) {
	if k.Model == nil {
		return nil, errors.New("there is no model to read it with")
	}
	return Known(events, body, k.Model)
}

// withoutAWord is why a run did not go back.
const withoutAWord = "the process that drove the run ended without a word"

// afterCancel is why a run that was cancelled does not go back.
const afterCancel = "nothing is begun once a run is cancelled"

// maxReason bounds a reason that stands with each of many facts.
const maxReason = 1000

// lowest is the severity of the start, whatever a person approved since.
func (r *run) lowest() *float64 {
	if r.baseline.Least != nil {
		return r.baseline.Least
	}
	return &r.ceiling
}

// whyNot says why the severity is above that of the start.
func (r *run) whyNot(e Ended) string {
	switch {
	case r.returned != nil && r.returned.why != "":
		return r.returned.why
	case r.ceiling > *r.lowest() && r.fine(r.state):
		return "a person approved an action from which no way back was known"
	case r.returned != nil:
		return "what the run did is taken back, as far as the model tells"
	case e.Status == Succeeded:
		return "the goal holds so"
	case e.Status == WaitingStatus:
		return "the run waits"
	case e.Status == Cancelled:
		return afterCancel
	case r.Policy.OnStop != policy.Restore:
		return `the policy's on_stop is "report"`
	case r.Policy.Mode == policy.Suggest:
		return `the policy's mode is "suggest"`
	}
	return "nothing more could be done"
}

// notRestored lists the facts on which the severity rests and which are not what
// they were.
func (r *run) notRestored(reason string) []NotRestored {
	var out []NotRestored
	wrote := r.wrote(r.deeds)
	for _, a := range r.atoms(r.severityReads()) {
		text := r.u.Text(a)
		was, told := r.baseline.Facts[text]
		now := r.u.Plain(a.Fluent, r.state.Get(a))
		if told && was != now && len(out) < maxCited {
			out = append(out, NotRestored{Fluent: text, Was: was, Now: now, Others: !within(model.Ref(a), wrote), Reason: reason})
		}
	}
	if len(out) == 0 {
		out = append(out, NotRestored{Reason: reason})
	}
	return out
}
