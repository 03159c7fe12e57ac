package load

import (
	"fmt"
	"sort"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// varValue is a variable's value, unknown where it has none.
type varValue struct{ value cty.Value }

var variableSchema = schema("default description sensitive")

// variables decides each variable's value: --var before the environment before
// the default.
func (ld *loader) variables() {
	ld.l.Eval = &hcl.EvalContext{Functions: ld.functions(), Variables: map[string]cty.Value{}}
	known := map[string]bool{}
	for _, b := range ld.blocks["variable"] {
		known[b.Labels[0]] = true
		if !ld.declareOnce("variable", b) {
			continue
		}
		if !identifier(b.Labels[0]) {
			ld.errorAt(b.LabelRanges[0], "Invalid name", "The name of a variable must be letters, digits and underscores.")
			continue
		}
		ld.variable(b)
	}
	var given []string
	for name := range ld.o.Vars {
		given = append(given, name)
	}
	sort.Strings(given)
	for _, name := range given {
		if !known[name] {
			var all []string
			for n := range known {
				all = append(all, n)
			}
			sort.Strings(all)
			ld.diags.add(&hcl.Diagnostic{
				Severity: hcl.DiagError, Summary: fmt.Sprintf("Unknown variable %q", name),
				Detail: fmt.Sprintf("The model has no variable of the name given by --var %s=….%s", name, ld.near(name, all)),
			})
		}
	}
	values := map[string]cty.Value{}
	for name, v := range ld.vars {
		values[name] = v.value
	}
	ld.l.Eval.Variables["var"] = cty.ObjectVal(values)
}

func (ld *loader) variable(b *hcl.Block) {
	name := b.Labels[0]
	content := ld.content(b.Body, variableSchema)
	ld.text(content.Attributes, "description")
	v := cty.DynamicVal
	def := cty.NilVal
	if attr := content.Attributes["default"]; attr != nil {
		d, diags := attr.Expr.Value(&hcl.EvalContext{Functions: ld.l.Eval.Functions})
		ld.diags.extend(diags)
		if !diags.HasErrors() {
			def, v = d, d
		}
	}
	text, given := ld.o.Vars[name]
	if !given {
		text, given = ld.o.LookupEnv("FETTLE_VAR_" + name)
	}
	sensitive := ld.flag(content.Attributes, "sensitive", false)
	switch {
	case given:
		v = ld.given(b, name, text, def, sensitive)
	case content.Attributes["default"] == nil:
		ld.errorAt(b.DefRange, fmt.Sprintf("Variable %q has no value", name),
			"Give it one with --var %s=VALUE or the environment variable FETTLE_VAR_%s, or write a default.", name, name)
	}
	ld.vars[name] = varValue{v}
	if sensitive {
		ld.l.Sensitive[name] = true
		ld.secret(v)
	}
}

// given converts a value from the command line or the environment to the type
// of the variable's default; without one it is a string.
func (ld *loader) given(b *hcl.Block, name, text string, def cty.Value, sensitive bool) cty.Value {
	v := cty.StringVal(text)
	if def == cty.NilVal || def.IsNull() || def.Type() == cty.String {
		return v
	}
	want := def.Type()
	if !want.IsPrimitiveType() {
		e, diags := hclsyntax.ParseExpression([]byte(text), "--var "+name, hcl.InitialPos)
		if !diags.HasErrors() {
			v, diags = e.Value(nil)
		}
		if diags.HasErrors() {
			v = cty.StringVal(text)
		}
		if want.IsTupleType() || want.IsListType() {
			want = cty.DynamicPseudoType
			if t := v.Type(); !t.IsTupleType() && !t.IsListType() {
				want = def.Type()
			}
		}
	}
	c, err := convert.Convert(v, want)
	if err != nil {
		shown := fmt.Sprintf(" %q", text)
		if sensitive {
			shown = ""
		}
		ld.errorAt(b.DefRange, fmt.Sprintf("Wrong value for variable %q", name), "The value%s given from outside is no %s, which its default is.", shown, def.Type().FriendlyName())
		return cty.DynamicVal
	}
	return c
}

// secret remembers the texts within a sensitive value, for redaction. A bool is
// none: its value is one of two, and to take it out would spoil every text.
func (ld *loader) secret(v cty.Value) {
	if !v.IsWhollyKnown() || v.IsNull() {
		return
	}
	if v.CanIterateElements() {
		for it := v.ElementIterator(); it.Next(); {
			_, e := it.Element()
			ld.secret(e)
		}
		return
	}
	if v.Type() == cty.Bool {
		return
	}
	if s, err := convert.Convert(v, cty.String); err == nil && s.AsString() != "" {
		ld.l.Secrets = append(ld.l.Secrets, s.AsString())
	}
}

// locals evaluates every local value, whatever order they are written in.
func (ld *loader) locals() {
	attrs := map[string]*hcl.Attribute{}
	var order []string
	for _, b := range ld.blocks["locals"] {
		as, diags := b.Body.JustAttributes()
		ld.diags.extend(diags)
		for _, a := range sortedAttrs(as) {
			if first := attrs[a.Name]; first != nil {
				ld.errorAt(a.NameRange, fmt.Sprintf("Duplicate local %q", a.Name), "It is declared already at %s.", place(first.NameRange))
				continue
			}
			attrs[a.Name] = a
			order = append(order, a.Name)
		}
	}
	r := &localResolver{ld: ld, attrs: attrs, values: map[string]cty.Value{}, state: map[string]int{}}
	for _, name := range order {
		r.resolve(name)
	}
	ld.l.Eval.Variables["local"] = cty.ObjectVal(r.values)
}

// localResolver evaluates locals depth first.
type localResolver struct {
	ld     *loader
	attrs  map[string]*hcl.Attribute
	values map[string]cty.Value
	state  map[string]int // 1 in progress, 2 done
	stack  []string
}

func (r *localResolver) resolve(name string) {
	if r.state[name] == 2 {
		return
	}
	attr := r.attrs[name]
	if r.state[name] == 1 || len(r.stack) > maxNesting {
		i := len(r.stack) - 1
		for i > 0 && r.stack[i] != name {
			i--
		}
		cycle := append(append([]string(nil), r.stack[i:]...), name)
		r.ld.errorAt(attr.NameRange, "Cycle of locals", "Each needs the next: %s.", strings.Join(cycle, " → "))
		r.values[name] = cty.DynamicVal
		r.state[name] = 2
		return
	}
	r.state[name] = 1
	r.stack = append(r.stack, name)
	for _, t := range attr.Expr.Variables() {
		if t.RootName() != "local" || len(t) < 2 {
			continue
		}
		if step, ok := t[1].(hcl.TraverseAttr); ok && r.attrs[step.Name] != nil {
			r.resolve(step.Name)
		}
	}
	r.stack = r.stack[:len(r.stack)-1]
	if r.state[name] == 2 {
		return // found to be on a cycle
	}
	r.state[name] = 2
	ctx := r.ld.l.Eval.NewChild()
	ctx.Variables = map[string]cty.Value{"local": cty.ObjectVal(r.values)}
	v, diags := attr.Expr.Value(ctx)
	r.ld.diags.extend(diags)
	if diags.HasErrors() {
		v = cty.DynamicVal
	}
	r.values[name] = v
}

// sortedAttrs returns attributes in the order written.
func sortedAttrs(as hcl.Attributes) []*hcl.Attribute {
	out := make([]*hcl.Attribute, 0, len(as))
	for _, a := range as {
		out = append(out, a)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].NameRange.Start.Byte < out[j].NameRange.Start.Byte })
	return out
}
