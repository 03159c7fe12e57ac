package load

import (
	"fmt"
	"math"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/fettleops/fettle/model"
)

// modelValue turns a configuration value into a fluent's; false where it is
// of another kind.
func (ld *loader) modelValue(f *model.Fluent, v cty.Value) (model.Value, bool) {
	if v.IsNull() || !v.IsKnown() {
		return model.Value{}, false
	}
	switch f.Kind {
	case model.KindBool:
		if v.Type() == cty.Bool {
			return model.BoolValue(v.True()), true
		}
	case model.KindNumber:
		if v.Type() == cty.Number {
			n, _ := v.AsBigFloat().Float64()
			return model.NumberValue(n), !math.IsInf(n, 0)
		}
	case model.KindString:
		if v.Type() == cty.String {
			return model.StringValue(v.AsString()), true
		}
	case model.KindObject:
		if v.Type() == cty.String {
			id, ok := ld.find(f.Type, v.AsString())
			return model.ObjectValue(id), ok
		}
	}
	return model.Value{}, false
}

// wrongValue says why a value is not one of the fluent's.
func (ld *loader) wrongValue(f *model.Fluent, v cty.Value) string {
	if f.Kind == model.KindObject && v.IsKnown() && !v.IsNull() && v.Type() == cty.String {
		return ld.noObject(f.Type, v.AsString())
	}
	what := "nothing"
	if !v.IsNull() {
		what = "a " + v.Type().FriendlyName()
		if s, err := convert.Convert(v, cty.String); err == nil && s.IsKnown() {
			what = s.AsString()
			if v.Type() == cty.String {
				what = fmt.Sprintf("the string %q", what)
			}
		}
	}
	return fmt.Sprintf("%s is %s, and this is %s.", f.Name, noun(f.Kind, f.Type), what)
}

// maxTried is the number of ground fluents for which an initial value is
// evaluated while loading, to find its mistakes.
const maxTried = 1000

// initial returns the function that gives a belief's first values. It is
// called with names; what cannot be evaluated is unknown.
func (ld *loader) initial(f *model.Fluent, attr *hcl.Attribute) func([]string) model.Value {
	for _, p := range f.Params {
		if usesName(attr.Expr, p.Name) {
			ld.tryInitial(f, attr)
			return func(args []string) model.Value {
				v, diags := attr.Expr.Value(ld.l.Scoped(f.Params, args))
				if diags.HasErrors() {
					return model.Value{}
				}
				out, _ := ld.modelValue(f, v)
				return out
			}
		}
	}
	out := ld.initialValue(f, attr, ld.l.Eval)
	return func([]string) model.Value { return out }
}

func usesName(e hcl.Expression, name string) bool {
	for _, t := range e.Variables() {
		if t.RootName() == name {
			return true
		}
	}
	return false
}

func (ld *loader) initialValue(f *model.Fluent, attr *hcl.Attribute, ctx *hcl.EvalContext) model.Value {
	v, diags := attr.Expr.Value(ctx)
	ld.diags.extend(diags)
	if diags.HasErrors() || !v.IsKnown() {
		return model.Value{}
	}
	out, ok := ld.modelValue(f, v)
	if !ok {
		ld.errorAt(attr.Expr.Range(), "Wrong value", "%s", ld.wrongValue(f, v))
	}
	return out
}

// tryInitial evaluates the initial values of the declared objects, up to a
// bound and until the first mistake.
func (ld *loader) tryInitial(f *model.Fluent, attr *hcl.Attribute) {
	names := make([][]string, len(f.Params))
	for i, p := range f.Params {
		names[i] = ld.m.Declared(p.Type)
		if len(names[i]) == 0 {
			return
		}
	}
	at := make([]int, len(f.Params))
	args := make([]string, len(f.Params))
	for range maxTried {
		for i := range at {
			args[i] = names[i][at[i]]
		}
		n := len(ld.diags.all)
		ld.initialValue(f, attr, ld.l.Scoped(f.Params, args))
		if len(ld.diags.all) > n || !next(at, names) {
			return
		}
	}
}

// next moves to the following combination.
func next(at []int, names [][]string) bool {
	for i := len(at) - 1; i >= 0; i-- {
		if at[i]++; at[i] < len(names[i]) {
			return true
		}
		at[i] = 0
	}
	return false
}
