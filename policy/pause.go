package policy

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model"
)

// PauseBeforePlan tells whether a person is asked before each plan, whatever
// the mode.
func (p *Policy) PauseBeforePlan() bool { return slices.Contains(p.PauseBefore, "plan") }

// PauseBeforeStep tells whether a person is asked before each execution of the
// action.
func (p *Policy) PauseBeforeStep(action string) bool {
	return slices.Contains(p.PauseBefore, "act") || slices.Contains(p.PauseBefore, action)
}

// checkPauses finds names of actions that the model does not have.
func (p *Policy) checkPauses(m *model.Model) hcl.Diagnostics {
	var diags hcl.Diagnostics
	names := []string{"plan", "act"}
	for _, a := range m.Actions {
		names = append(names, a.Name)
	}
	for _, w := range p.PauseBefore {
		if slices.Contains(names, w) {
			continue
		}
		detail := fmt.Sprintf("pause_before lists \"plan\", \"act\" or names of actions; there is no action %q.", w) + didYouMean(w, names)
		diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: fmt.Sprintf("Unknown action %q", w), Detail: detail, Subject: p.where("pause_before")})
	}
	return diags
}
