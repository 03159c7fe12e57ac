package pddl

import "github.com/fettleops/fettle/model"

// widened returns the types of every fluent's parameters, wide enough for all
// that stands there: PDDL lets a variable of a wider type be an argument.
func widened(m *model.Model) map[*model.Fluent][]*model.Type {
	kinds := map[*model.Fluent][]*model.Type{}
	for _, f := range m.Fluents {
		for _, p := range f.Params {
			kinds[f] = append(kinds[f], p.Type)
		}
	}
	widen := func(f *model.Fluent, args []*model.Expr) {
		for i, a := range args {
			for k := kinds[f]; a.Op == model.OpSlot && !a.Type.IsA(k[i]) && k[i].Parent != nil; {
				k[i] = k[i].Parent
			}
		}
	}
	visit := func(e *model.Expr) {
		e.Walk(func(e *model.Expr) bool {
			if e.Op == model.OpFluent {
				widen(e.Fluent, e.Args)
			}
			return true
		})
	}
	cond := func(c *model.Cond) {
		if c != nil {
			for _, e := range c.Conjuncts {
				visit(e)
			}
		}
	}
	for _, f := range m.Fluents {
		visit(f.Derived)
	}
	for _, a := range m.Actions {
		cond(a.Precondition)
		for i := range a.Effects {
			visit(a.Effects[i].When)
			visit(a.Effects[i].Value)
			widen(a.Effects[i].Fluent, a.Effects[i].Args)
		}
	}
	for _, g := range m.Goals {
		cond(g.Cond)
	}
	return kinds
}
