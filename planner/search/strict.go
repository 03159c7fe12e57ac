package search

import (
	"slices"

	"github.com/fettleops/fettle/model"
)

// strictBroken looks for a strict invariant that does not hold at the start:
// then no plan, not even the empty one, is valid.
func strictBroken(p Problem) (Result, bool) {
	var unknown []model.Atom
	name := ""
	for _, inv := range p.U.Invariants {
		if !inv.Strict {
			continue
		}
		for _, f := range inv.Broken(p.Start) {
			if f.Truth == model.False {
				return Result{Status: Unsolvable, Reason: "invariant " + inv.Name + " does not hold at the start"}, true
			}
			unknown = appendUnknown(p.U, unknown, unknownLeaves(p, inv, f))
			if name == "" {
				name = inv.Name
			}
		}
	}
	switch {
	case name == "":
		return Result{}, false
	case len(unknown) == 0: // as where a number is divided by zero
		return Result{Status: Unsolvable, Reason: "invariant " + name + " has no value at the start"}, true
	}
	return Result{Status: Unobservable, Unknown: unknown, Reason: "invariant " + name + " is not known to hold at the start"}, true
}

// unknownLeaves returns the unknown facts that leave a component without a
// value, or all that its invariant reads where it is not seen which.
func unknownLeaves(p Problem, inv *model.Invariant, f model.Failure) []model.Atom {
	var out []model.Atom
	for _, l := range f.Leaves {
		if !l.Value.Known() {
			out = append(out, l.Atom)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, r := range inv.Cond.Reads(p.U, nil) {
		atoms := slices.Values([]model.Atom{model.Atom(r)})
		if r.Whole() {
			atoms = p.U.Atoms(r.Fluent)
		}
		for a := range atoms {
			if !p.Start.Get(a).Known() {
				out = append(out, a)
			}
		}
	}
	return out
}

// appendUnknown appends the atoms that are not listed yet.
func appendUnknown(u *model.Universe, listed, more []model.Atom) []model.Atom {
	for _, a := range more {
		if !slices.ContainsFunc(listed, func(b model.Atom) bool { return sameAtom(u, a, b) }) {
			listed = append(listed, a)
		}
	}
	return listed
}

func sameAtom(u *model.Universe, a, b model.Atom) bool {
	return a.Fluent == b.Fluent && u.Index(a.Fluent, a.Args) == u.Index(b.Fluent, b.Args)
}
