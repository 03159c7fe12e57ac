package pddl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fettleops/fettle/model"
)

func (x *exporter) action(b *strings.Builder, a *model.Action) {
	w := x.writer()
	x.inside = x.n.actions[a]
	fmt.Fprintf(b, "action %s {\n%s", quoted(x.n.actions[a]), x.params(w.bind(a.Params), a.Params))
	if pre := w.conjuncts(a.Precondition); len(pre) > 0 {
		b.WriteString(attribute("precondition", pre))
	}
	if a.Cost != nil {
		cost := w.expr(a.Cost, loose, 0)
		if a.Cost.Op != model.OpConst {
			cost = quoted(cost)
		}
		fmt.Fprintf(b, "cost = %s\n", cost)
	}
	for _, g := range grouped(a.Effects) {
		w.effect(b, g)
	}
	b.WriteString("}\n\n")
}

// conjuncts writes a condition as a list of conditions.
func (w *writer) conjuncts(c *model.Cond) []string {
	if c == nil {
		return nil
	}
	var out []string
	for _, e := range c.Conjuncts {
		if e.Op == model.OpConst && e.Const.Tri() == model.True {
			continue
		}
		s := w.expr(e, loose, 0)
		if len(s) > maxText {
			s = w.part(e)
		}
		out = append(out, s)
	}
	return out
}

// grouped splits effects into blocks: those under one condition, for all of the
// same variables, no two of which do the same to one fluent.
func grouped(effects []model.Effect) [][]model.Effect {
	var out [][]model.Effect
	for _, e := range effects {
		if n := len(out); n > 0 && out[n-1][0].When == e.When && slices.Equal(out[n-1][0].Forall, e.Forall) &&
			!slices.ContainsFunc(out[n-1], func(o model.Effect) bool { return o.Op == e.Op && e.Op >= model.Set && o.Fluent == e.Fluent }) {
			out[n-1] = append(out[n-1], e)
		} else {
			out = append(out, []model.Effect{e})
		}
	}
	return out
}

var effectWords = []struct {
	op   model.EffectOp
	word string
}{{model.Add, "add"}, {model.Del, "del"}, {model.Set, "set"}, {model.Increase, "increase"}, {model.Decrease, "decrease"}}

// effect writes one block of effects.
func (w *writer) effect(b *strings.Builder, g []model.Effect) {
	b.WriteString("effect {\n")
	var vars []string
	var params []model.Param
	for _, f := range g[0].Forall {
		w.vars[f.Slot] = w.x.n.local(w.used, f.Name)
		vars = append(vars, w.vars[f.Slot])
		params = append(params, model.Param{Type: f.Type})
	}
	b.WriteString(strings.Replace(w.x.params(vars, params), "params", "forall", 1))
	if g[0].When != nil {
		when := w.expr(g[0].When.NNF(), loose, 0)
		if len(when) > maxText {
			when = w.part(g[0].When.NNF())
		}
		fmt.Fprintf(b, "when = %s\n", quoted(when))
	}
	for _, kind := range effectWords {
		var heads, pairs []string
		for _, e := range g {
			switch {
			case e.Op != kind.op:
			case e.Value == nil:
				heads = append(heads, w.atom(e.Fluent, e.Args))
			default:
				pairs = append(pairs, fmt.Sprintf("%s = %s", quoted(w.atom(e.Fluent, e.Args)), quoted(w.expr(e.Value, loose, 0))))
			}
		}
		if len(heads) > 0 {
			b.WriteString(attribute(kind.word, heads))
		}
		if len(pairs) > 0 {
			fmt.Fprintf(b, "%s = { %s }\n", kind.word, strings.Join(pairs, ", "))
		}
	}
	b.WriteString("}\n")
}
