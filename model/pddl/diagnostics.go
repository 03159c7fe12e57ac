package pddl

import (
	"fmt"
	"slices"
	"sort"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model"
)

// maxDiagnostics is how many mistakes are told.
const maxDiagnostics = 100

// errorAt reports a mistake. The detail says how to mend it.
func (ld *loader) errorAt(rng hcl.Range, summary, detail string, args ...any) {
	ld.report(hcl.DiagError, rng, summary, detail, args)
}

func (ld *loader) warnAt(rng hcl.Range, summary, detail string, args ...any) {
	ld.report(hcl.DiagWarning, rng, summary, detail, args)
}

func (ld *loader) report(sev hcl.DiagnosticSeverity, rng hcl.Range, summary, detail string, args []any) {
	ld.failed = ld.failed || sev == hcl.DiagError
	if len(args) > 0 {
		detail = fmt.Sprintf(detail, args...)
	}
	d := &hcl.Diagnostic{Severity: sev, Summary: summary, Detail: detail, Subject: rng.Ptr()}
	switch n := len(ld.diags); {
	case n > maxDiagnostics:
	case n == maxDiagnostics:
		d.Summary, d.Detail = "More mistakes", "Only the first are told."
		fallthrough
	default:
		if !slices.ContainsFunc(ld.diags, func(o *hcl.Diagnostic) bool {
			return o.Summary == d.Summary && o.Detail == d.Detail && *o.Subject == *d.Subject
		}) {
			ld.diags = append(ld.diags, d)
		}
	}
}

// unsupported refuses a feature by its name.
func (ld *loader) unsupported(rng hcl.Range, what string) {
	ld.errorAt(rng, "Not supported: "+what, "This is beyond what fettle's actions can say.")
}

// near returns ` Did you mean "x"?` for the candidate most likely meant.
func near(name string, candidates []string) string {
	if n := model.Nearest(name, candidates); n != "" {
		return fmt.Sprintf(" Did you mean %q?", n)
	}
	return ""
}

// sorted returns the diagnostics in the order of their places, the domain's first.
func (ld *loader) sorted() hcl.Diagnostics {
	rank := func(d *hcl.Diagnostic) int {
		if ld.domain != nil && d.Subject.Filename == ld.domain.name {
			return 0
		}
		return 1
	}
	sort.SliceStable(ld.diags, func(i, j int) bool {
		a, b := ld.diags[i], ld.diags[j]
		if rank(a) != rank(b) {
			return rank(a) < rank(b)
		}
		return a.Subject.Start.Byte < b.Subject.Start.Byte
	})
	return ld.diags
}
