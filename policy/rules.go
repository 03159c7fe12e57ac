package policy

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
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
	inner := &decoder{p: d.p, prefix: fmt.Sprintf("rule %q.", r.Name), ctx: d.ctx, attrs: content.Attributes, given: map[string]bool{}, diags: diags}
	inner.word("effect", []string{string(EffectAllow), string(EffectDeny), string(EffectAsk)}, func(w string) { r.Effect = RuleEffect(w) })
	r.When = inner.sentence("when")
	r.Reason = inner.sentence("reason")
	d.diags = append(d.diags, inner.diags...)
	d.p.Rules = append(d.p.Rules, r)
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
