package policy

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/fettleops/fettle/model"
)

// manyRounds is the number of rounds above which a goal that is not reached is
// more likely mis-specified than near.
const manyRounds = 5

// Decode reads a policy block: every mistake is reported at once, in the order
// of the text, all missing limits in one diagnostic. The policy is usable only
// where no diagnostic is an error. The conditions of rules are compiled; whether
// they fit the model is for [Policy.Check].
func Decode(body hcl.Body, ctx *hcl.EvalContext, rng hcl.Range) (*Policy, hcl.Diagnostics) {
	p := &Policy{Mode: Approve, OnStop: Report, Range: rng, ranges: map[string]hcl.Range{}}
	content, diags := body.Content(schema())
	d := &decoder{p: p, ctx: ctx, attrs: content.Attributes, given: map[string]bool{}, diags: diags}
	d.limits()
	d.word("mode", []string{string(Suggest), string(Approve), string(Auto)}, func(w string) { p.Mode = Mode(w) })
	d.word("on_stop", []string{string(Report), string(Restore)}, func(w string) { p.OnStop = OnStop(w) })
	d.pauses()
	d.blocks(content.Blocks)
	d.required()
	if p.MaxRounds > manyRounds {
		d.report(hcl.DiagWarning, *p.where("max_rounds"), "Many rounds",
			fmt.Sprintf("A goal that is not reached after %d rounds is probably mis-specified: more rounds mostly cost time and money. Consider max_rounds = %d or less.", manyRounds, manyRounds))
	}
	// HCL gives those of one body in any order.
	slices.SortStableFunc(d.diags, func(a, b *hcl.Diagnostic) int { return cmp.Compare(offset(a), offset(b)) })
	return p, d.diags
}

// offset is where a diagnostic's place begins, 0 where it has none.
func offset(d *hcl.Diagnostic) int {
	if d.Subject == nil {
		return 0
	}
	return d.Subject.Start.Byte
}

func schema() *hcl.BodySchema {
	s := &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "rule", LabelNames: []string{"name"}}}}
	for _, name := range slices.Sorted(maps.Keys(single)) {
		s.Blocks = append(s.Blocks, hcl.BlockHeaderSchema{Type: name})
	}
	for _, name := range []string{"mode", "on_stop", "pause_before", "max_cost", "deadline"} {
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: name})
	}
	for _, c := range counts {
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: c.name})
	}
	for _, c := range durations {
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: c.name})
	}
	return s
}

// decoder reads the attributes of one body.
type decoder struct {
	p      *Policy
	prefix string // of the keys of ranges: search.
	ctx    *hcl.EvalContext
	attrs  hcl.Attributes
	given  map[string]bool // attributes with a value, be it wrong: they are not missing
	diags  hcl.Diagnostics
}

func (d *decoder) limits() {
	for _, c := range counts {
		n, ok := d.count(c.name, c.least)
		switch {
		case !ok:
		case c.must != nil:
			*c.must(d.p) = n
		default:
			*c.may(d.p) = AtMost(n)
		}
	}
	d.p.Deadline, _ = d.duration("deadline", false)
	for _, c := range durations {
		if t, ok := d.duration(c.name, c.zero); ok {
			*c.field(d.p) = AtMost(t)
		}
	}
	if v, rng, ok := d.number("max_cost"); ok {
		if v < 0 {
			d.invalid("max_cost", rng, fmt.Sprintf("max_cost is in USD and cannot be negative, got %v.", v))
			return
		}
		d.p.MaxCost = AtMost(v)
	}
}

// required names every required limit that was not given, in one diagnostic.
func (d *decoder) required() {
	var names []string
	for _, name := range order {
		if !d.given[name] {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		d.report(hcl.DiagError, d.p.Range, "Missing limits", missing(names))
	}
}

func (d *decoder) pauses() {
	v, rng, ok := d.value("pause_before", cty.List(cty.String))
	if !ok {
		return
	}
	for it := v.ElementIterator(); it.Next(); {
		_, e := it.Element()
		if e.IsNull() || !e.IsKnown() || e.AsString() == "" {
			d.invalid("pause_before", rng, `pause_before lists "plan", "act" or names of actions.`)
			d.p.PauseBefore = nil
			return
		}
		d.p.PauseBefore = append(d.p.PauseBefore, e.AsString())
	}
}

// single are the blocks of which a policy has one each, by their type.
var single = map[string]func(*decoder, *hcl.Block){
	"search":  (*decoder).search,
	"shared":  (*decoder).shared,
	"restore": (*decoder).restore,

	"approval_covers": (*decoder).covers,
}

func (d *decoder) blocks(blocks hcl.Blocks) {
	names := map[string]bool{}
	first := map[string]*hcl.Block{}
	for _, b := range blocks {
		switch {
		case b.Type == "rule" && names[b.Labels[0]]:
			d.report(hcl.DiagError, b.DefRange, "Duplicate rule", fmt.Sprintf("There is already a rule %q; each needs a name of its own, by which a denial cites it.", b.Labels[0]))
		case b.Type == "rule":
			names[b.Labels[0]] = true
			d.rule(b)
		case first[b.Type] != nil:
			d.report(hcl.DiagError, b.DefRange, fmt.Sprintf("Duplicate %s block", b.Type), fmt.Sprintf("There is one already, on line %d; write one block.", first[b.Type].DefRange.Start.Line))
		default:
			first[b.Type] = b
			single[b.Type](d, b)
		}
	}
}

func (d *decoder) search(b *hcl.Block) {
	content, diags := b.Body.Content(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "max_nodes"}, {Name: "max_memory"}, {Name: "timeout"}}})
	inner := &decoder{p: d.p, prefix: "search.", ctx: d.ctx, attrs: content.Attributes, given: map[string]bool{}, diags: diags}
	if n, ok := inner.count("max_nodes", 1); ok {
		d.p.Search.MaxNodes = AtMost(n)
	}
	if n, ok := inner.memory("max_memory"); ok {
		d.p.Search.MaxMemory = AtMost(n)
	}
	if t, ok := inner.duration("timeout", false); ok {
		d.p.Search.Timeout = AtMost(t)
	}
	d.diags = append(d.diags, inner.diags...)
	d.p.ranges["search"] = b.DefRange
}

// word reads one of a few words, bare or quoted.
func (d *decoder) word(name string, words []string, set func(string)) {
	attr := d.attrs[name]
	if attr == nil {
		return
	}
	w := hcl.ExprAsKeyword(attr.Expr)
	rng := attr.Expr.Range()
	d.p.ranges[d.prefix+name] = attr.Range
	if w == "" {
		v, _, ok := d.value(name, cty.String)
		if !ok {
			return
		}
		w = v.AsString()
	}
	if !slices.Contains(words, w) {
		d.invalid(name, rng, fmt.Sprintf("%s is one of %s, got %q.", name, strings.Join(words, ", "), w))
		return
	}
	set(w)
}

// value evaluates an attribute as a type; false where it is absent, null or
// wrong, the last told in a diagnostic.
func (d *decoder) value(name string, t cty.Type) (cty.Value, hcl.Range, bool) {
	attr := d.attrs[name]
	if attr == nil {
		return cty.NilVal, hcl.Range{}, false
	}
	rng := attr.Expr.Range()
	d.p.ranges[d.prefix+name] = attr.Range
	d.given[name] = true
	v, diags := attr.Expr.Value(d.ctx)
	if diags.HasErrors() {
		d.diags = append(d.diags, diags...)
		return cty.NilVal, rng, false
	}
	v, _ = v.UnmarkDeep()
	v, err := convert.Convert(v, t)
	if err != nil || !v.IsKnown() {
		d.invalid(name, rng, fmt.Sprintf("%s must be %s.", name, want(t)))
		return cty.NilVal, rng, false
	}
	d.given[name] = !v.IsNull()
	return v, rng, !v.IsNull()
}

func want(t cty.Type) string {
	switch t {
	case cty.Number:
		return "a number"
	case cty.String:
		return "a string"
	case cty.Bool:
		return "true or false"
	}
	return "a list of strings"
}

func (d *decoder) number(name string) (float64, hcl.Range, bool) {
	v, rng, ok := d.value(name, cty.Number)
	if !ok {
		return 0, rng, false
	}
	f, _ := v.AsBigFloat().Float64()
	if math.IsInf(f, 0) {
		d.tooLarge(name, rng)
		return 0, rng, false
	}
	return f, rng, true
}

func (d *decoder) count(name string, least int) (int, bool) {
	v, rng, ok := d.number(name)
	if !ok {
		return 0, false
	}
	switch {
	case v != math.Trunc(v) || v < float64(least):
		d.invalid(name, rng, fmt.Sprintf("%s must be a whole number of at least %d, got %s.", name, least, model.FormatNumber(v)))
		return 0, false
	case v > math.MaxInt32:
		d.tooLarge(name, rng)
		return 0, false
	}
	return int(v), true
}

func (d *decoder) tooLarge(name string, rng hcl.Range) {
	d.invalid(name, rng, name+" is too large to bound anything.")
}

func (d *decoder) invalid(name string, rng hcl.Range, detail string) {
	d.report(hcl.DiagError, rng, "Invalid "+name, detail)
}

func (d *decoder) report(s hcl.DiagnosticSeverity, rng hcl.Range, summary, detail string) {
	d.diags = append(d.diags, &hcl.Diagnostic{Severity: s, Summary: summary, Detail: detail, Subject: &rng})
}
