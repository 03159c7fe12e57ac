package load

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/fettleops/fettle/model"
)

// LabelsOf evaluates the labels of a ground action, given the objects of its
// parameters. It is nil where the action has none.
func (l *Loaded) LabelsOf(a *model.Action, args []string) (map[string]string, error) {
	info := l.Actions[a]
	if info == nil || info.Labels == nil {
		return nil, nil
	}
	v, diags := info.Labels.Value(l.Scoped(a.Params, args))
	if diags.HasErrors() {
		return nil, fmt.Errorf("the labels of %s cannot be evaluated: %w", a.Name, diags)
	}
	v, _ = v.UnmarkDeep()
	v, err := convert.Convert(v, cty.Map(cty.String))
	if err != nil || !v.IsWhollyKnown() || v.IsNull() {
		return nil, fmt.Errorf("the labels of %s are not a map of strings", a.Name)
	}
	out := map[string]string{}
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		if e.IsNull() {
			return nil, fmt.Errorf("the label %s of %s is null", k.AsString(), a.Name)
		}
		out[k.AsString()] = e.AsString()
	}
	return out, nil
}
