package search

import (
	"slices"

	"github.com/fettleops/fettle/model"
)

// openType returns a type of which not all objects are known and that bears on
// the goal, by going backwards from it over whole fluents; nil where there is none.
func openType(p Problem) *model.Type {
	if !slices.ContainsFunc(p.U.Types, p.U.Open) {
		return nil
	}
	b := bearing{u: p.U, fluents: map[*model.Fluent]bool{}}
	if p.Goal != nil {
		b.exprs(p.Goal.Conjuncts)
	}
	actions := p.Allowed
	if actions == nil {
		actions = p.U.Actions
	}
	for again := true; again && b.found == nil; {
		n := len(b.fluents)
		for _, a := range actions {
			b.action(a)
		}
		again = len(b.fluents) > n
	}
	return b.found
}

// bearing gathers the fluents that bear on the goal, and the first open type.
type bearing struct {
	u       *model.Universe
	fluents map[*model.Fluent]bool
	found   *model.Type
}

func (b *bearing) see(t *model.Type) {
	if b.found == nil && b.u.Open(t) {
		b.found = t
	}
}

func (b *bearing) exprs(es []*model.Expr) {
	for _, e := range es {
		b.expr(e)
	}
}

func (b *bearing) expr(e *model.Expr) {
	e.Walk(func(e *model.Expr) bool {
		if e.Over != nil {
			b.see(e.Over)
		}
		if e.Op == model.OpFluent && !b.fluents[e.Fluent] {
			b.fluents[e.Fluent] = true
			b.expr(e.Fluent.Derived)
		}
		return true
	})
}

func (b *bearing) action(a *model.Action) {
	writes := map[*model.Fluent]bool{}
	bears := false
	for i := range a.Effects {
		writes[a.Effects[i].Fluent] = true
		bears = bears || b.fluents[a.Effects[i].Fluent]
	}
	if !bears {
		return
	}
	for _, p := range a.Params {
		b.see(p.Type)
	}
	if a.Precondition != nil {
		b.exprs(a.Precondition.Conjuncts)
	}
	for i := range a.Effects {
		b.expr(a.Effects[i].When)
		b.expr(a.Effects[i].Value)
		for _, bi := range a.Effects[i].Forall {
			b.see(bi.Type)
		}
	}
	for _, inv := range b.u.Invariants {
		reads := map[*model.Fluent]bool{}
		for _, e := range inv.Cond.Conjuncts {
			e.BaseFluents(reads)
		}
		for f := range reads {
			if writes[f] {
				b.exprs(inv.Cond.Conjuncts)
				break
			}
		}
	}
}
