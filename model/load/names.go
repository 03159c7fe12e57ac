package load

import (
	"fmt"
	"path/filepath"

	"github.com/expr-lang/expr/builtin"
	"github.com/hashicorp/hcl/v2"
)

// declared is where a name was declared, and as what.
type declared struct {
	kind string
	rng  hcl.Range
}

// keywords of conditions that cannot be names.
var keywords = map[string]bool{
	"in": true, "not": true, "and": true, "or": true, "let": true, "if": true, "else": true,
	"true": true, "false": true, "nil": true, "matches": true, "contains": true, "startsWith": true, "endsWith": true,
}

// typeWords are what a type attribute or an HCL expression reads as something
// else than a type or a parameter.
var typeWords = map[string]bool{"bool": true, "number": true, "string": true, "enum": true, "var": true, "local": true}

// identifier tells whether a name can be used in conditions and in plans.
func identifier(s string) bool {
	if s == "" {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// isFunction tells whether expr, whose syntax conditions have, reads a name as
// that of one of its functions.
func isFunction(name string) bool {
	_, ok := builtin.Index[name]
	return ok
}

// place writes a position for a message: web.fettle.hcl line 7.
func place(rng hcl.Range) string {
	return fmt.Sprintf("%s line %d", filepath.Base(rng.Filename), rng.Start.Line)
}

// usable reports a name that cannot be declared, and tells whether it can.
func (ld *loader) usable(kind, name string, rng hcl.Range) bool {
	switch {
	case kind != "object" && !identifier(name):
		ld.errorAt(rng, "Invalid name", "The name %q of a %s must be letters, digits and underscores, and not start with a digit.", name, kind)
	case keywords[name]:
		ld.errorAt(rng, "Reserved name", "The %s %q is named like a keyword of conditions. Choose another name.", kind, name)
	case allowed[name]:
		ld.errorAt(rng, "Reserved name", "The %s %q is named like a function of conditions. Choose another name.", kind, name)
	case isFunction(name):
		ld.errorAt(rng, "Reserved name", "The %s %q is named like a function that expr has and conditions do without. Choose another name.", kind, name)
	case typeWords[name] && kind != "object":
		ld.errorAt(rng, "Reserved name", "The word %q has a meaning of its own in the model language. Choose another name for the %s.", name, kind)
	default:
		return true
	}
	return false
}

// declare records a name. It reports one that is reserved or taken, and tells
// whether the declaration stands.
func (ld *loader) declare(kind, name string, rng hcl.Range) bool {
	if !ld.usable(kind, name, rng) {
		return false
	}
	if d, taken := ld.names[name]; taken {
		ld.taken(kind, name, rng, d)
		return false
	}
	ld.names[name] = declared{kind, rng}
	return true
}

func (ld *loader) taken(kind, name string, rng hcl.Range, d declared) {
	if d.kind == kind {
		ld.errorAt(rng, fmt.Sprintf("Duplicate %s %q", kind, name), "It is declared already at %s. Names are shared by all files of a model.", place(d.rng))
		return
	}
	ld.tainted[name] = true
	ld.errorAt(rng, "Name taken", "The %s %q would hide the %s of that name, declared at %s. Choose another name.", kind, name, d.kind, place(d.rng))
}

// declareNames records the names of fluents and actions, which nothing that is
// read later may take.
func (ld *loader) declareNames() {
	ld.standing = map[*hcl.Block]bool{}
	for _, kind := range []string{"fluent", "action"} {
		for _, b := range ld.blocks[kind] {
			ld.standing[b] = ld.declare(kind, b.Labels[0], b.LabelRanges[0])
		}
	}
}

// declareOnce records a name of a kind with names of its own: goals, states,
// invariants, variables.
func (ld *loader) declareOnce(kind string, b *hcl.Block) bool {
	key := kind + " " + b.Labels[0]
	if d, taken := ld.names[key]; taken {
		ld.taken(kind, b.Labels[0], b.LabelRanges[0], d)
		return false
	}
	ld.names[key] = declared{kind, b.LabelRanges[0]}
	return true
}

// declaredNames returns the names declared as one of the kinds, for hints.
func (ld *loader) declaredNames(kinds ...string) []string {
	var out []string
	for _, k := range kinds {
		switch k {
		case "type":
			for _, t := range ld.m.Types {
				if !t.Enum {
					out = append(out, t.Name)
				}
			}
		case "fluent":
			for _, f := range ld.fluents {
				out = append(out, f.f.Name)
			}
		case "action":
			for _, a := range ld.actions {
				out = append(out, a.a.Name)
			}
		}
	}
	return out
}
