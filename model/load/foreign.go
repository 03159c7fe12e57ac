package load

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// shape is what the body of a block may contain that is decoded where it is
// served, and not here. Everything in it is checked for type and range when
// the model is loaded, so that a mistake in it is found by whoever writes it
// and not on the day on which the block is first needed.
type shape struct {
	settings []setting
	blocks   []nested // each at most once
	relations
}

// setting is an attribute; the name of one that is required ends in !. Without
// a check it is left to a relation.
type setting struct {
	name  string
	check check
}

// nested is a block within a body.
type nested struct {
	name     string
	required bool
	shape    *shape
}

// check reports what is wrong with the value of an attribute that is given.
type check func(ld *loader, attrs hcl.Attributes, name string)

// relations say which attributes go together.
type relations []func(ld *loader, attrs hcl.Attributes, rng hcl.Range)

// foreign checks the blocks that are decoded where they are served.
func (ld *loader) foreign() {
	for _, list := range []struct {
		kind   string
		blocks []*Block
	}{
		{"provider", ld.l.Providers},
		{"planner", ld.l.Planners},
		{"critic", ld.l.Critics},
		{"trigger", ld.l.Triggers},
		{"notify", ld.l.Notifies},
	} {
		for _, b := range list.blocks {
			ld.shaped(b.Body, b.Range, shapes[list.kind+" "+b.Kind])
		}
	}
	for _, b := range ld.l.Tests {
		ld.test(b)
	}
}

// shaped checks one body, and those within it.
func (ld *loader) shaped(body hcl.Body, rng hcl.Range, s *shape) {
	content := ld.content(body, s.schema())
	attrs := content.Attributes
	for _, a := range s.settings {
		if name := strings.TrimSuffix(a.name, "!"); attrs[name] != nil && a.check != nil {
			a.check(ld, attrs, name)
		}
	}
	for _, r := range s.relations {
		r(ld, attrs, rng)
	}
	for _, n := range s.blocks {
		switch b := ld.single(content.Blocks, n.name); {
		case b != nil:
			ld.shaped(b.Body, b.DefRange, n.shape)
		case n.required:
			ld.errorAt(rng, fmt.Sprintf("Missing %s block", n.name), "The block %s is required here.", n.name)
		}
	}
}

func (s *shape) schema() *hcl.BodySchema {
	var attrs, blocks []string
	for _, a := range s.settings {
		attrs = append(attrs, a.name)
	}
	for _, b := range s.blocks {
		blocks = append(blocks, b.name)
	}
	return schema(strings.Join(attrs, " "), blocks...)
}

// exactlyOne of the attributes is given.
func exactlyOne(names ...string) func(*loader, hcl.Attributes, hcl.Range) {
	return func(ld *loader, attrs hcl.Attributes, rng hcl.Range) {
		if given(attrs, names) == nil {
			ld.errorAt(rng, "Missing "+strings.Join(names, " or "), "One of %s is needed here.", strings.Join(names, ", "))
		}
		atMostOne(names...)(ld, attrs, rng)
	}
}

// atMostOne of the attributes is given.
func atMostOne(names ...string) func(*loader, hcl.Attributes, hcl.Range) {
	return func(ld *loader, attrs hcl.Attributes, _ hcl.Range) {
		if all := given(attrs, names); len(all) > 1 {
			ld.errorAt(all[1].NameRange, "One too many", "%s and %s cannot both be given; remove one.", all[0].Name, all[1].Name)
		}
	}
}

// exclude reports each attribute of the second list beside one of the first.
func exclude(first, second []string) func(*loader, hcl.Attributes, hcl.Range) {
	return func(ld *loader, attrs hcl.Attributes, rng hcl.Range) {
		for _, a := range first {
			for _, b := range second {
				atMostOne(a, b)(ld, attrs, rng)
			}
		}
	}
}

// needs reports the first attribute without the second.
func needs(name, other string) func(*loader, hcl.Attributes, hcl.Range) {
	return func(ld *loader, attrs hcl.Attributes, _ hcl.Range) {
		if attrs[name] != nil && attrs[other] == nil {
			ld.errorAt(attrs[name].NameRange, "Missing "+other, "%s is of no use without %s.", name, other)
		}
	}
}

// given returns those of the attributes that are there, in the order written.
func given(attrs hcl.Attributes, names []string) []*hcl.Attribute {
	var out []*hcl.Attribute
	for _, n := range names {
		if attrs[n] != nil {
			out = append(out, attrs[n])
		}
	}
	slices.SortFunc(out, func(a, b *hcl.Attribute) int { return a.NameRange.Start.Byte - b.NameRange.Start.Byte })
	return out
}
