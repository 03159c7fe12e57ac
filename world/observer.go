package world

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/expr-lang/expr/types"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/fettleops/fettle/model"
)

// observer is a compiled observe block: how the world is asked for one fluent,
// and how the answer becomes values.
type observer struct {
	fluent *model.Fluent
	kind   kind
	asker  asker
	shared bool // the question does not depend on the parameters
	value  *program
	items  *program   // nil: the answer is about one object
	object []*program // gives each parameter's object, of an item
	absent hcl.Expression
	series *series // nil: an answer is not many series
	at     places
}

// listAttributes adds to the attributes of a question those that make values
// of its answer, be it about one object or a list.
func listAttributes(of []hcl.AttributeSchema) []hcl.AttributeSchema {
	return append([]hcl.AttributeSchema{
		{Name: "value", Required: true}, {Name: "items"}, {Name: "object"}, {Name: "absent"},
	}, of...)
}

func decodeObserver(d *decoder, f *model.Fluent, k kind) *observer {
	o := &observer{fluent: f, kind: k, at: d.places()}
	o.asker = k.observe(d)
	used := dependsOn(f.Params, o.asker.expressions())
	o.shared = len(used) == 0
	o.value, o.absent = d.readings(f, k)
	if k.series != nil {
		o.series = k.series(d, f)
	}
	list := d.has("items")
	switch {
	case list != d.has("object"):
		d.errorf(d.rng, "Incomplete list", "The %s needs both items, the list in the answer, and object, which names an item's object; or neither.", d.what)
	case list && len(f.Params) == 0:
		d.errorf(d.attrs["items"].NameRange, "List without parameters", "The fluent %q has no parameters, so an item cannot be about one of its instances. Leave out items and object.", f.Name)
	case list:
		o.items = d.program("items", k.answers, nil, false)
		o.object = d.objects(f, k.answers)
		if !o.shared {
			d.errorf(d.rng, "List that depends on a parameter", "With items, one answer serves all objects, but this body depends on %s. Leave out items and object to ask for each object.", used[0])
		}
	}
	return o
}

// readings checks `value` and `absent`, which say what the fluent's value is.
func (d *decoder) readings(f *model.Fluent, k kind) (*program, hcl.Expression) {
	absent := d.absent(f)
	value := d.program("value", k.answers, f.Params, d.has("items"))
	if value != nil && !fits(f, value.typ) {
		d.errorf(d.attrs["value"].Expr.Range(), "Unsuitable value",
			"The value of %s is %s, but the fluent wants %s.", d.what, typeWords(value.typ), wanted(f))
	}
	return value, absent
}

// program compiles the expression in an attribute. The parameters it may look
// at are none where it is evaluated once for all objects.
func (d *decoder) program(name string, answers types.Map, params []model.Param, list bool) *program {
	if !d.has(name) {
		return nil
	}
	return d.source(name, d.attrs[name].Expr, answers, params, list)
}

// source compiles the expression that an HCL string contains. The string must
// be fixed: an expression is code, and nothing is pasted into it.
func (d *decoder) source(name string, e hcl.Expression, answers types.Map, params []model.Param, list bool) *program {
	v, diags := e.Value(nil)
	if diags.HasErrors() || v.Type() != cty.String || v.IsNull() || !v.IsKnown() {
		d.errorf(e.Range(), "Unsuitable value", "The %s of %s must be an expression in a fixed string, such as \"body.status == 'UP'\", without ${…}.", name, d.what)
		return nil
	}
	p, err := compile(v.AsString(), answers, params, list)
	if err != nil {
		d.errorf(within(e, v.AsString(), err), "Invalid expression", "The %s of %s: %s.", name, d.what, err)
		return nil
	}
	return p
}

// within finds the place of a mistake in an HCL string, as far as the string
// is written in one line and without escapes.
func within(e hcl.Expression, src string, err error) hcl.Range {
	rng := e.Range()
	var se *sourceError
	if _, quoted := e.(*hclsyntax.TemplateExpr); !quoted || !errors.As(err, &se) || se.to == 0 {
		return rng
	}
	if rng.End.Byte-rng.Start.Byte != len(src)+2 || rng.Start.Line != rng.End.Line || len([]rune(src)) != len(src) {
		return rng
	}
	from, to := min(se.from, len(src)), min(se.to, len(src))
	if from == to {
		from = max(0, from-1)
	}
	out := rng
	out.Start.Byte += 1 + from
	out.Start.Column += 1 + from
	out.End = hcl.Pos{Line: rng.Start.Line, Column: rng.Start.Column + 1 + to, Byte: rng.Start.Byte + 1 + to}
	return out
}

// objects compiles `object`: one expression, or one for each parameter.
func (d *decoder) objects(f *model.Fluent, answers types.Map) []*program {
	e := d.attrs["object"].Expr
	pairs, diags := hcl.ExprMap(e)
	if diags.HasErrors() {
		if len(f.Params) > 1 {
			d.errorf(e.Range(), "Unsuitable value", "The object of %s must name each parameter's object, as in { %s = \"name\" }.", d.what, f.Params[0].Name)
			return nil
		}
		return []*program{d.source("object", e, answers, nil, true)}
	}
	out := make([]*program, len(f.Params))
	for _, kv := range pairs {
		key, diags := kv.Key.Value(nil)
		name := ""
		if !diags.HasErrors() && key.Type() == cty.String && !key.IsNull() {
			name = key.AsString()
		}
		i := paramIndex(f.Params, name)
		if i < 0 {
			d.errorf(kv.Key.Range(), "Unknown parameter", "The fluent %q has no parameter %q.", f.Name, name)
			continue
		}
		out[i] = d.source("object", kv.Value, answers, nil, true)
	}
	for i, p := range f.Params {
		if out[i] == nil && !d.diags.HasErrors() {
			d.errorf(e.Range(), "Missing parameter", "The object of %s does not say which object the parameter %q is.", d.what, p.Name)
		}
	}
	return out
}

func paramIndex(params []model.Param, name string) int {
	for i, p := range params {
		if p.Name == name {
			return i
		}
	}
	return -1
}

// absent returns the expression of `absent`, checked where it is known.
func (d *decoder) absent(f *model.Fluent) hcl.Expression {
	v, ok := d.known("absent", cty.DynamicPseudoType)
	if !ok {
		return d.given("absent")
	}
	given := plainValue(v)
	right := false
	switch f.Kind {
	case model.KindBool:
		_, right = given.(bool)
	case model.KindNumber:
		_, right = given.(float64)
	case model.KindString:
		_, right = given.(string)
	default:
		var name string
		if name, right = given.(string); right && !f.Type.Root().Discovered && !f.Type.Discovered {
			_, right = f.Type.Lookup(name)
		}
	}
	if !right {
		d.errorf(d.attrs["absent"].Expr.Range(), "Unsuitable value", "The absent of %s must be %s, not %s.", d.what, wanted(f), describe(given))
	}
	return d.given("absent")
}

// answer is what came of a query.
type answer struct {
	env     map[string]any // the names that it offers, nil where there is none
	sampled time.Time
	err     string // why there is no answer
	absent  bool   // …and that is what `absent` speaks of
	failed  string // the answer says of itself that it failed: HTTP 503
	status  string // its status where that is no success: HTTP 503
	notJSON string // why its body has no fields, "" where it may have
	twice   string // why its body cannot be told, "" where it can
	note    string // what it says, where that tells a person more than what was read of it
	redact  []string
	series  *seriesAnswer // of the kinds that answer so, nil where there is no answer
}

// judge tells why the answer cannot be evaluated, "" where it can.
func (o *observer) judge(a *answer) string {
	if a.twice != "" && mentions("body", o.value, o.items) {
		return joinReasons(a.failed, a.twice)
	}
	if a.failed == "" || mentions(o.kind.verdict, o.value, o.items) || o.kind.judged && o.items == nil {
		return ""
	}
	return a.failed
}

// read turns an answer about one object into its reading.
func (o *observer) read(u *model.Universe, g *ground, r Reading, a *answer) Reading {
	if a.env == nil {
		return o.missing(u, g, r, a.err, a.absent)
	}
	if why := o.judge(a); why != "" {
		r.Err = clip(why, 300)
		return r
	}
	return o.evaluate(u, g, r, a, a.env)
}

// evaluate gives the reading the value of the expression.
func (o *observer) evaluate(u *model.Universe, g *ground, r Reading, a *answer, env map[string]any) Reading {
	for name, object := range g.names {
		if _, taken := o.kind.answers[name]; !taken {
			env[name] = object
		}
	}
	v, note, err := o.value.run(env)
	if a.status != "" && !mentions(o.kind.verdict, o.value) {
		note = strings.TrimSuffix(a.status+", "+note, ", ")
	}
	if r.Note = note; a.note != "" {
		r.Note = clip(a.note, 160)
	}
	if err == nil {
		r.Value, err = toValue(u, o.fluent, v)
	} else if a.notJSON != "" && o.value.fields {
		r.Note, err = a.status, errors.New(a.notJSON)
	}
	if err != nil {
		r.Err = clip(joinReasons(a.failed, err.Error()), 300)
	}
	return r
}

func joinReasons(first, second string) string {
	if first == "" {
		return second
	}
	return first + "; " + second
}

// missing is the reading of what the world did not answer: the value of
// `absent` where it speaks of that, unknown otherwise.
func (o *observer) missing(u *model.Universe, g *ground, r Reading, why string, absent bool) Reading {
	if o.absent == nil || !absent {
		r.Err = clip(why, 300)
		return r
	}
	v, _, err := g.value(o.absent, cty.DynamicPseudoType)
	if err == nil {
		r.Value, err = toValue(u, o.fluent, plainValue(v))
	}
	if err != nil {
		r.Err = clip(fmt.Sprintf("%s; absent: %s", why, err), 300)
		return r
	}
	r.Note = clip(why, 160)
	return r
}
