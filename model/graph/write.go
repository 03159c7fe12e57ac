package graph

import "github.com/fettleops/fettle/model"

// writing is one effect of an action.
type writing struct {
	domains *domains
	fluent  *model.Fluent
	args    []term
	params  []term // of the action that writes
	change  change
	set     bool    // to a value, not by an amount
	value   operand // where set
}

// writings lists what an action may change.
func writings(d *domains, a *model.Action) []writing {
	params := paramTerms(a.Params)
	var out []writing
	for i := range a.Effects {
		e := &a.Effects[i]
		env := environment(a.Slots, params)
		for _, b := range e.Forall {
			env[b.Slot] = fresh(b.Type)
		}
		w := writing{domains: d, fluent: e.Fluent, params: params, change: direction(e)}
		for _, arg := range e.Args {
			w.args = append(w.args, termOf(arg, env))
		}
		switch e.Op {
		case model.Set:
			w.set, w.value = true, newOperand(e.Value, env)
		case model.Add, model.Del:
			w.set, w.value = true, operand{value: model.BoolValue(e.Op == model.Add)}
		}
		if w.change != both && len(e.Forall) == 0 && demanded(a, e) {
			continue
		}
		out = append(out, w)
	}
	return out
}

// direction tells in which directions the effect can change its fluent.
func direction(e *model.Effect) change {
	switch e.Op {
	case model.Add:
		return up
	case model.Del:
		return down
	case model.Set:
		switch e.Value.Const.Tri() {
		case model.True:
			return up
		case model.False:
			return down
		}
		return both
	}
	n, constant := e.Value.Const.Number()
	if !constant || e.Value.Op != model.OpConst {
		return both
	}
	if (n < 0) != (e.Op == model.Decrease) {
		return down
	}
	return up
}

// demanded tells whether the action's own precondition demands what the effect
// of a bool makes true or false, so that it never makes a change.
func demanded(a *model.Action, e *model.Effect) bool {
	if a.Precondition == nil || e.Fluent.Kind != model.KindBool {
		return false
	}
	for _, c := range a.Precondition.Conjuncts {
		want := up
		if c.Op == model.OpNot {
			c, want = c.Args[0], down
		}
		if c.Op == model.OpFluent && c.Fluent == e.Fluent && want == direction(e) && sameArgs(c.Args, e.Args) {
			return true
		}
	}
	return false
}

func sameArgs(as, bs []*model.Expr) bool {
	for i, a := range as {
		b := bs[i]
		if a.Op != b.Op || a.Op != model.OpSlot && a.Op != model.OpObject || a.Slot != b.Slot || a.Const != b.Const {
			return false
		}
	}
	return true
}

// meets tells whether the effect can make what is read help the conjunct it
// stands in, and whether it can make it hurt. With own, both are of one action,
// and only another ground action of it counts.
func (w writing) meets(r reading, own bool) (helps, hurts bool) {
	b := w.domains.binding()
	if !b.unifyAll(w.args, r.args) || own && b.forced(w.params, r.params) {
		return false, false
	}
	c := w.change
	if r.test != nil {
		c = w.outcomes(r.test, b)
	}
	return c&r.mono != 0, c&r.mono.flip() != 0
}

// outcomes tells which truth values the effect can give the comparison.
func (w writing) outcomes(t *test, b binding) change {
	switch {
	case !w.set && t.grows == both:
		return both
	case !w.set:
		return turn(w.change, t.grows)
	case t.op == model.OpEq || t.op == model.OpNe || t.op == model.OpIn:
		c := w.among(t.others, b)
		if t.op == model.OpNe {
			return c.flip()
		}
		return c
	}
	return ordered(t, w.value)
}

// among tells whether the value set can be one of the others (up), and whether
// it can be none of them (down).
func (w writing) among(others []operand, b binding) change {
	c := down
	for _, o := range others {
		can, must := equal(w.value, o, b)
		if must {
			return up
		}
		if can {
			c |= up
		}
	}
	return c
}

// equal tells whether two operands can be the same, and whether they must be.
func equal(v, o operand, b binding) (can, must bool) {
	switch {
	case v.isObj && o.isObj:
		s, t := b.resolve(v.term), b.resolve(o.term)
		return same(s, t) || b.share(s, t), same(s, t)
	case v.value.Known() && o.value.Known():
		return v.value == o.value, v.value == o.value
	}
	return true, false
}

// ordered holds a number that is set against the other side of a comparison.
func ordered(t *test, v operand) change {
	x, ok := v.value.Number()
	y, known := t.others[0].value.Number()
	if !ok || !known {
		return both
	}
	holds := false
	switch t.op {
	case model.OpLt:
		holds = x < y
	case model.OpLe:
		holds = x <= y
	case model.OpGt:
		holds = x > y
	case model.OpGe:
		holds = x >= y
	}
	if holds {
		return up
	}
	return down
}
