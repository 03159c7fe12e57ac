package load

import (
	"fmt"
	"regexp"
	"sort"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/fettleops/fettle/model"
)

// reword puts what HCL says of a variable, a local or a function that does not
// exist into the words of a model, with the name that is nearest.
func reword(d *hcl.Diagnostic) *hcl.Diagnostic {
	if out := labels(d); out != nil {
		return out
	}
	kind, name, names := missingName(d)
	if kind == "" {
		return d
	}
	out := *d
	out.Summary = fmt.Sprintf("Unknown %s %q", kind, name)
	out.Detail = fmt.Sprintf("There is no %s %q.", kind, name)
	sort.Strings(names)
	if near := model.Nearest(name, names); near != "" {
		out.Detail += fmt.Sprintf(" Did you mean %q?", near)
	}
	return &out
}

var (
	needed  = regexp.MustCompile(`^All (\w+) blocks must have (\d+) labels \((.*)\)\.$`)
	surplus = regexp.MustCompile(`^Only (\d+) labels \((.*)\) are expected for (\w+) blocks\.$`)
)

// labels puts what HCL says of a block with too few or too many labels in words;
// nil where it says something else.
func labels(d *hcl.Diagnostic) *hcl.Diagnostic {
	if m := surplus.FindStringSubmatch(d.Detail); m != nil {
		out := *d
		out.Detail = fmt.Sprintf("One label stands behind %s, its %s. Remove the others.", m[3], m[2])
		if m[1] != "1" {
			out.Detail = fmt.Sprintf("%s labels stand behind %s, its %s. Remove the others.", m[1], m[3], strings.ReplaceAll(m[2], ", ", " and its "))
		}
		return &out
	}
	m := needed.FindStringSubmatch(d.Detail)
	if m == nil {
		return nil
	}
	names := strings.Split(m[3], ", ")
	what, be := "Its "+strings.Join(names, " and its "), "stands"
	if len(names) > 1 {
		be = "stand"
	}
	out := *d
	out.Detail = fmt.Sprintf("%s %s behind %s, in quotes: %s \"%s\" { … }.", what, be, m[1], m[1], strings.ToUpper(strings.Join(names, `" "`)))
	return &out
}

var (
	required  = regexp.MustCompile(`^The argument "(\w+)" is required`)
	suggested = regexp.MustCompile(`Did you mean "(\w+)"\?$`)
)

// maxCompared is the number of diagnostics above which none is left out.
const maxCompared = 1000

// misspelt tells whether an argument is missing only since its name is
// misspelt, which another of the diagnostics of its body tells. That one
// stands behind the start of the body, before that of the next body which
// misses the same.
func misspelt(missing *hcl.Diagnostic, all hcl.Diagnostics) bool {
	if missing.Summary != "Missing required argument" {
		return false
	}
	m := required.FindStringSubmatch(missing.Detail)
	if m == nil || missing.Subject == nil || len(all) > maxCompared {
		return false
	}
	next, found := -1, -1
	for _, d := range all {
		if d == missing || d.Subject == nil || d.Subject.Filename != missing.Subject.Filename || d.Subject.Start.Byte < missing.Subject.Start.Byte {
			continue
		}
		at := d.Subject.Start.Byte
		if s := suggested.FindStringSubmatch(d.Detail); d.Summary == "Unsupported argument" && s != nil && s[1] == m[1] && (found < 0 || at < found) {
			found = at
		} else if r := required.FindStringSubmatch(d.Detail); r != nil && r[1] == m[1] && (next < 0 || at < next) {
			next = at
		}
	}
	return found >= 0 && (next < 0 || found < next)
}

// missingName tells what a diagnostic misses and which names there are, an
// empty kind where it is about something else.
func missingName(d *hcl.Diagnostic) (kind, name string, names []string) {
	switch e := d.Expression.(type) {
	case *hclsyntax.FunctionCallExpr:
		if d.Summary != "Call to unknown function" {
			return "", "", nil
		}
		for ctx := d.EvalContext; ctx != nil; ctx = ctx.Parent() {
			for n := range ctx.Functions {
				names = append(names, n)
			}
		}
		return "function", e.Name, names
	case *hclsyntax.ScopeTraversalExpr:
		kind = map[string]string{"var": "variable", "local": "local"}[e.Traversal.RootName()]
		if kind == "" || d.Summary != "Unsupported attribute" || len(e.Traversal) < 2 {
			return "", "", nil
		}
		step, ok := e.Traversal[1].(hcl.TraverseAttr)
		if !ok || d.Subject == nil || d.Subject.Start != step.SrcRange.Start {
			return "", "", nil
		}
		for ctx := d.EvalContext; ctx != nil; ctx = ctx.Parent() {
			if v, ok := ctx.Variables[e.Traversal.RootName()]; ok && v.Type().IsObjectType() {
				for n := range v.Type().AttributeTypes() {
					names = append(names, n)
				}
				break
			}
		}
		return kind, step.Name, names
	}
	return "", "", nil
}
