package validator

import "github.com/fettleops/fettle/model"

// weights estimates the work of evaluating: the number of expression nodes,
// those below a quantifier once for each object.
type weights struct {
	u       *model.Universe
	exprs   map[*model.Expr]float64
	actions map[*model.Action]float64
	fix     map[*model.Expr]bool
}

func newWeights(u *model.Universe) weights {
	return weights{u, map[*model.Expr]float64{}, map[*model.Action]float64{}, map[*model.Expr]bool{}}
}

func (w weights) expr(e *model.Expr) float64 {
	if e == nil {
		return 0
	}
	if n, ok := w.exprs[e]; ok {
		return n
	}
	n := 1.0
	if e.Tallied() {
		return n
	}
	for _, a := range e.Args {
		n += w.expr(a)
	}
	switch e.Op {
	case model.OpAll, model.OpAny, model.OpOne, model.OpCount, model.OpSum, model.OpMin, model.OpMax:
		n *= float64(1 + len(w.u.Objects(e.Over)))
	case model.OpFluent:
		if e.Fluent.Derived != nil {
			n += w.expr(e.Fluent.Derived)
		}
	}
	w.exprs[e] = n
	return n
}

// fixed tells whether an expression reads nothing but constants and parameters.
func (w weights) fixed(e *model.Expr) bool {
	if yes, ok := w.fix[e]; ok {
		return yes
	}
	yes := true
	e.Walk(func(x *model.Expr) bool {
		yes = yes && x.Op != model.OpFluent
		return yes
	})
	w.fix[e] = yes
	return yes
}

func (w weights) cond(c *model.Cond) float64 {
	n := 0.0
	if c != nil {
		for _, e := range c.Conjuncts {
			n += w.expr(e)
		}
	}
	return n
}

// action estimates the work of trying a ground action.
func (w weights) action(a *model.Action) float64 {
	if n, ok := w.actions[a]; ok {
		return n
	}
	n := 1 + w.cond(a.Precondition)
	for i := range a.Effects {
		e := &a.Effects[i]
		k := 1 + w.expr(e.When) + w.expr(e.Value)
		for _, b := range e.Forall {
			k *= float64(1 + len(w.u.Objects(b.Type)))
		}
		n += k
	}
	for _, inv := range a.Invariants() {
		n += w.cond(inv.Cond)
	}
	w.actions[a] = n
	return n
}
