package pddl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model"
)

// typ is a type on its way into the model. PDDL lets a type have several
// parents: the model's tree holds the first, objects join the others one by one.
type typ struct {
	name    string
	parents []*typ
	at      hcl.Range
	m       *model.Type
	parts   []*typ // of either
	state   int    // 1: being added, 2: added
	above   []*typ // every ancestor, itself included
}

// group is a part of a typed list: names - type.
type group struct {
	names []*node
	kind  *node // nil: no type is given
}

// typedList splits a list such as a b - block c.
func (ld *loader) typedList(ns []*node) []group {
	var out []group
	g := group{}
	for i := 0; i < len(ns); i++ {
		n := ns[i]
		switch {
		case n.name == "-" && i+1 < len(ns):
			i++
			g.kind = ns[i]
			out = append(out, g)
			g = group{}
		case n.name == "-":
			ld.errorAt(n.place(), "No type", "A type follows the hyphen.")
		case n.list():
			ld.errorAt(n.place(), "Not a name", "%s stands where a name does.", text(n))
		default:
			g.names = append(g.names, n)
		}
	}
	if len(g.names) > 0 {
		out = append(out, g)
	}
	return out
}

// declareTypes reads the hierarchy and adds it to the model, parents first.
func (ld *loader) declareTypes(d *definition) {
	ld.typeNamed("object")
	any := false
	ld.each(d, ":types", func(s *section) {
		any = true
		ns, _ := ld.nodes(s)
		for _, g := range ld.typedList(ns) {
			ld.typeGroup(g)
		}
	})
	ld.joined = ld.joined || !any
	for _, t := range ld.ordered {
		ld.addType(t)
	}
	for _, t := range ld.ordered {
		t.above = t.ancestors(nil)
		if !ld.joined && len(t.parents) > 1 {
			ld.mixed = true
		}
	}
}

func (ld *loader) typeNamed(name string) *typ {
	t := ld.types[name]
	if t == nil {
		t = &typ{name: name}
		ld.types[name] = t
		ld.ordered = append(ld.ordered, t)
	}
	return t
}

func (ld *loader) typeGroup(g group) {
	var parents []*typ
	for _, n := range parts(g.kind) {
		if n.list() {
			ld.errorAt(n.place(), "Not a type", "%s stands where a type's name does.", text(n))
			continue
		}
		p := ld.typeNamed(n.name)
		p.at = n.place()
		parents = append(parents, p)
	}
	for _, n := range g.names {
		t := ld.typeNamed(n.name)
		t.at = n.place()
		for _, p := range parents {
			if p != t && !slices.Contains(t.parents, p) && t.name != "object" {
				t.parents = append(t.parents, p)
			}
		}
	}
}

// parts returns the types that a type stands for: those of (either a b), itself.
func parts(kind *node) []*node {
	switch {
	case kind == nil:
		return nil
	case kind.head() == "either":
		return kind.kids[1:]
	}
	return []*node{kind}
}

// addType adds the type to the model below its first parent that matters.
func (ld *loader) addType(t *typ) {
	switch t.state {
	case 2:
		return
	case 1:
		ld.errorAt(t.at, "Cycle of types", "The type %q is its own parent's parent.", t.name)
		t.parents = nil
		return
	}
	t.state = 1
	object := ld.types["object"]
	if len(t.parents) == 0 && t != object {
		t.parents = []*typ{object}
	}
	for _, p := range t.parents {
		ld.addType(p)
	}
	t.parents = slices.DeleteFunc(t.parents, func(p *typ) bool { return p == object && len(t.parents) > 1 })
	t.state = 2
	if t == object && !ld.joined {
		return
	}
	var parent *model.Type
	if len(t.parents) > 0 {
		parent = t.parents[0].m
	}
	t.m = ld.m.AddType(t.name, parent)
	ld.kindOf[t.m] = t
}

func (t *typ) ancestors(seen []*typ) []*typ {
	if slices.Contains(seen, t) {
		return seen
	}
	seen = append(seen, t)
	for _, p := range t.parents {
		seen = p.ancestors(seen)
	}
	return seen
}

// isA tells whether every object of t is one of u by their declarations.
func (t *typ) isA(u *typ) bool {
	if len(t.parts) > 0 && t != u {
		for _, p := range t.parts {
			if !p.isA(u) {
				return false
			}
		}
		return true
	}
	for _, a := range t.above {
		if a == u || len(u.parts) > 0 && slices.Contains(u.parts, a) {
			return true
		}
	}
	return false
}

// disjoint tells whether no object can be of both types.
func (ld *loader) disjoint(t, u *typ) bool {
	for _, s := range ld.ordered {
		if s.isA(t) && s.isA(u) {
			return false
		}
	}
	return true
}

// kind returns the type that a node names, object where there is none. It is
// nil where it is faulty, or needs types to share a root.
func (ld *loader) kind(n *node) *typ {
	if n == nil {
		return ld.rooted(ld.types["object"])
	}
	if !n.list() {
		return ld.kindNamed(n)
	}
	if n.head() != "either" || len(n.kids) < 2 {
		ld.errorAt(n.place(), "Not a type", "A type is a name, or (either NAME …).")
		return nil
	}
	var all []*typ
	for _, k := range n.kids[1:] {
		t := ld.kindNamed(k)
		if t == nil {
			return nil
		}
		if !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return ld.either(all)
}

func (ld *loader) kindNamed(n *node) *typ {
	t := ld.types[n.name]
	if t == nil || n.list() {
		ld.errorAt(n.place(), fmt.Sprintf("Unknown type %q", text(n)), "There is no type of that name.%s", near(n.name, keys(ld.types)))
		return nil
	}
	return ld.rooted(t)
}

// rooted returns the type if the model has it: object itself only where all
// types share it.
func (ld *loader) rooted(t *typ) *typ {
	if t.m == nil {
		ld.mixed = true
		return nil
	}
	return t
}

// shown writes a type as PDDL does.
func (ld *loader) shown(m *model.Type) string {
	if m == nil {
		return "?" // its declaration is faulty
	}
	if rest, ok := strings.CutPrefix(m.Name, "either "); ok {
		return "(either " + rest + ")"
	}
	return m.Name
}
