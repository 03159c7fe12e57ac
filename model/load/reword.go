package load

import (
	"fmt"
	"sort"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/fettleops/fettle/model"
)

// reword puts what HCL says of a variable, a local or a function that does not
// exist into the words of a model, with the name that is nearest.
func reword(d *hcl.Diagnostic) *hcl.Diagnostic {
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
