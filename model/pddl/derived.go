package pddl

import (
	"slices"
	"strings"

	"github.com/fettleops/fettle/model"
)

// derivation is the definition of a derived predicate on its way: the
// disjunction of its rules.
type derivation struct {
	rules  []*node // the head and the body of each, in turn
	parts  []*model.Expr
	slots  int
	busy   bool
	size   int
	circle bool
}

// declareDerived notes a rule (:derived (p ?x) condition). The rules are read
// once all derived predicates are known.
func (ld *loader) declareDerived(s *section) {
	ns, ok := ld.nodes(s)
	if !ok {
		return
	}
	if len(ns) != 2 || ns[0].head() == "" {
		ld.errorAt(s.place(), "Not a rule", "A derived predicate is defined as in (:derived (above ?x ?y) (on ?x ?y)).")
		return
	}
	p := ld.predicates[ns[0].head()]
	if p == nil {
		ld.noPredicate(ns[0].kids[0], ns[0].head(), "predicate", ld.predicates)
		return
	}
	d := ld.derived[p.f]
	if d == nil {
		d = &derivation{}
		ld.derived[p.f] = d
	}
	d.rules = append(d.rules, ns...)
}

// deriveAll defines the derived predicates.
func (ld *loader) deriveAll() {
	for _, f := range ld.m.Fluents {
		if d := ld.derived[f]; d != nil {
			for i := 0; i < len(d.rules); i += 2 {
				ld.rule(f, d, d.rules[i], d.rules[i+1])
			}
		}
	}
	if ld.failed || ld.mixed {
		return
	}
	for _, f := range ld.m.Fluents {
		if d := ld.derived[f]; d != nil {
			f.Derived, f.Slots = model.Or(d.parts...), d.slots
		}
	}
	for _, f := range ld.m.Fluents {
		ld.circle(f, nil)
	}
}

// rule reads one rule. Its variables are the predicate's parameters; one of a
// narrower type restricts the rule.
func (ld *loader) rule(f *model.Fluent, d *derivation, head, body *node) {
	p := ld.predicates[f.Name]
	l := &lowerer{ld: ld}
	vars := l.bind(head.kids[1:])
	if len(vars) != len(p.kinds) {
		ld.wrongArity(head, p, len(vars))
		return
	}
	var all []*model.Expr
	for i, v := range vars {
		if v.t != nil && p.kinds[i] != nil && !p.kinds[i].isA(v.t) {
			x := &model.Expr{Op: model.OpSlot, Kind: model.KindObject, Type: p.kinds[i].m, Slot: i, Name: v.name[1:]}
			all = append(all, &model.Expr{Op: model.OpIsA, Kind: model.KindBool, Args: []*model.Expr{x}, Over: v.t.m})
		}
	}
	e := l.condition(body)
	if e == nil {
		return
	}
	d.parts = append(d.parts, model.And(append(all, e)...))
	d.slots = max(d.slots, l.slots)
}

// maxExpanded is the number of parts that a derived predicate may have with
// the derived predicates it reads put in their places.
const maxExpanded = 200_000

// circle reports derived predicates that are defined by themselves, and those
// that would be too large. It returns the size of the definition.
func (ld *loader) circle(f *model.Fluent, above []*model.Fluent) int {
	d := ld.derived[f]
	switch {
	case d == nil || d.circle:
		return 0
	case d.busy:
		d.circle = true
		var names []string
		for _, g := range append(above[slices.Index(above, f):], f) {
			names = append(names, g.Name)
		}
		ld.unsupported(d.rules[0].place(), "recursive derived predicates: "+strings.Join(names, " → "))
		return 0
	case d.size > 0:
		return d.size
	}
	d.busy = true
	n := 1
	f.Derived.Walk(func(e *model.Expr) bool {
		n++
		if e.Op == model.OpFluent {
			n += ld.circle(e.Fluent, append(above, f))
		}
		return true
	})
	d.busy, d.size = false, n
	if n > maxExpanded && !ld.failed {
		ld.errorAt(d.rules[0].place(), "Definition too large", "With the derived predicates that it reads put in their places it has more than %d parts.", maxExpanded)
	}
	return n
}
