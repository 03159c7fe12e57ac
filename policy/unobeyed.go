package policy

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model"
)

// Unobeyed returns an error for each thing that the policy restricts or
// demands and that this version does not carry out. A run under such a policy
// would do more than it was allowed, so it is refused; what only observes or
// plans may go on.
func (p *Policy) Unobeyed() hcl.Diagnostics {
	var diags hcl.Diagnostics
	not := func(rng *hcl.Range, what, mend string) {
		diags = append(diags, &hcl.Diagnostic{
			Severity: hcl.DiagError, Summary: what + " is not carried out by this version", Subject: rng,
			Detail: "A run would not keep to this policy. " + mend,
		})
	}
	for i := range p.Rules {
		not(&p.Rules[i].Range, fmt.Sprintf("rule %q", p.Rules[i].Name), "Remove the rule, and decide on each plan yourself with mode = \"approve\".")
	}
	if len(p.PauseBefore) > 0 {
		not(p.where("pause_before"), "pause_before", "Remove it; mode = \"approve\" asks before each plan.")
	}
	if p.OnStop == Restore {
		not(p.where("on_stop"), "on_stop = \"restore\"", "Use on_stop = \"report\": the end report names what is left undone.")
	}
	return diags
}

// Check finds the names in the policy that the model does not have.
func (p *Policy) Check(m *model.Model) hcl.Diagnostics {
	var diags hcl.Diagnostics
	names := []string{"plan", "act"}
	for _, a := range m.Actions {
		names = append(names, a.Name)
	}
	for _, w := range p.PauseBefore {
		if w == "plan" || w == "act" || m.Action(w) != nil {
			continue
		}
		detail := fmt.Sprintf("pause_before lists \"plan\", \"act\" or names of actions; there is no action %q.", w)
		if near := model.Nearest(w, names); near != "" {
			detail += fmt.Sprintf(" Did you mean %q?", near)
		}
		diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: fmt.Sprintf("Unknown action %q", w), Detail: detail, Subject: p.where("pause_before")})
	}
	return diags
}

// ForModels returns an error where a language model is to be called and the
// policy does not limit its calls and their cost.
func (p *Policy) ForModels() hcl.Diagnostics {
	var names []string
	if !p.MaxCalls.Set {
		names = append(names, "max_calls")
	}
	if !p.MaxCost.Set {
		names = append(names, "max_cost")
	}
	if len(names) == 0 {
		return nil
	}
	rng := p.Range
	return hcl.Diagnostics{{
		Severity: hcl.DiagError, Summary: "Missing limits", Subject: &rng,
		Detail: fmt.Sprintf("A language model is called by this model's planners, so its policy must set %s (max_cost is in USD).", list(names)),
	}}
}
