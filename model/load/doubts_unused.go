package load

import (
	"fmt"
	"regexp"
	"sort"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/fettleops/fettle/model"
)

// uses is what a model's expressions refer to.
type uses struct {
	read    map[*model.Fluent]bool
	changed map[*model.Fluent]bool
	types   map[*model.Type]bool
}

// uses walks everything that the model says. What a test expects counts as
// read, and so does whatever the text of the policy mentions.
func (d *doubter) uses() uses {
	u := uses{map[*model.Fluent]bool{}, map[*model.Fluent]bool{}, map[*model.Type]bool{}}
	m := d.l.Model
	for _, f := range m.Fluents {
		u.params(f.Params)
		u.types[f.Type] = true
		u.expr(f.Derived)
	}
	for _, a := range m.Actions {
		u.params(a.Params)
		u.cond(a.Precondition)
		u.expr(a.Cost)
		for _, e := range a.Effects {
			u.changed[e.Fluent] = true
			u.expr(e.When)
			u.expr(e.Value)
			for _, b := range e.Forall {
				u.types[b.Type] = true
			}
		}
	}
	for _, inv := range m.Invariants {
		u.cond(inv.Cond)
	}
	for _, g := range m.Goals {
		u.params(g.Params)
		u.cond(g.Cond)
		u.expr(g.Severity)
	}
	for f := range d.l.expected {
		u.read[f] = true
	}
	if p := d.l.Policy; p != nil {
		for _, word := range d.words(p.Body) {
			if f := m.Fluent(word); f != nil {
				u.read[f] = true
			}
		}
	}
	return u
}

func (u uses) params(ps []model.Param) {
	for _, p := range ps {
		u.types[p.Type] = true
	}
}

func (u uses) cond(c *model.Cond) {
	if c == nil {
		return
	}
	for _, e := range c.Conjuncts {
		u.expr(e)
	}
}

func (u uses) expr(e *model.Expr) {
	e.Walk(func(e *model.Expr) bool {
		if e.Op == model.OpFluent {
			u.read[e.Fluent] = true
		}
		if e.Over != nil {
			u.types[e.Over] = true
		}
		return true
	})
}

var word = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)

// words returns the words in the text of a block.
func (d *doubter) words(body hcl.Body) []string {
	b, ok := body.(*hclsyntax.Body)
	if !ok || d.l.Files[b.SrcRange.Filename] == nil {
		return nil
	}
	return word.FindAllString(string(b.SrcRange.SliceBytes(d.l.Files[b.SrcRange.Filename].Bytes)), -1)
}

// unused warns of types, fluents, parameters, variables and locals that
// nothing uses. A model that can do nothing yet is still being written.
func (d *doubter) unused() {
	d.unusedValues()
	m := d.l.Model
	if len(m.Actions)+len(m.Goals) == 0 {
		return
	}
	u := d.uses()
	for _, t := range m.Types {
		if !t.Enum && !u.used(m, t) {
			d.warn(d.header("type", t.Name), fmt.Sprintf("Type %q is never used", t.Name), "No fluent, action, goal or condition is over it. Remove it, or use it.")
		}
	}
	for _, f := range m.Fluents {
		d.unusedFluent(f, u)
	}
	for _, a := range m.Actions {
		d.unusedParams(a)
	}
}

// used tells whether a type, one that it is part of or one that is part of it
// is used.
func (u uses) used(m *model.Model, t *model.Type) bool {
	for _, other := range m.Types {
		if u.types[other] && (t.IsA(other) || other.IsA(t)) {
			return true
		}
	}
	return false
}

func (d *doubter) unusedFluent(f *model.Fluent, u uses) {
	rng := d.l.Fluents[f].DeclRange
	switch {
	case u.read[f]:
	case !u.changed[f]:
		detail := "No condition reads it and no effect changes it. Remove it, or use it."
		if d.l.Fluents[f].Observe != nil {
			detail = "It is observed for nothing: no condition reads it and no effect changes it. Remove it, or use it."
		}
		d.warn(rng, fmt.Sprintf("Fluent %q is never used", f.Name), "%s", detail)
	case len(d.l.Model.Goals) > 0:
		d.warn(rng, fmt.Sprintf("Fluent %q is never read", f.Name), "Effects change it, and no condition, goal or invariant asks for it. Remove it, or say where it matters.")
	}
}

// unusedParams warns of a parameter that nothing in its action mentions: each
// of its objects gives the same ground action once more.
func (d *doubter) unusedParams(a *model.Action) {
	b := d.blocks["action "+a.Name]
	if b == nil {
		return
	}
	var u slots
	if a.Precondition != nil {
		u.exprs(a.Precondition.Conjuncts...)
	}
	u.exprs(a.Cost)
	for _, e := range a.Effects {
		u.exprs(e.Args...)
		u.exprs(e.When, e.Value)
	}
	named := map[string]bool{}
	if _, args, err := model.ParseAtom(d.l.Actions[a].Undo); err == nil {
		for _, n := range args {
			named[n] = true
		}
	}
	visitRoots(b.Body, func(t hcl.Traversal) { named[t.RootName()] = true })
	for i, p := range a.Params {
		if !u[i] && !named[p.Name] {
			d.warn(d.attribute("action", a.Name, "params"), fmt.Sprintf("Parameter %q is never used", p.Name), "Nothing in %s depends on it, so each %s gives the same action once more. Remove it, or use it.", a.Name, p.Type)
		}
	}
}

// slots are those that expressions mention.
type slots map[int]bool

func (s *slots) exprs(es ...*model.Expr) {
	if *s == nil {
		*s = slots{}
	}
	for _, e := range es {
		e.Walk(func(e *model.Expr) bool {
			if e.Op == model.OpSlot {
				(*s)[e.Slot] = true
			}
			return true
		})
	}
}

// visitRoots calls visit for each reference by name within a body.
func visitRoots(body *hclsyntax.Body, visit func(hcl.Traversal)) {
	_ = hclsyntax.VisitAll(body, func(n hclsyntax.Node) hcl.Diagnostics {
		if x, ok := n.(*hclsyntax.ScopeTraversalExpr); ok {
			visit(x.Traversal)
		}
		return nil
	})
}

// unusedValues warns of variables and locals that no expression refers to.
func (d *doubter) unusedValues() {
	used := map[string]bool{}
	whole := map[string]bool{} // var or local as a whole
	for _, f := range d.l.Files {
		body, ok := f.Body.(*hclsyntax.Body)
		if !ok {
			continue
		}
		visitRoots(body, func(t hcl.Traversal) {
			root := t.RootName()
			if len(t) > 1 {
				switch step := t[1].(type) {
				case hcl.TraverseAttr:
					used[root+"."+step.Name] = true
					return
				case hcl.TraverseIndex:
					if step.Key.Type().FriendlyName() == "string" {
						used[root+"."+step.Key.AsString()] = true
						return
					}
				}
			}
			whole[root] = true
		})
	}
	for _, v := range d.values() {
		if !used[v.ref] && !whole[v.root] {
			d.warn(v.rng, fmt.Sprintf("%s %q is never used", v.kind, v.name), "Nothing refers to %s. Remove it, or use it.", v.ref)
		}
	}
}

// value is a variable or a local.
type value struct {
	kind, root, name, ref string
	rng                   hcl.Range
}

// values returns the model's variables and locals.
func (d *doubter) values() []value {
	var out []value
	for _, f := range d.l.Files {
		body, ok := f.Body.(*hclsyntax.Body)
		if !ok {
			continue
		}
		for _, b := range body.Blocks {
			switch {
			case b.Type == "variable" && len(b.Labels) == 1:
				out = append(out, value{"Variable", "var", b.Labels[0], "var." + b.Labels[0], b.DefRange()})
			case b.Type == "locals":
				for name, a := range b.Body.Attributes {
					out = append(out, value{"Local", "local", name, "local." + name, a.NameRange})
				}
			}
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].ref < out[j].ref })
	return out
}
