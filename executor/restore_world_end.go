package executor

import (
	"context"
	"fmt"
	"strings"

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
	if r.returned != nil {
		e.Restored = r.returned.done
	}
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
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "") + "…"
	}
	e.NotRestored = r.notRestored(reason)
	if e.Status != WaitingStatus && !r.mute {
		e.oweBack()
	}
}

// oweBack adds the decision that a person owes about what was not put back.
func (e *Ended) oweBack() {
	switch {
	case len(e.NotRestored) == 0:
	case len(e.WayBack) > 0:
		e.Owed = append(e.Owed, "put back what was not, or decide to leave it: the way back is "+strings.Join(e.WayBack, ", "))
	default:
		e.Owed = append(e.Owed, "decide what becomes of what was not put back")
	}
}

// leaves says how a run that nobody drives leaves the world, as it is cancelled:
// as it said when it began to wait, or that nobody knows.
func (k Canceller) leaves(ctx context.Context, id string, e *Ended) error {
	events, err := eventsOf(ctx, k.Journal, id)
	if err != nil {
		return err
	}
	var start *Baseline
	var last Ended
	acted := false // since it said so
	for _, ev := range events {
		switch ev.Kind {
		case SeverityTaken:
			err = fold(ev, func(b Baseline) { start = &b })
		case RunEnded:
			last, acted = Ended{}, false
			err = fold(ev, func(v Ended) { last = v })
		case StepArmed:
			acted = true
		}
		if err != nil {
			return err
		}
	}
	if !acted {
		e.Undone, e.UndoneMore = last.Undone, last.UndoneMore
	}
	switch {
	case start == nil:
	case acted:
		e.Severity = &SeveritySpan{Start: start.start()}
		e.NotRestored = []NotRestored{{Reason: "the process that drove the run ended without a word: how it left the world is not known"}}
	default:
		e.Severity, e.NotRestored, e.WayBack = last.Severity, last.NotRestored, last.WayBack
		for i := range e.NotRestored {
			e.NotRestored[i].Reason = afterCancel
		}
	}
	return nil
}

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
	for _, a := range r.atoms(r.severityReads()) {
		text := r.u.Text(a)
		was, told := r.baseline.Facts[text]
		now := r.u.Plain(a.Fluent, r.state.Get(a))
		if told && was != now && len(out) < maxCited {
			out = append(out, NotRestored{Fluent: text, Was: was, Now: now, Reason: reason})
		}
	}
	if len(out) == 0 {
		out = append(out, NotRestored{Reason: reason})
	}
	return out
}
