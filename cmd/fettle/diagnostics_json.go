package main

import (
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model/load"
)

// checkJSON has the shape of `terraform validate -json`, so that editors and
// CI tools that read the one can read the other.
type checkJSON struct {
	FormatVersion string           `json:"format_version"`
	Valid         bool             `json:"valid"`
	ErrorCount    int              `json:"error_count"`
	WarningCount  int              `json:"warning_count"`
	Diagnostics   []diagnosticJSON `json:"diagnostics"`
}

type diagnosticJSON struct {
	Severity string       `json:"severity"`
	Summary  string       `json:"summary"`
	Detail   string       `json:"detail"`
	Range    *rangeJSON   `json:"range,omitempty"`
	Snippet  *snippetJSON `json:"snippet,omitempty"`
}

type rangeJSON struct {
	Filename string  `json:"filename"`
	Start    posJSON `json:"start"`
	End      posJSON `json:"end"`
}

type posJSON struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Byte   int `json:"byte"`
}

type snippetJSON struct {
	Context              *string  `json:"context"`
	Code                 string   `json:"code"`
	StartLine            int      `json:"start_line"`
	HighlightStartOffset int      `json:"highlight_start_offset"`
	HighlightEndOffset   int      `json:"highlight_end_offset"`
	Values               []string `json:"values"`
}

func diagnosticsJSON(l *load.Loaded, diags hcl.Diagnostics) checkJSON {
	out := checkJSON{FormatVersion: "1.0", Diagnostics: []diagnosticJSON{}}
	for _, d := range redacted(l, diags) {
		j := diagnosticJSON{Severity: "error", Summary: d.Summary, Detail: d.Detail}
		if d.Severity == hcl.DiagWarning {
			j.Severity = "warning"
			out.WarningCount++
		} else {
			out.ErrorCount++
		}
		if d.Subject != nil {
			j.Range = &rangeJSON{d.Subject.Filename, posJSON(d.Subject.Start), posJSON(d.Subject.End)}
			j.Snippet = snippet(l, *d.Subject)
		}
		out.Diagnostics = append(out.Diagnostics, j)
	}
	out.Valid = out.ErrorCount == 0
	return out
}

func snippet(l *load.Loaded, rng hcl.Range) *snippetJSON {
	src, ok := sourceOf(l, rng)
	if !ok {
		return nil
	}
	s := &snippetJSON{
		Code: strings.ToValidUTF8(src.line, "�"), StartLine: rng.Start.Line,
		HighlightStartOffset: src.from, HighlightEndOffset: src.to, Values: []string{},
	}
	if src.context != "" {
		s.Context = &src.context
	}
	return s
}
