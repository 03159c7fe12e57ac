package search

import "github.com/fettleops/fettle/model"

// strictBroken looks for a strict invariant that does not hold at the start:
// then no plan, not even the empty one, is valid.
func strictBroken(p Problem) (Result, bool) {
	res, broken := Result{}, false
	for _, inv := range p.U.Invariants {
		if !inv.Strict {
			continue
		}
		for _, f := range inv.Broken(p.Start) {
			if f.Truth == model.False {
				return Result{Status: Unsolvable, Reason: "invariant " + inv.Name + " does not hold at the start"}, true
			}
			if !broken {
				res = Result{Status: Unobservable, Reason: "invariant " + inv.Name + " is not known to hold at the start"}
				broken = true
			}
			res.Unknown = append(res.Unknown, unknownLeaves(f, res.Unknown, p.U)...)
		}
	}
	return res, broken
}

// unknownLeaves returns the unknown facts of a failure that are not listed yet.
func unknownLeaves(f model.Failure, listed []model.Atom, u *model.Universe) []model.Atom {
	var out []model.Atom
	for _, l := range f.Leaves {
		seen := l.Value.Known()
		for _, a := range append(listed, out...) {
			seen = seen || a.Fluent == l.Atom.Fluent && u.Index(a.Fluent, a.Args) == u.Index(l.Atom.Fluent, l.Atom.Args)
		}
		if !seen {
			out = append(out, l.Atom)
		}
	}
	return out
}
