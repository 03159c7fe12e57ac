package world

import (
	"context"
	"errors"
	"maps"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fettleops/fettle/model"
)

// maxQueries is how many questions are under way at a time.
const maxQueries = 16

// Observe asks the world for the references' values: one query for each
// fluent, or for each instance where the body depends on its parameters;
// equal queries are made once and shared. There is a reading for each atom
// asked, in the order of the references and each once; a reference to a whole
// fluent asks for all its instances. Derived fluents, and fluents without an
// observe block, are not asked and have no reading.
//
// A reading is as old as the moment its query was sent, or as its samples
// where the source keeps those. One sampled before notBefore, less the max_age
// of a source that has one, is unknown; where a source keeps samples and its
// body gives no max_age, the moment of the query counts. A zero notBefore
// accepts any. What cannot be read is unknown and says why, also when ctx ends.
func (w *World) Observe(ctx context.Context, u *model.Universe, refs []model.Ref, notBefore time.Time) []Reading {
	return w.observe(ctx, u, refs, func(o *observer, r Reading) Reading { return o.within(r, notBefore) })
}

// Confirm is like Observe, but only samples taken after the moment count,
// whatever max_age says: it tells what an action that ended then has done.
// What does not tell when it was sampled is unknown.
func (w *World) Confirm(ctx context.Context, u *model.Universe, refs []model.Ref, after time.Time) []Reading {
	return w.observe(ctx, u, refs, func(o *observer, r Reading) Reading { return o.later(r, after) })
}

func (w *World) observe(ctx context.Context, u *model.Universe, refs []model.Ref, check func(*observer, Reading) Reading) []Reading {
	r := &round{w: w, u: u, asked: map[string]*asked{}, seen: map[*model.Fluent]map[uint64]bool{}}
	for _, ref := range refs {
		r.add(ref)
	}
	r.ask(ctx)
	out := make([]Reading, len(r.atoms))
	for i, a := range r.atoms {
		if err := ctx.Err(); err != nil {
			out[i] = w.sensitive.reading(Reading{Atom: a.atom, Err: "interrupted: " + err.Error(), Source: a.source()})
			continue
		}
		out[i] = w.sensitive.reading(check(a.o, r.read(a)))
	}
	return out
}

// round is one call of Observe.
type round struct {
	w     *World
	u     *model.Universe
	atoms []askedAtom
	asked map[string]*asked
	order []*asked
	seen  map[*model.Fluent]map[uint64]bool
}

// asked is a query and its answer.
type asked struct {
	query  query
	answer answer
	lists  map[*observer]*list
	series map[*observer]*seriesIndex
}

// askedAtom is an atom, and the query that tells of it.
type askedAtom struct {
	o     *observer
	atom  model.Atom
	g     *ground
	asked *asked
	err   error // the query could not be made
}

// source says where the atom is asked for.
func (a askedAtom) source() Source {
	if a.err != nil {
		s := Source{Kind: a.o.kind.name}
		if refused := (*misfitError)(nil); errors.As(a.err, &refused) {
			s.Query = refused.question
		}
		return s
	}
	return a.asked.query.source().with(func(s string) string { return redact(s, a.asked.answer.redact) })
}

func (r *round) add(ref model.Ref) {
	o := r.w.observers[ref.Fluent]
	if o == nil {
		return
	}
	if !ref.Whole() {
		r.addAtom(o, model.Atom(ref))
		return
	}
	for a := range r.u.Atoms(ref.Fluent) {
		r.addAtom(o, a)
	}
}

func (r *round) addAtom(o *observer, atom model.Atom) {
	seen := r.seen[o.fluent]
	if seen == nil {
		seen = map[uint64]bool{}
		r.seen[o.fluent] = seen
	}
	i := r.u.Index(o.fluent, atom.Args)
	if seen[i] {
		return
	}
	a := askedAtom{o: o, atom: atom, g: r.w.ground(r.u, o.fluent.Params, atom.Args)}
	if last := len(r.atoms) - 1; o.shared && len(seen) > 0 && last >= 0 && r.atoms[last].o == o {
		a.asked, a.err = r.atoms[last].asked, r.atoms[last].err
	} else if q, err := o.asker.query(a.g); err != nil {
		a.err = err
	} else {
		a.asked = r.share(q)
	}
	seen[i] = true
	r.atoms = append(r.atoms, a)
}

// share returns the query equal to this one, of whatever fluent.
func (r *round) share(q query) *asked {
	key := q.key()
	if same := r.asked[key]; same != nil {
		return same
	}
	n := &asked{query: q, lists: map[*observer]*list{}, series: map[*observer]*seriesIndex{}}
	r.asked[key] = n
	r.order = append(r.order, n)
	return n
}

func (r *round) ask(ctx context.Context) {
	var g errgroup.Group
	g.SetLimit(maxQueries)
	for _, a := range r.order {
		g.Go(func() error {
			if ctx.Err() == nil {
				a.answer = a.query.ask(ctx, r.w)
			}
			return nil
		})
	}
	_ = g.Wait() // the functions return no error
}

func (r *round) read(a askedAtom) Reading {
	if a.err != nil {
		return Reading{Atom: a.atom, Source: a.source(), Err: clip(a.err.Error(), 300)}
	}
	ans := &a.asked.answer
	got := Reading{Atom: a.atom, Sampled: ans.sampled, Source: a.source()}
	if a.o.series != nil {
		return redactReading(a.o.readSeries(r.u, a.g, got, ans, r.seriesOf(a)), ans.redact)
	}
	if a.o.items == nil {
		if ans.env != nil {
			withNames := *ans
			withNames.env = maps.Clone(ans.env)
			return redactReading(a.o.read(r.u, a.g, got, &withNames), ans.redact)
		}
		return redactReading(a.o.read(r.u, a.g, got, ans), ans.redact)
	}
	l := a.asked.lists[a.o]
	if l == nil {
		l = &list{}
		if ans.env != nil {
			*l = a.o.index(r.u, ans)
			r.hide(l.told, ans)
		}
		a.asked.lists[a.o] = l
	}
	return redactReading(a.o.readItem(r.u, a.g, got, ans, l), ans.redact)
}

// seriesOf returns the answer's series by instance, nil where there is no answer.
func (r *round) seriesOf(a askedAtom) *seriesIndex {
	x := a.asked.series[a.o]
	if x == nil && a.asked.answer.series != nil {
		x = a.o.indexSeries(r.u, a.asked.answer.series)
		r.hide(x.matched, &a.asked.answer)
		a.asked.series[a.o] = x
	}
	return x
}

// hide takes secrets out of the examples of what matched nothing.
func (r *round) hide(m *Matched, a *answer) {
	if m != nil {
		m.hide(func(s string) string { return r.w.sensitive.text(redact(s, a.redact)) })
	}
}

func redactReading(r Reading, secrets []string) Reading {
	r.Err, r.Note = redact(r.Err, secrets), redact(r.Note, secrets)
	return r
}
