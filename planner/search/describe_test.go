package search

import (
	"fmt"
	"strings"

	"github.com/fettleops/fettle/model"
)

// describe writes a problem for a person who has to find a fault.
func describe(p Problem) string {
	var b strings.Builder
	u := p.U
	for _, t := range u.Types {
		fmt.Fprintf(&b, "type %s: %d objects, open %v\n", t, len(u.Objects(t)), u.Open(t))
	}
	for _, f := range u.Fluents {
		if f.Derived != nil {
			fmt.Fprintf(&b, "derived %s%v: %s\n", f.Name, f.Params, f.Derived.Text(u, nil))
			continue
		}
		for a := range u.Atoms(f) {
			fmt.Fprintf(&b, "  %s = %s\n", u.Text(a), u.ValueText(f, p.Start.Get(a)))
		}
	}
	for _, a := range u.Actions {
		allowed := p.Allowed == nil || contains(p.Allowed, a)
		fmt.Fprintf(&b, "action %s allowed %v\n", a.Signature(), allowed)
		for _, e := range a.Precondition.Conjuncts {
			fmt.Fprintf(&b, "  if %s\n", e.Text(u, nil))
		}
		for _, e := range a.Effects {
			fmt.Fprintf(&b, "  %s\n", describeEffect(u, e))
		}
		if a.Cost != nil {
			fmt.Fprintf(&b, "  cost %s\n", a.Cost.Text(u, nil))
		}
	}
	for _, inv := range u.Invariants {
		for _, e := range inv.Cond.Conjuncts {
			fmt.Fprintf(&b, "invariant strict %v: %s\n", inv.Strict, e.Text(u, nil))
		}
	}
	for _, e := range p.Goal.Conjuncts {
		fmt.Fprintf(&b, "goal %s\n", e.Text(u, nil))
	}
	return b.String()
}

func describeEffect(u *model.Universe, e model.Effect) string {
	text := [...]string{"add", "del", "set", "increase", "decrease"}[e.Op] + " " + e.Fluent.Name
	for _, a := range e.Args {
		text += " " + a.Text(u, nil)
	}
	if e.Value != nil {
		text += " by " + e.Value.Text(u, nil)
	}
	if e.When != nil {
		text += " when " + e.When.Text(u, nil)
	}
	if e.Forall != nil {
		text += fmt.Sprint(" for all in slot ", e.Forall[0].Slot)
	}
	return text
}
