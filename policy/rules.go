package policy

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

var ruleSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "when"}, {Name: "effect", Required: true}, {Name: "reason"}}}

// rule reads the body of a rule.
func (d *decoder) rule(b *hcl.Block) {
	r := Rule{Name: b.Labels[0], Body: b.Body, Range: b.DefRange}
	if strings.TrimSpace(r.Name) == "" {
		d.report(hcl.DiagError, b.LabelRanges[0], "Empty name", "A rule needs a name, by which a denial cites it.")
	}
	content, diags := b.Body.Content(ruleSchema)
	inner := &decoder{p: d.p, prefix: r.at(), ctx: d.ctx, attrs: content.Attributes, given: map[string]bool{}, diags: diags}
	inner.word("effect", []string{string(EffectAllow), string(EffectDeny), string(EffectAsk)}, func(w string) { r.Effect = RuleEffect(w) })
	inner.condition(&r)
	r.Reason = inner.sentence("reason")
	d.diags = append(d.diags, inner.diags...)
	d.p.Rules = append(d.p.Rules, r)
}

// unread stands for a condition that is no text: a rule without a condition
// always applies, and this one cannot be evaluated.
const unread = "?"

// condition reads and compiles the condition of a rule.
func (d *decoder) condition(r *Rule) {
	attr := d.attrs["when"]
	if attr == nil {
		return
	}
	d.p.ranges[d.prefix+"when"] = attr.Range
	if lit, ok := attr.Expr.(*hclsyntax.LiteralValueExpr); ok && lit.Val.IsNull() {
		return
	}
	src, wrong := readSource(attr.Expr)
	if r.When = src.text; wrong == "" && strings.TrimSpace(src.text) == "" {
		wrong = "when cannot be empty; leave it out instead."
	}
	if wrong != "" {
		r.When = cmp.Or(r.When, unread)
		d.invalid("when", src.whole, wrong)
		return
	}
	var mistakes []mistake
	r.cond, mistakes = compile(src)
	for _, m := range mistakes {
		d.report(m.severity, src.place(m.at), m.summary, m.detail)
	}
}

// sentence reads a string that, where it is given, says something.
func (d *decoder) sentence(name string) string {
	v, rng, ok := d.value(name, cty.DynamicPseudoType)
	switch {
	case !ok:
		return ""
	case v.Type() != cty.String:
		d.invalid(name, rng, name+" must be a string.")
		return ""
	case strings.TrimSpace(v.AsString()) == "":
		d.invalid(name, rng, name+" cannot be empty; leave it out instead.")
	}
	return v.AsString()
}

// at is the prefix of the keys of a rule's ranges.
func (r *Rule) at() string { return fmt.Sprintf("rule %q.", r.Name) }
