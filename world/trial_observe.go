package world

import (
	"context"
	"fmt"
	"time"

	"github.com/fettleops/fettle/model"
)

// tryObserve asks every observe block, and judges the answers.
func (w *World) tryObserve(ctx context.Context, t Trying) []Trial {
	r := &round{w: w, u: t.Universe, asked: map[string]*asked{}, seen: map[*model.Fluent]map[uint64]bool{}}
	more := map[*observer]bool{}
	for _, f := range t.Universe.Fluents {
		if o := w.observers[f]; o != nil && w.tries(o) {
			more[o] = r.sample(o)
		}
	}
	r.ask(ctx)
	told := map[*observer]*observed{}
	for _, a := range r.atoms {
		d := told[a.o]
		if d == nil {
			d = &observed{o: a.o}
			told[a.o] = d
		}
		d.add(ctx, r, a)
	}
	var out []Trial
	for _, f := range t.Universe.Fluents {
		if o := w.observers[f]; o != nil && w.tries(o) {
			out = append(out, told[o].judge(t.Universe, o, more[o])...)
		}
	}
	return append(out, w.trySettle(ctx, t, told)...)
}

// tries tells whether the observer's source can be tried by itself. The store of
// the leases is not part of the world.
func (w *World) tries(o *observer) bool { return o.kind.name != "lease" }

// sample adds the instances that are tried; more where there are others.
func (r *round) sample(o *observer) (more bool) {
	n := 0
	for a := range r.u.Atoms(o.fluent) {
		if n++; n > maxTried && !o.shared {
			return true
		}
		r.addAtom(o, a)
	}
	return false
}

// observed is what was answered about one fluent.
type observed struct {
	o                  *observer
	readings           []Reading
	silent             int    // instances of which nothing was answered
	why                string // the first such
	known              int
	unknown            *Reading // the first that is not known though there is an answer
	oldest             time.Time
	series             *seriesAnswer
	matched            *Matched
	source             Source
	silentButForAbsent bool
}

func (d *observed) add(ctx context.Context, r *round, a askedAtom) {
	got := r.read(a)
	got.Err, got.Note = r.w.sensitive.text(got.Err), r.w.sensitive.text(got.Note)
	if ctx.Err() != nil {
		got = Reading{Atom: a.atom, Source: a.source(), Err: context.Cause(ctx).Error()}
	}
	if len(d.readings) == 0 {
		d.source = got.Source
	}
	d.readings = append(d.readings, got)
	answered := a.err == nil && a.asked.answer.env != nil && ctx.Err() == nil
	switch {
	case !answered:
		if d.silent++; d.silent == 1 {
			d.why, d.source = got.Err, got.Source
			if got.Value.Known() {
				d.why = got.Note
			}
		}
		d.silentButForAbsent = d.silentButForAbsent || got.Value.Known()
	case got.Value.Known():
		d.known++
	case d.unknown == nil:
		d.unknown = &got
	}
	if answered {
		d.series, d.matched = a.asked.answer.series, got.Matched
		if t := got.Sampled; d.oldest.IsZero() || t.Before(d.oldest) {
			d.oldest = t
		}
	}
}

// judge says what came of an observe block, and of its freshness query.
func (d *observed) judge(u *model.Universe, o *observer, more bool) []Trial {
	t := Trial{
		Block: fmt.Sprintf("observe %q of fluent %q", o.kind.name, o.fluent.Name), Source: Source{Kind: o.kind.name},
		Range: o.at.of("query", "url", "command"),
	}
	if d == nil {
		t.Says = "not tried: there is no object to ask about"
		return []Trial{t}
	}
	t.Source = d.source
	d.say(u, &t)
	if more {
		t.Says += fmt.Sprintf("; only the first %d instances were asked about", maxTried)
	}
	out := []Trial{t}
	if d.series != nil && o.series.fresh && len(d.series.times) == 0 {
		out = append(out, Trial{
			Block: "freshness of " + t.Block, Source: Source{Kind: o.kind.name, Query: o.series.freshness}, Range: o.at.of("freshness"),
			Says: "the answer has no series", Wrong: "Nothing matched",
			Mend: "Nothing tells when the samples were taken, so that no effect on the fluent is ever confirmed, and with max_age it is unknown to every guard.",
		})
	}
	return out
}

func (d *observed) say(u *model.Universe, t *Trial) {
	n := len(d.readings)
	switch {
	case d.silent > 0:
		t.Wrong, t.Says, t.Broken = "No answer", d.why, d.silent == n && !d.silentButForAbsent
		t.Mend = "The fluent is unknown as long as this lasts."
		if d.silentButForAbsent {
			t.Mend = "What its absent says stands for it as long as this lasts."
		}
		if n > 1 && d.silent < n {
			t.Says += fmt.Sprintf(" (%d of %d give no answer)", d.silent, n)
		}
	case d.matched != nil && d.matched.To == 0:
		t.Wrong, t.Says = "Nothing matched", d.matched.String()
		t.Mend = "Look whether the question asks for the right thing, and whether what names an object there is the name of one in the model."
	case d.series != nil && d.series.partial != "":
		t.Wrong, t.Says = "Answer not whole", d.series.partial
		t.Mend = "What is missing in such an answer is unknown, whatever absent says, and so is what a query made of several series."
	case d.unknown != nil:
		t.Wrong = "Not all known"
		t.Says = fmt.Sprintf("%d of %d known; %s: %s", d.known, n, u.Text(d.unknown.Atom), d.unknown.Err)
		t.Mend = "No action whose precondition needs to know it is carried out. Where no answer about an object means something, say with absent what."
	default:
		t.Says = fmt.Sprintf("%d of %d known", d.known, n)
		if d.matched != nil {
			t.Says += "; " + d.matched.String()
		}
		if !d.oldest.IsZero() && d.series != nil {
			t.Says += fmt.Sprintf("; sampled %.1f s ago", time.Since(d.oldest).Seconds())
		}
	}
}
