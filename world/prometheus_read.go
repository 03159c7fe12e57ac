package world

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fettleops/fettle/model"
)

// reductions make one value of several series'. Those that are nil combine what
// the value expression says of each series.
var reductions = map[string]func([]sample) float64{
	"min": func(s []sample) float64 { return fold(s, math.Min) },
	"max": func(s []sample) float64 { return fold(s, math.Max) },
	"sum": func(s []sample) float64 { return fold(s, func(a, b float64) float64 { return a + b }) },
	"avg": func(s []sample) float64 {
		return fold(s, func(a, b float64) float64 { return a + b }) / float64(len(s))
	},
	"count": func(s []sample) float64 { return float64(len(s)) },
	"any":   nil,
	"all":   nil,
}

func fold(s []sample, f func(a, b float64) float64) float64 {
	v := s[0].value
	for _, x := range s[1:] {
		v = f(v, x.value)
	}
	return v
}

// seriesIndex is an answer's series by the instance they are about.
type seriesIndex struct {
	found    map[uint64][]sample
	fresh    map[uint64]taken
	freshAll *taken // of a freshness query that names no objects; nil: of none such
	matched  *Matched
}

func (o *observer) indexSeries(u *model.Universe, a *seriesAnswer) *seriesIndex {
	x := &seriesIndex{found: map[uint64][]sample{}, fresh: map[uint64]taken{}, matched: o.matching("series")}
	x.matched.Of = len(a.samples)
	for _, s := range a.samples {
		i, foreign := o.instance(u, s.labels, x.matched.Labels)
		if foreign != "" {
			x.matched.ignore(func() string { return seriesText(s.labels) }, foreign)
			continue
		}
		x.matched.To++
		x.found[i] = append(x.found[i], s)
	}
	for _, t := range a.times {
		switch i, foreign := o.instance(u, t.labels, nil); {
		case foreign == "" && len(o.series.labels) > 0:
			if before, ok := x.fresh[i]; ok {
				t.taken = before.older(t.taken)
			}
			x.fresh[i] = t.taken
		case !o.namesObjects(t.labels):
			if x.freshAll != nil {
				t.taken = x.freshAll.older(t.taken)
			}
			x.freshAll = &t.taken
		}
	}
	return x
}

// namesObjects tells whether a series has one of the labels that name objects.
func (o *observer) namesObjects(labels map[string]any) bool {
	return slices.ContainsFunc(o.series.labels, func(l string) bool { return labels[l] != nil })
}

// instance finds what a series is about; foreign says why it is about nothing
// in the model. It counts the labels that name an object, where it is given any.
func (o *observer) instance(u *model.Universe, labels map[string]any, count []Label) (i uint64, foreign string) {
	args := make([]int32, len(o.fluent.Params))
	for k, p := range o.fluent.Params {
		label := o.series.labels[k]
		name, ok := labels[label].(string)
		why := "no label " + label
		if ok {
			if args[k], ok = u.Find(p.Type, name); !ok {
				why = noSuch(p.Type, name)
			}
		}
		switch {
		case !ok && foreign == "":
			foreign = why
		case ok && count != nil:
			count[k].Found++
		}
	}
	if foreign != "" {
		return 0, foreign
	}
	return u.Index(o.fluent, args), ""
}

// takenAt is when the samples about an instance were taken: the oldest of them,
// or what the freshness query says.
func (o *observer) takenAt(x *seriesIndex, i uint64, found []sample) taken {
	if o.series.fresh {
		if t, ok := x.fresh[i]; ok || x.freshAll == nil {
			return t
		}
		return *x.freshAll
	}
	if len(found) == 0 {
		return taken{}
	}
	t := found[0].taken
	for _, s := range found[1:] {
		t = t.older(s.taken)
	}
	return t
}

// readSeries turns an answer of many series into the reading of one instance.
func (o *observer) readSeries(u *model.Universe, g *ground, r Reading, a *answer, x *seriesIndex) Reading {
	if a.series == nil {
		return o.missing(u, g, r, a.err, false)
	}
	i := u.Index(o.fluent, r.Atom.Args)
	found := x.found[i]
	t := o.takenAt(x, i, found)
	r.Sampled, r.untimed = t.at, t.why
	r = o.valueOf(u, g, r, a, found)
	r.Matched = x.matched
	notes := slices.Concat([]string{r.Note, x.matched.ignored(), r.untimed}, a.series.notes)
	notes = slices.DeleteFunc(notes, func(s string) bool { return s == "" })
	r.Note = clip(strings.Join(notes, "; "), 300)
	return r
}

func (o *observer) valueOf(u *model.Universe, g *ground, r Reading, a *answer, found []sample) Reading {
	partial := a.series.partial
	switch reduce := o.series.reduce; {
	case len(found) == 0 && partial != "":
		r.Err = clip(fmt.Sprintf("no series is about %s, but the answer may not be whole: %s", u.Text(r.Atom), partial), 300)
		return r
	case len(found) == 0:
		return o.missing(u, g, r, "no series is about "+u.Text(r.Atom), true)
	case partial != "" && !a.series.plain: // Made of others, which may be missing.
		r.Err = notWhole(partial)
		return r
	case reduce == "any", reduce == "all":
		return o.quantify(u, g, r, a, found)
	case len(found) > 1 && reduce == "":
		r.Err = clip(fmt.Sprintf("%d series are about %s; say with reduce how they become one", len(found), u.Text(r.Atom)), 300)
		return r
	case reduce != "" && partial != "":
		r.Err = notWhole(partial)
		return r
	case reduce == "":
		return o.single(u, g, r, a, found[0])
	default:
		return o.single(u, g, r, a, o.series.combine(found))
	}
}

func notWhole(warning string) string { return clip("the answer may not be whole: "+warning, 300) }

// single evaluates the value of one series.
func (o *observer) single(u *model.Universe, g *ground, r Reading, a *answer, s sample) Reading {
	if s.odd != "" {
		r.Err = s.odd
		return r
	}
	return o.evaluate(u, g, r, a, map[string]any{"value": s.value, "labels": s.labels})
}

// combine makes one series of several. How many there are is known whatever
// their values.
func (s *series) combine(found []sample) sample {
	out := sample{labels: shared(found)}
	for _, f := range found {
		if f.odd != "" && s.reduce != "count" {
			out.odd = f.odd
			return out
		}
	}
	if out.value = reductions[s.reduce](found); math.IsNaN(out.value) {
		out.odd = "the combined samples are NaN"
	}
	return out
}

// shared returns the labels that all series have alike.
func shared(found []sample) map[string]any {
	out := map[string]any{}
	for k, v := range found[0].labels {
		if !slices.ContainsFunc(found, func(s sample) bool { return s.labels[k] != v }) {
			out[k] = v
		}
	}
	return out
}

// quantify asks of each series whether the value holds. One that decides does
// so whatever else is unknown.
func (o *observer) quantify(u *model.Universe, g *ground, r Reading, a *answer, found []sample) Reading {
	decides := model.BoolValue(o.series.reduce == "any")
	var last, unknown Reading
	for _, s := range found {
		last = o.single(u, g, r, a, s)
		if last.Value == decides {
			return last
		}
		if !last.Value.Known() {
			unknown = last
		}
	}
	switch {
	case unknown.Err != "":
		return unknown
	case a.series.partial != "":
		r.Err = notWhole(a.series.partial)
		return r
	}
	return last
}
