package validator

import (
	"strings"

	"github.com/fettleops/fettle/model"
)

// breach names an invariant, its message, and what makes it false:
// one_out: only one service may be out of the balancer at a time (out: api, db).
func (v *validation) breach(b model.Breach) string {
	s := b.Invariant.Name + ": "
	if b.Invariant.Message != "" {
		s += b.Invariant.Message
	} else {
		s += b.Failure.Text
	}
	if w := v.witnesses(&b.Failure); w != "" {
		s += " (" + w + ")"
	}
	return s
}

// witnesses names what makes a failed conjunct false. Of a quantified bound it
// names the objects that count the wrong way, otherwise the facts' values.
func (v *validation) witnesses(f *model.Failure) string {
	if s := v.culprits(f.Expr, append([]int32(nil), f.Env...)); s != "" {
		return s
	}
	var facts []string
	for _, l := range f.Leaves {
		value := " unknown"
		if l.Value.Known() {
			value = " = " + model.Clip(v.U.ValueText(l.Atom.Fluent, l.Value))
		}
		facts = append(facts, v.U.Text(l.Atom)+value)
	}
	return list(facts)
}

// culprits names the objects of a quantifier that keep a condition from being
// true, "" where it has no such form.
func (v *validation) culprits(e *model.Expr, env []int32) string {
	e, env = v.unfold(e, env)
	switch e.Op {
	case model.OpAll:
		return v.objects(e, env, model.False)
	case model.OpOne:
		return v.objects(e, env, model.True)
	case model.OpLt, model.OpLe, model.OpGt, model.OpGe, model.OpEq, model.OpNe:
		for i, a := range e.Args {
			a, env := v.unfold(a, env)
			if a.Op != model.OpCount {
				continue
			}
			// What counts too much is named; where too little does, what does not count.
			if e.Op == model.OpEq || e.Op == model.OpNe || (e.Op == model.OpLt || e.Op == model.OpLe) == (i == 0) {
				return v.objects(a, env, model.True)
			}
			return v.objects(a, env, model.False)
		}
	}
	return ""
}

// unfold replaces a derived fluent by its definition.
func (v *validation) unfold(e *model.Expr, env []int32) (*model.Expr, []int32) {
	for e.Op == model.OpFluent && e.Fluent.Derived != nil {
		inner := make([]int32, max(e.Fluent.Slots, len(e.Args)))
		for i, a := range e.Args {
			x := a.Value(v.s, env)
			if !x.Known() {
				return e, env
			}
			inner[i] = x.Object()
		}
		e, env = e.Fluent.Derived.NNF(), inner
	}
	return e, env
}

// objects names those for which the quantifier's body has the truth value,
// then those for which it is unknown.
func (v *validation) objects(q *model.Expr, env []int32, truth model.Tri) string {
	var named, unknown []string
	for _, o := range v.U.Objects(q.Over) {
		env[q.Slot] = o
		switch name := model.Quote(v.U.Name(q.Over, o)); q.Args[0].Eval(v.s, env) {
		case truth:
			named = append(named, name)
		case model.Unknown:
			unknown = append(unknown, name)
		}
	}
	label := v.label(q, env)
	if truth == model.False {
		label = "not " + label
		if bare, ok := strings.CutPrefix(label, "not !"); ok {
			label = bare
		}
	}
	var parts []string
	if len(named) > 0 {
		parts = append(parts, label+": "+list(named))
	}
	if len(unknown) > 0 {
		parts = append(parts, "unknown: "+list(unknown))
	}
	return strings.Join(parts, "; ")
}

// label writes a quantifier's body, a fluent of the object alone by its name.
func (v *validation) label(q *model.Expr, env []int32) string {
	text := q.Text(v.U, env)
	if _, body, ok := strings.Cut(text, "("+q.Over.Name+", "); ok {
		text = strings.TrimSuffix(body, ")")
	}
	lit := q.Args[0]
	if lit.Op == model.OpNot {
		lit = lit.Args[0]
	}
	if lit.Op == model.OpFluent && len(lit.Args) == 1 && lit.Args[0].Op == model.OpSlot && lit.Args[0].Slot == q.Slot {
		text = strings.TrimSuffix(text, "(#)")
	}
	return text
}
