package world

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/expr-lang/expr/types"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/fettleops/fettle/model"
)

// prometheusKind observes by one query for a whole fluent, whose labels say
// which object a series is about.
//
// A series offers value and labels. Where reduce makes one of several series,
// labels are those that all of them share. A series that is about no object of
// the model is ignored and counted; one object's missing series means absent,
// unless the answer came with a warning, since then it may not be whole.
func prometheusKind() kind {
	return kind{
		name: "prometheus",
		attributes: []hcl.AttributeSchema{
			{Name: "value", Required: true},
			{Name: "absent"},
			{Name: "query", Required: true},
			{Name: "labels"},
			{Name: "reduce"},
			{Name: "max_age"},
			{Name: "freshness"},
			{Name: "address"},
			{Name: "timeout"},
		},
		observe:  func(d *decoder) asker { return decodePrometheusObserve(d) },
		series:   decodeSeries,
		answers:  types.Map{"value": types.TypeOf(float64(0)), "labels": types.TypeOf(map[string]any{})},
		question: []hcl.AttributeSchema{{Name: "query", Required: true}, {Name: "address"}, {Name: "timeout"}},
		discover: func(d *decoder) asker {
			o := decodePrometheusObserve(d)
			o.timeless = true
			return o
		},
	}
}

// prometheusObserve is an observe body. What it says holds for all objects, so
// its query is the same for each.
type prometheusObserve struct{ promQuery }

func decodePrometheusObserve(d *decoder) *prometheusObserve {
	q := promQuery{query: d.lasting("query"), freshness: d.lasting("freshness"), server: d.address()}
	limit := defaultAskTime
	if q.server != nil && q.server.timeout > 0 {
		limit = q.server.timeout
	}
	q.timeout = d.duration("timeout", limit)
	return &prometheusObserve{q}
}

func (o *prometheusObserve) query(*ground) (query, error) { return &o.promQuery, nil }

func (o *prometheusObserve) expressions() []hcl.Expression { return nil }

// series is how an observer makes values of an answer that is many series.
type series struct {
	labels []string       // that name each parameter's object
	reduce string         // how several series become one, "" where that is an error
	maxAge *time.Duration // nil: the time of the evaluation counts
	tells  bool           // the answer tells when samples were taken
	fresh  bool           // …also of an object without a series
	// freshness is the query that tells it, "" where there is none.
	freshness string
}

func decodeSeries(d *decoder, f *model.Fluent) *series {
	s := &series{labels: d.labels(f), reduce: d.word("reduce", slices.Sorted(maps.Keys(reductions))...)}
	if (s.reduce == "any" || s.reduce == "all") && f.Kind != model.KindBool {
		d.errorf(d.attrs["reduce"].Expr.Range(), "Unsuitable value", "The reduce of %s combines what is true or false, and the fluent wants %s.", d.what, wanted(f))
	}
	if v, ok := d.fixed("max_age", cty.String); ok {
		t, err := time.ParseDuration(v.AsString())
		if err != nil || t < 0 {
			d.errorf(d.attrs["max_age"].Expr.Range(), "Unsuitable value", "The max_age of %s must be a duration such as \"30s\", or \"0s\" for samples taken after the leases, not %q.", d.what, v.AsString())
		} else {
			s.maxAge = &t
		}
	}
	s.fresh = d.has("freshness")
	if v, ok := d.fixedQuiet("freshness"); ok {
		s.freshness = v
	}
	s.tells = s.fresh
	if v, ok := d.fixedQuiet("query"); ok && isSelector(v) {
		s.tells = true
	}
	return s
}

// untold warns of a fluent whose samples' times matter and cannot be told: a
// guard and the confirmation of an effect would find it unknown each time.
func (w *World) untold(m *model.Model, o *observer, rng hcl.Range) hcl.Diagnostics {
	switch {
	case o.series == nil:
		return nil
	case o.absent != nil && o.series.maxAge != nil && !o.series.fresh:
		return hcl.Diagnostics{{
			Severity: hcl.DiagWarning, Subject: rng.Ptr(), Summary: "Age of absence not told",
			Detail: fmt.Sprintf("An object of fluent %q that no series is about has no sample, so nothing tells when it was absent, and with max_age it is unknown to every guard. Add a query that gives the time, as in freshness = \"timestamp(up)\".", o.fluent.Name),
		}}
	case o.series.tells:
		return nil
	}
	why := ""
	if o.series.maxAge != nil {
		why = "with max_age it is unknown to every guard"
	} else if a := writer(m, o.fluent); a != "" {
		why = fmt.Sprintf("what action %q does to it can never be confirmed", a)
	}
	if why == "" {
		return nil
	}
	return hcl.Diagnostics{{
		Severity: hcl.DiagWarning, Subject: rng.Ptr(), Summary: "Age of samples not told",
		Detail: fmt.Sprintf("The query of fluent %q is more than a plain selector, so the answer does not tell when its samples were taken, and %s. Add a query that gives the time, as in freshness = \"timestamp(up)\".", o.fluent.Name, why),
	}}
}

// writer names an action that has an effect on the fluent.
func writer(m *model.Model, f *model.Fluent) string {
	for _, a := range m.Actions {
		for _, e := range a.Effects {
			if e.Fluent == f {
				return a.Name
			}
		}
	}
	return ""
}

// lasting returns a text that is the same for all objects and says something.
func (d *decoder) lasting(name string) string {
	v, ok := d.fixed(name, cty.String)
	if !ok {
		return ""
	}
	text := strings.TrimSpace(v.AsString())
	if text == "" {
		d.errorf(d.attrs[name].Expr.Range(), "Unsuitable value", "The %s of %s must not be empty.", name, d.what)
	}
	return text
}

// fixedQuiet returns a text whose mistakes are told elsewhere.
func (d *decoder) fixedQuiet(name string) (string, bool) {
	before := d.diags
	v, ok := d.fixed(name, cty.String)
	d.diags = before
	if !ok {
		return "", false
	}
	return v.AsString(), true
}

// labels returns which label names the object of each parameter.
func (d *decoder) labels(f *model.Fluent) []string {
	a := d.attrs["labels"]
	if a == nil {
		if len(f.Params) > 0 {
			d.errorf(d.rng, "Missing labels", "One query serves all objects, so %s must say which label names each, as in labels = { %s = %q }.", d.what, f.Params[0].Name, f.Params[0].Type.Name)
		}
		return nil
	}
	v, ok := d.fixed("labels", cty.Map(cty.String))
	if !ok {
		return nil
	}
	given := v.AsValueMap()
	for _, name := range slices.Sorted(maps.Keys(given)) {
		switch {
		case paramIndex(f.Params, name) < 0:
			d.errorf(d.keyRange(a, name), "Unknown parameter", "The fluent %q has no parameter %q.%s", f.Name, name, didYouMean(name, paramNames(f.Params)))
		case given[name].AsString() == "":
			d.errorf(d.keyRange(a, name), "Unsuitable value", "The label that names the object of %q in %s must not be empty.", name, d.what)
		}
	}
	var out []string
	for _, p := range f.Params {
		label, ok := given[p.Name]
		if !ok {
			d.errorf(a.Expr.Range(), "Missing parameter", "The labels of %s do not say which label names the object of %q.", d.what, p.Name)
			continue
		}
		out = append(out, label.AsString())
	}
	return out
}

// keyRange returns the place of a key in a written map.
func (d *decoder) keyRange(a *hcl.Attribute, name string) hcl.Range {
	pairs, diags := hcl.ExprMap(a.Expr)
	if !diags.HasErrors() {
		for _, kv := range pairs {
			if k, diags := kv.Key.Value(d.scope); !diags.HasErrors() && k.RawEquals(cty.StringVal(name)) {
				return kv.Key.Range()
			}
		}
	}
	return a.Expr.Range()
}

func paramNames(params []model.Param) []string {
	var out []string
	for _, p := range params {
		out = append(out, p.Name)
	}
	return out
}
