package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fettleops/fettle/model"
)

const (
	// maxListed is how many facts of one fluent are listed as they are; of more,
	// the commonest value is told once.
	maxListed = 16
	// maxLooked is how many instances of one fluent are looked at, and maxDerived
	// of a derived one, whose values take work.
	maxLooked  = 100_000
	maxDerived = 200
	// maxUnknown is how many unknown facts are named.
	maxUnknown = 40
)

// listing is what is told of one fluent's facts.
type listing struct {
	lines   []string
	unknown []model.Atom
	starred bool // a common value is told once
}

// state writes the facts that bear on the goal, as far from it as there is room
// for, then which of them are unknown, and why.
func (r *renderer) state() string {
	var all listing
	for _, f := range r.u.Fluents {
		if !r.relevant.reads(f) || r.relevant.depth(f) > r.size.depth {
			continue
		}
		l, ok := r.listed[f]
		if !ok {
			l = r.list(f)
			r.listed[f] = l
		}
		all.lines = append(all.lines, l.lines...)
		all.unknown = append(all.unknown, l.unknown...)
		all.starred = all.starred || l.starred
	}
	s := data("state", all.lines)
	if all.starred {
		s = "\"name(*)\" stands for every fact of that name that bears on the goal and is not listed.\n" + s
	}
	return s + r.unknown(all.unknown)
}

// list writes the facts of one fluent.
func (r *renderer) list(f *model.Fluent) listing {
	var l listing
	var pairs []string
	atoms, all := r.instances(f)
	values := r.values(atoms)
	most, starred := commonest(atoms, values)
	if l.starred = starred; starred {
		pairs = append(pairs, f.Name+"(*)", most)
	}
	for i, a := range atoms {
		if f.Derived == nil && values[i] == "null" {
			l.unknown = append(l.unknown, a)
		}
		if !starred || values[i] != most {
			pairs = append(pairs, r.plain(r.u.Text(a)), values[i])
		}
	}
	if len(pairs) > 0 {
		l.lines = append(l.lines, object(pairs...))
	}
	if !all {
		l.lines = append(l.lines, object("not_listed", quote("more facts of "+f.Name+": there are too many")))
	}
	return l
}

// plain is an atom's text for an object's key, which quotes it.
func (r *renderer) plain(atom string) string { return clip(r.redacted(atom), maxAtom) }

// values evaluates atoms in the start state, as JSON.
func (r *renderer) values(atoms []model.Atom) []string {
	values := make([]string, len(atoms))
	for i, a := range atoms {
		values[i] = r.value(a.Fluent, r.Problem.Start.Get(a))
	}
	return values
}

// commonest returns the value that most of the facts have, where there are too
// many to be listed and one is commoner than all others together.
func commonest(atoms []model.Atom, values []string) (value string, ok bool) {
	if len(atoms) <= maxListed {
		return "", false
	}
	count := map[string]int{}
	for _, v := range values {
		if count[v]++; count[v] > len(atoms)/2 {
			return v, true
		}
	}
	return "", false
}

// instances returns the fluent's atoms that bear on the goal, in the order of
// their indices; false where there are too many to be looked at.
func (r *renderer) instances(f *model.Fluent) (atoms []model.Atom, all bool) {
	most := maxLooked
	if f.Derived != nil {
		most = maxDerived
	}
	seen := map[uint64]bool{}
	for _, p := range r.relevant.facts[f] {
		if !r.matching(f, p.args, func(args []int32) bool {
			if i := r.u.Index(f, args); !seen[i] {
				seen[i] = true
				atoms = append(atoms, model.Atom{Fluent: f, Args: slices.Clone(args)})
			}
			return len(atoms) <= most
		}) {
			return atoms[:most], false
		}
	}
	slices.SortFunc(atoms, func(a, b model.Atom) int {
		return slices.Compare(a.Args, b.Args)
	})
	return atoms, true
}

// matching yields the argument lists of a pattern until it is told to stop.
func (r *renderer) matching(f *model.Fluent, p []int32, yield func([]int32) bool) bool {
	args := slices.Clone(p)
	var next func(k int) bool
	next = func(k int) bool {
		switch {
		case k == len(p):
			return yield(args)
		case p[k] != anyObject:
			return next(k + 1)
		}
		for _, o := range r.u.Objects(f.Params[k].Type) {
			args[k] = o
			if !next(k + 1) {
				return false
			}
		}
		return true
	}
	return next(0)
}

// unknown names the facts that nobody knows, and why where somebody knows that.
func (r *renderer) unknown(atoms []model.Atom) string {
	if len(atoms) == 0 {
		return ""
	}
	var lines []string
	for i, a := range atoms {
		if i == maxUnknown {
			lines = append(lines, object("more_unknown", fmt.Sprint(len(atoms)-i)))
			break
		}
		pairs := []string{"unknown", r.fact(r.u.Text(a))}
		if r.Problem.Why != nil {
			if why := strings.TrimSpace(r.Problem.Why(a)); why != "" {
				pairs = append(pairs, "why", r.text(why, maxText))
			}
		}
		lines = append(lines, object(pairs...))
	}
	return "\nThese facts are unknown:\n" + data("unknown", lines)
}
