package main

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/fettleops/fettle/model/load"
)

// onCommandLines warns of sensitive variables in commands: whoever may list the
// machine's processes reads the arguments of each, and fettle cannot hide them.
func onCommandLines(l *load.Loaded) hcl.Diagnostics {
	if len(l.Sensitive) == 0 {
		return nil
	}
	var blocks []*load.Block
	for _, f := range l.Fluents {
		blocks = append(blocks, f.Observe)
	}
	for _, a := range l.Actions {
		blocks = append(blocks, a.Run)
	}
	for _, b := range l.Discover {
		blocks = append(blocks, b)
	}
	blocks = append(append(append(blocks, l.Planners...), l.Critics...), l.Notifies...)
	var diags hcl.Diagnostics
	for _, b := range blocks {
		if b == nil {
			continue
		}
		if body, ok := b.Body.(*hclsyntax.Body); ok {
			diags = append(diags, inCommands(l, body)...)
		}
	}
	return diags
}

// inCommands looks at the command of a block, and of those in it.
func inCommands(l *load.Loaded, body *hclsyntax.Body) hcl.Diagnostics {
	var diags hcl.Diagnostics
	if attr := body.Attributes["command"]; attr != nil {
		for _, t := range attr.Expr.Variables() {
			if name := secretName(l, t); name != "" {
				rng := t.SourceRange()
				diags = append(diags, &hcl.Diagnostic{
					Severity: hcl.DiagWarning, Subject: &rng, Summary: "Secret on a command line",
					Detail: fmt.Sprintf("While the command runs, everybody on its machine can read the value of %s in the list of processes. Give it by env = { NAME = %[1]s }, or by stdin.", name),
				})
			}
		}
	}
	for _, b := range body.Blocks {
		diags = append(diags, inCommands(l, b.Body)...)
	}
	return diags
}

// secretName names what is mentioned, where that is a sensitive variable or a
// local that has the value of one in it.
func secretName(l *load.Loaded, t hcl.Traversal) string {
	const named = 2 // var.NAME
	if len(t) < named {
		return ""
	}
	attr, ok := t[1].(hcl.TraverseAttr)
	if !ok {
		return ""
	}
	name := t.RootName() + "." + attr.Name
	switch t.RootName() {
	case "var":
		if l.Sensitive[attr.Name] {
			return name
		}
	case "local":
		locals := l.Eval.Variables["local"]
		if locals.Type().HasAttribute(attr.Name) && hasSecret(l, locals.GetAttr(attr.Name)) {
			return name
		}
	}
	return ""
}

// hasSecret tells whether a secret is in a value.
func hasSecret(l *load.Loaded, v cty.Value) bool {
	found := false
	_ = cty.Walk(v, func(_ cty.Path, v cty.Value) (bool, error) { // Nothing returns an error.
		if v.Type() == cty.String && v.IsKnown() && !v.IsNull() {
			for _, s := range l.Secrets {
				found = found || len(s) > 3 && strings.Contains(v.AsString(), s)
			}
		}
		return true, nil
	})
	return found
}
