package policy

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
)

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
