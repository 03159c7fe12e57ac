package load

import (
	"fmt"
	"math/big"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// value evaluates an attribute to the wanted type; false where it is absent,
// wrong (and reported) or not known.
func (ld *loader) value(attr *hcl.Attribute, want cty.Type, what string) (cty.Value, bool) {
	if attr == nil {
		return cty.NilVal, false
	}
	return ld.evaluate(attr.Expr, want, attr.Name, what)
}

func (ld *loader) evaluate(e hcl.Expression, want cty.Type, name, what string) (cty.Value, bool) {
	v, diags := e.Value(ld.l.Eval)
	ld.diags.extend(diags)
	if diags.HasErrors() {
		return cty.NilVal, false
	}
	c, err := convert.Convert(v, want)
	if err != nil || c.IsNull() {
		ld.errorAt(e.Range(), "Wrong type", "%s takes %s.", name, what)
		return cty.NilVal, false
	}
	return c, c.IsWhollyKnown()
}

func (ld *loader) text(attrs hcl.Attributes, name string) string {
	if v, ok := ld.value(attrs[name], cty.String, "a string"); ok {
		return v.AsString()
	}
	return ""
}

func (ld *loader) flag(attrs hcl.Attributes, name string, def bool) bool {
	if v, ok := ld.value(attrs[name], cty.Bool, "true or false"); ok {
		return v.True()
	}
	return def
}

// duration reads a length of time such as "1m30s", at least min.
func (ld *loader) duration(attrs hcl.Attributes, name string, def, least time.Duration) time.Duration {
	const what = `a length of time, such as "30s" or "1m30s"`
	v, ok := ld.value(attrs[name], cty.String, what)
	if !ok {
		return def
	}
	d, err := time.ParseDuration(v.AsString())
	switch {
	case err != nil:
		ld.errorAt(attrs[name].Expr.Range(), "Invalid duration", "%s takes %s, not %q.", name, what, v.AsString())
	case d < least:
		ld.errorAt(attrs[name].Expr.Range(), "Invalid duration", "%s must be at least %s.", name, least)
	default:
		return d
	}
	return def
}

// texts reads a list of strings.
func (ld *loader) texts(attr *hcl.Attribute) []string {
	v, ok := ld.value(attr, cty.List(cty.String), "a list of strings")
	if !ok {
		return nil
	}
	var out []string
	for it := v.ElementIterator(); it.Next(); {
		_, e := it.Element()
		if e.IsNull() {
			ld.errorAt(attr.Expr.Range(), "Wrong type", "%s takes a list of strings; null is none.", attr.Name)
			return nil
		}
		out = append(out, e.AsString())
	}
	return out
}

// list returns the expressions of a written list, or of a single value.
func (ld *loader) list(attr *hcl.Attribute, what string) []hcl.Expression {
	if attr == nil {
		return nil
	}
	if exprs, diags := hcl.ExprList(attr.Expr); !diags.HasErrors() {
		return exprs
	}
	if isTemplate(attr.Expr) {
		return []hcl.Expression{attr.Expr}
	}
	ld.errorAt(attr.Expr.Range(), "Invalid list", "%s takes %s, written out as a list.", attr.Name, what)
	return nil
}

// name reads a name that is written bare or as a string, as in parent = node.
func (ld *loader) name(e hcl.Expression, what string) (string, bool) {
	if n := hcl.ExprAsKeyword(e); n != "" {
		return n, true
	}
	if isTemplate(e) {
		v, ok := ld.evaluate(e, cty.String, what, "a name")
		if !ok {
			return "", false
		}
		return v.AsString(), true
	}
	ld.errorAt(e.Range(), "Invalid name", "The name of %s is needed here.", what)
	return "", false
}

// key reads the key of a written map and its place; it is a name or a string.
func (ld *loader) key(e hcl.Expression) (string, bool) {
	if n := hcl.ExprAsKeyword(e); n != "" {
		return n, true
	}
	v, ok := ld.evaluate(e, cty.String, "A key", "a string")
	if !ok {
		return "", false
	}
	return v.AsString(), true
}

// pairs returns the entries of a written map in their order; false where it is
// none.
func (ld *loader) pairs(attr *hcl.Attribute, example string) ([]hcl.KeyValuePair, bool) {
	if attr == nil {
		return nil, true
	}
	ps, diags := hcl.ExprMap(attr.Expr)
	if diags.HasErrors() {
		ld.errorAt(attr.Expr.Range(), "Invalid map", "%s takes a map, written out: %s.", attr.Name, example)
		return nil, false
	}
	return ps, true
}

// oneOf reads one of a few words, empty where it is not given.
func (ld *loader) oneOf(attrs hcl.Attributes, name string, words ...string) string {
	v, ok := ld.value(attrs[name], cty.String, "one of "+quotedList(words))
	if !ok {
		return ""
	}
	for _, w := range words {
		if v.AsString() == w {
			return w
		}
	}
	ld.errorAt(attrs[name].Expr.Range(), "Unknown word", "%s is one of %s, not %q.%s", name, quotedList(words), v.AsString(), ld.near(v.AsString(), words))
	return ""
}

// integer reads a whole number between two bounds.
func (ld *loader) integer(attrs hcl.Attributes, name string, def, least, most int) int {
	what := fmt.Sprintf("a whole number from %d to %d", least, most)
	v, ok := ld.value(attrs[name], cty.Number, what)
	if !ok {
		return def
	}
	n, exact := v.AsBigFloat().Int64()
	if exact != big.Exact || n < int64(least) || n > int64(most) {
		ld.errorAt(attrs[name].Expr.Range(), "Out of range", "%s takes %s.", name, what)
		return def
	}
	return int(n)
}
