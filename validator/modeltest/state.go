package modeltest

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/fettleops/fettle/model"
)

// written is a ground fluent as a test writes it, with its value.
type written struct {
	attr  string // which gives it
	text  string
	value cty.Value // null: unknown
}

// written reads the ground fluents of a list of what is true, a map of values,
// and a list of what is unknown, in the order written. An empty name is none.
func (r *reader) written(trues, values, unknown string) []written {
	var out []written
	for _, text := range r.texts(trues) {
		out = append(out, written{trues, text, cty.True})
	}
	out = append(out, r.pairs(values)...)
	for _, text := range r.texts(unknown) {
		out = append(out, written{unknown, text, cty.NullVal(cty.DynamicPseudoType)})
	}
	return out
}

// pairs reads a map of values. One that is written out keeps its order.
func (r *reader) pairs(name string) []written {
	v, ok := r.value(name, cty.DynamicPseudoType)
	if !ok {
		return nil
	}
	var out []written
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		out = append(out, written{name, k.AsString(), e})
	}
	if order := r.keys(name); len(order) == len(out) {
		slices.SortStableFunc(out, func(a, b written) int {
			return slices.Index(order, a.text) - slices.Index(order, b.text)
		})
	}
	return out
}

func (r *reader) keys(name string) []string {
	pairs, diags := hcl.ExprMap(r.attrs[name].Expr)
	if diags.HasErrors() {
		return nil
	}
	var out []string
	for _, p := range pairs {
		if word := hcl.ExprAsKeyword(p.Key); word != "" {
			out = append(out, word)
		} else if v, diags := p.Key.Value(r.l.Eval); !diags.HasErrors() && v.Type() == cty.String {
			out = append(out, v.AsString())
		}
	}
	return out
}

// problem reads where the test starts and what it wants. The objects of
// discovered types that it names are known first.
func (r *reader) problem() {
	open := r.attrs["observed"] != nil
	facts := r.written("facts", "values", "unknown")
	if open {
		facts = r.written("", "observed", "")
	}
	named := r.named()
	goal, name, args := r.wanted()
	r.learn(facts, named, goal, args)
	p := &r.t.problem
	p.U = r.u
	if named != nil {
		p.Start = r.u.Named(named)
	} else {
		p.Start = r.u.NewState(!open)
	}
	for _, w := range facts {
		if a, v, ok := r.look(w); ok {
			p.Start.Set(a, v)
		}
	}
	if goal == nil {
		return
	}
	objects, err := r.u.FindArgs(goal.Name, goal.Params, args)
	if err != nil {
		r.wrong("goal", "Not a goal", err.Error())
		return
	}
	p.Goal, p.GoalArgs, p.GoalName, p.Allowed = goal.Cond, objects, name, goal.Actions
}

// named returns the state of the model that the test starts from: the one it
// names, the only one where it writes none, or nil.
func (r *reader) named() *model.NamedState {
	for _, name := range []string{"facts", "values", "unknown", "observed"} {
		if r.attrs[name] != nil {
			return nil
		}
	}
	if r.attrs["state"] == nil && len(r.l.Model.States) == 1 {
		return r.l.Model.States[0]
	}
	name := ""
	r.text("state", &name)
	return r.l.Model.State(name)
}

// wanted returns the goal that the test names, with its arguments. A test that
// has no plan takes the model's one goal.
func (r *reader) wanted() (goal *model.Goal, text string, args []string) {
	if r.attrs["goal"] == nil {
		if r.attrs["plan"] == nil && len(r.l.Model.Goals) == 1 {
			goal = r.l.Model.Goals[0]
			return goal, goal.Name, nil
		}
		return nil, "", nil
	}
	r.text("goal", &text)
	name, args, err := model.ParseAtom(text)
	if err != nil {
		return nil, "", nil
	}
	return r.l.Model.Goal(name), model.FormatAtom(name, args...), args
}

// learn adds the objects of discovered types that a test names.
func (r *reader) learn(facts []written, named *model.NamedState, goal *model.Goal, args []string) {
	var found []model.Discovery
	mention := func(t *model.Type, name string) {
		if _, known := r.u.Find(t, name); t.Discovered && !known {
			found = append(found, model.Discovery{Type: t, Objects: []string{name}})
		}
	}
	for _, w := range facts {
		name, args, err := model.ParseAtom(w.text)
		f := r.u.Fluent(name)
		if err != nil || f == nil || len(args) != len(f.Params) {
			continue
		}
		for i, p := range f.Params {
			mention(p.Type, args[i])
		}
		if f.Kind == model.KindObject && !w.value.IsNull() && w.value.Type() == cty.String {
			mention(f.Type, w.value.AsString())
		}
	}
	if goal != nil && len(args) == len(goal.Params) {
		for i, p := range goal.Params {
			mention(p.Type, args[i])
		}
	}
	if named != nil {
		found = append(found, r.u.NamedObjects(named)...)
	}
	if len(found) > 0 {
		r.u = r.u.With(found...)
	}
}

// look finds the ground fluent and the value that are written.
func (r *reader) look(w written) (model.Atom, model.Value, bool) {
	name, args, err := model.ParseAtom(w.text)
	var a model.Atom
	if err == nil {
		a, err = r.u.FindAtom(name, args)
	}
	if err != nil {
		r.wrong(w.attr, "Not a ground fluent", err.Error())
		return a, model.Value{}, false
	}
	v, ok := r.modelValue(a.Fluent, w.value)
	if !ok {
		r.wrong(w.attr, "Wrong value", "the value of "+w.text+" is none that "+name+" can have")
	}
	return a, v, ok
}

func (r *reader) modelValue(f *model.Fluent, v cty.Value) (model.Value, bool) {
	switch {
	case v.IsNull():
		return model.Value{}, true
	case f.Kind == model.KindBool && v.Type() == cty.Bool:
		return model.BoolValue(v.True()), true
	case f.Kind == model.KindNumber && v.Type() == cty.Number:
		n, _ := v.AsBigFloat().Float64()
		return model.NumberValue(n), true
	case f.Kind == model.KindString && v.Type() == cty.String:
		return model.StringValue(v.AsString()), true
	case f.Kind == model.KindObject && v.Type() == cty.String:
		o, ok := r.u.Find(f.Type, v.AsString())
		return model.ObjectValue(o), ok
	}
	return model.Value{}, false
}
