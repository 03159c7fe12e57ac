package modeltest

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/model/load"
)

var (
	testSchema   = schemaOf("doc state facts values unknown observed goal plan", "expect")
	expectSchema = schemaOf("valid step kind conditions steps max_steps cost max_cost unsolvable unobservable state unknown")
)

func schemaOf(attrs string, blocks ...string) *hcl.BodySchema {
	s := &hcl.BodySchema{}
	for _, a := range strings.Fields(attrs) {
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: a})
	}
	for _, b := range blocks {
		s.Blocks = append(s.Blocks, hcl.BlockHeaderSchema{Type: b})
	}
	return s
}

// reader reads one test block, whose parts the loader has checked.
type reader struct {
	l     *load.Loaded
	u     *model.Universe
	t     *Test
	attrs hcl.Attributes // of the body that is read
	diags hcl.Diagnostics
}

func (r *reader) read(body hcl.Body) {
	c, diags := body.Content(testSchema)
	if r.diags = append(r.diags, diags...); diags.HasErrors() {
		return
	}
	r.attrs = c.Attributes
	r.text("doc", &r.t.Doc)
	r.problem()
	r.plan()
	for _, b := range c.Blocks {
		e, diags := b.Body.Content(expectSchema)
		r.diags = append(r.diags, diags...)
		r.attrs = e.Attributes
		r.expect(&r.t.expect)
	}
}

// wrong reports what is wrong with an attribute.
func (r *reader) wrong(name, summary, detail string) {
	first, n := utf8.DecodeRuneInString(detail)
	if !strings.HasSuffix(detail, "?") {
		detail += "."
	}
	r.diags = append(r.diags, &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: summary, Detail: string(unicode.ToUpper(first)) + detail[n:],
		Subject: r.attrs[name].Expr.Range().Ptr(),
	})
}

// value evaluates an attribute; false where it is not given or faulty.
func (r *reader) value(name string, want cty.Type) (cty.Value, bool) {
	attr := r.attrs[name]
	if attr == nil {
		return cty.NilVal, false
	}
	v, diags := attr.Expr.Value(r.l.Eval)
	r.diags = append(r.diags, diags...)
	if diags.HasErrors() {
		return cty.NilVal, false
	}
	v, err := convert.Convert(v, want)
	if err != nil || !v.IsWhollyKnown() || v.IsNull() {
		r.wrong(name, "No value", name+" rests on a variable that has no value; give one with --var")
		return cty.NilVal, false
	}
	return v, true
}

func (r *reader) text(name string, to *string) {
	if v, ok := r.value(name, cty.String); ok {
		*to = v.AsString()
	}
}

func (r *reader) flag(name string) *bool {
	if v, ok := r.value(name, cty.Bool); ok {
		b := v.True()
		return &b
	}
	return nil
}

func (r *reader) number(name string) *float64 {
	if v, ok := r.value(name, cty.Number); ok {
		n, _ := v.AsBigFloat().Float64()
		return &n
	}
	return nil
}

func (r *reader) integer(name string) *int {
	if n := r.number(name); n != nil {
		i := int(*n)
		return &i
	}
	return nil
}

// texts reads a list of strings, nil where it is not given.
func (r *reader) texts(name string) []string {
	v, ok := r.value(name, cty.List(cty.String))
	if !ok {
		return nil
	}
	out := []string{}
	for _, e := range v.AsValueSlice() {
		out = append(out, e.AsString())
	}
	return out
}

// plan reads the plan, a text or a list of its steps.
func (r *reader) plan() {
	v, ok := r.value("plan", cty.DynamicPseudoType)
	if !ok {
		return
	}
	text := ""
	if v.Type() == cty.String {
		text = v.AsString()
	} else {
		text = strings.Join(r.texts("plan"), "\n")
	}
	r.t.plan = &text
}

func (r *reader) expect(e *expectation) {
	e.valid, e.step = r.flag("valid"), r.integer("step")
	r.text("kind", &e.kind)
	e.conditions = r.texts("conditions")
	e.steps, e.maxSteps = r.integer("steps"), r.integer("max_steps")
	e.cost, e.maxCost = r.number("cost"), r.number("max_cost")
	if b := r.flag("unsolvable"); b != nil {
		e.unsolvable = *b
	}
	if b := r.flag("unobservable"); b != nil {
		e.unobservable = *b
	}
	for _, w := range r.written("", "state", "unknown") {
		if a, v, ok := r.look(w); ok {
			e.state = append(e.state, fact{a, v})
		}
	}
}
