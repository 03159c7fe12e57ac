package load

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
)

// Unsourced returns an error for each fluent whose value can come from nowhere:
// such a model can be checked, and planned with from a state, but not run.
func (l *Loaded) Unsourced() hcl.Diagnostics {
	var c collector
	for _, f := range l.Model.Fluents {
		if info := l.Fluents[f]; !info.Sourced() {
			c.add(&hcl.Diagnostic{
				Severity: hcl.DiagError, Summary: fmt.Sprintf("Fluent %q has no source", f.Name),
				Detail:  "To be run, a model must say how each fluent gets its value: give it an observe block, derive it from others, or give it an initial value.",
				Subject: info.DeclRange.Ptr(),
			})
		}
	}
	return c.sorted()
}

// Unobeyed returns an error for each block that limits, forbids or restores
// and that this version does not carry out: running the model as if it were
// not there would be less careful than its author asked. Those of the policy
// are told by its own package.
func (l *Loaded) Unobeyed() hcl.Diagnostics {
	var c collector
	not := func(rng hcl.Range, what, detail string) {
		c.add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: what + " is not carried out by this version", Detail: detail, Subject: rng.Ptr()})
	}
	for _, a := range l.Actions {
		if a.retryRange != nil {
			not(*a.retryRange, "Retrying", "A failed action would not be tried again within its step. Remove the block to do without.")
		}
	}
	return c.sorted()
}

// Unserved returns a warning for each block that is read and checked and that
// this version does nothing with. Other than with what [Loaded.Unobeyed] tells,
// a run without it does nothing that the model forbids.
func (l *Loaded) Unserved() hcl.Diagnostics {
	var c collector
	idle := func(blocks []*Block, kind, detail string) {
		for _, b := range blocks {
			what := fmt.Sprintf("%s %q", kind, b.Kind)
			if b.Name != "" {
				what += fmt.Sprintf(" %q", b.Name)
			}
			c.add(&hcl.Diagnostic{
				Severity: hcl.DiagWarning, Summary: what + " does nothing in this version", Detail: detail, Subject: b.Range.Ptr(),
			})
		}
	}
	idle(l.Triggers, "trigger", "No alert and no schedule starts a run: start one with fettle run.")
	for _, b := range l.Providers {
		if b.Kind == "http" {
			idle([]*Block{b}, "provider", "Its settings are not used: give headers and timeout in each observe and run block.")
		}
	}
	return c.sorted()
}
