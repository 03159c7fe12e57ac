package world

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/fettleops/fettle/model"
)

// decoder reads one block's body and gathers what is wrong with it. It checks
// each expression with the parameters unknown, so that mistakes are found
// without a universe.
type decoder struct {
	w      *World
	what   string // observe "http" of fluent "in_lb"
	params []model.Param
	locks  []string // of the action
	scope  *hcl.EvalContext
	rng    hcl.Range
	attrs  hcl.Attributes
	blocks hcl.Blocks
	diags  hcl.Diagnostics
}

func (w *World) newDecoder(what string, params []model.Param) *decoder {
	d := &decoder{w: w, what: what, params: params, scope: w.eval.NewChild()}
	d.scope.Variables = map[string]cty.Value{}
	for _, p := range params {
		d.scope.Variables[p.Name] = cty.UnknownVal(cty.String)
	}
	return d
}

// open reads the body's attributes and blocks by their names.
func (d *decoder) open(b Block, attrs []hcl.AttributeSchema, blocks []hcl.BlockHeaderSchema) {
	d.rng = b.Range
	content, diags := b.Body.Content(&hcl.BodySchema{Attributes: attrs, Blocks: blocks})
	d.diags = append(d.diags, diags...)
	if content != nil {
		d.attrs, d.blocks = content.Attributes, content.Blocks
	}
}

func (d *decoder) errorf(rng hcl.Range, summary, format string, args ...any) {
	d.diags = append(d.diags, &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(format, args...), Subject: &rng,
	})
}

func (d *decoder) has(name string) bool { return d.attrs[name] != nil }

// expr returns an attribute's expression after checking that it evaluates to
// the type, nil where it is not given.
func (d *decoder) expr(name string, want cty.Type) hcl.Expression {
	if !d.has(name) {
		return nil
	}
	d.known(name, want)
	return d.attrs[name].Expr
}

// known evaluates an attribute; ok where it is right and does not depend on
// parameters.
func (d *decoder) known(name string, want cty.Type) (v cty.Value, ok bool) {
	a := d.attrs[name]
	if a == nil {
		return cty.NilVal, false
	}
	v, diags := a.Expr.Value(d.scope)
	d.diags = append(d.diags, diags...)
	if diags.HasErrors() {
		return cty.NilVal, false
	}
	v, _ = v.UnmarkDeep()
	v, err := convert.Convert(v, want)
	if err != nil {
		d.errorf(a.Expr.Range(), "Unsuitable value", "The %s of %s: %s.", name, d.what, err)
		return cty.NilVal, false
	}
	if v.IsNull() {
		d.errorf(a.Expr.Range(), "Unsuitable value", "The %s of %s must not be null; leave it out instead.", name, d.what)
		return cty.NilVal, false
	}
	if (want.IsMapType() || want.IsListType()) && hasNull(v) {
		d.errorf(a.Expr.Range(), "Unsuitable value", "The %s of %s must not contain null.", name, d.what)
		return cty.NilVal, false
	}
	return v, v.IsWhollyKnown()
}

// fixed evaluates an attribute that must not depend on parameters; ok where it
// is given and right.
func (d *decoder) fixed(name string, want cty.Type) (v cty.Value, ok bool) {
	before := len(d.diags)
	v, ok = d.known(name, want)
	if !ok && d.has(name) && len(d.diags) == before {
		d.errorf(d.attrs[name].Expr.Range(), "Unsuitable value", "The %s of %s must not depend on parameters.", name, d.what)
	}
	return v, ok
}

// word returns one of a few words, "" where it is not given.
func (d *decoder) word(name string, of ...string) string {
	v, ok := d.fixed(name, cty.String)
	if !ok {
		return ""
	}
	if !slices.Contains(of, v.AsString()) {
		d.errorf(d.attrs[name].Expr.Range(), "Unsuitable value", "The %s of %s is one of %s, not %q.%s", name, d.what, strings.Join(of, ", "), v.AsString(), didYouMean(v.AsString(), of))
	}
	return v.AsString()
}

func hasNull(collection cty.Value) bool {
	if !collection.IsKnown() {
		return false
	}
	for it := collection.ElementIterator(); it.Next(); {
		if _, v := it.Element(); v.IsNull() {
			return true
		}
	}
	return false
}

// url returns the expression of a URL, checked where it is known.
func (d *decoder) url(name string) hcl.Expression {
	if v, ok := d.known(name, cty.String); ok {
		if err := checkURL(v.AsString()); err != nil {
			d.errorf(d.attrs[name].Expr.Range(), "Unsuitable value", "The %s of %s: %s.", name, d.what, err)
		}
	}
	return d.given(name)
}

// command returns the expression of a program and its arguments.
func (d *decoder) command(name string) hcl.Expression {
	a := d.attrs[name]
	if a == nil {
		return nil
	}
	if v, diags := a.Expr.Value(d.scope); !diags.HasErrors() && v.Type() == cty.String {
		d.errorf(a.Expr.Range(), "Unsuitable value", "The %s of %s must be a list, as in [\"./program\", \"argument\"]: no shell takes a text apart.", name, d.what)
		return a.Expr
	}
	if v, ok := d.known(name, cty.List(cty.String)); ok && v.LengthInt() == 0 {
		d.errorf(a.Expr.Range(), "Unsuitable value", "The %s of %s names no program; write [\"./program\", \"argument\"].", name, d.what)
	}
	return a.Expr
}

func (d *decoder) given(name string) hcl.Expression {
	if !d.has(name) {
		return nil
	}
	return d.attrs[name].Expr
}

// duration returns a fixed duration, or the default where it is not given.
func (d *decoder) duration(name string, def time.Duration) time.Duration {
	if !d.has(name) {
		return def
	}
	v, ok := d.fixed(name, cty.String)
	if !ok {
		return def
	}
	t, err := time.ParseDuration(v.AsString())
	if err != nil || t <= 0 {
		d.errorf(d.attrs[name].Expr.Range(), "Unsuitable value", "The %s of %s must be a duration above zero, such as \"5s\" or \"500ms\", not %q.", name, d.what, v.AsString())
		return def
	}
	return t
}

// codes returns a fixed number or list of numbers within bounds, or the
// default where it is not given.
func (d *decoder) codes(name string, lo, hi int, def []int) []int {
	a := d.attrs[name]
	if a == nil {
		return def
	}
	v, ok := d.fixed(name, cty.DynamicPseudoType)
	if !ok {
		return def
	}
	if v.Type() == cty.Number {
		v = cty.TupleVal([]cty.Value{v})
	}
	var out []int
	list, err := convert.Convert(v, cty.List(cty.Number))
	if err == nil && !list.IsNull() {
		for _, e := range list.AsValueSlice() {
			if e.IsNull() {
				out = nil
				break
			}
			f := e.AsBigFloat()
			n, _ := f.Int64()
			if !f.IsInt() || n < int64(lo) || n > int64(hi) {
				out = nil
				break
			}
			out = append(out, int(n))
		}
	}
	if len(out) == 0 {
		d.errorf(a.Expr.Range(), "Unsuitable value", "The %s of %s must be a whole number from %d to %d, or a list of them.", name, d.what, lo, hi)
		return def
	}
	return out
}

// dependsOn returns which parameters the expressions mention.
func dependsOn(params []model.Param, exprs []hcl.Expression) []string {
	var out []string
	for _, e := range exprs {
		if e == nil {
			continue
		}
		for _, t := range e.Variables() {
			name := t.RootName()
			for _, p := range params {
				if p.Name == name && !slices.Contains(out, name) {
					out = append(out, name)
				}
			}
		}
	}
	return out
}
