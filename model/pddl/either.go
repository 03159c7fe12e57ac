package pddl

import (
	"slices"

	"github.com/fettleops/fettle/model"
)

// either returns the type of the objects that are of any of these.
func (ld *loader) either(all []*typ) *typ {
	if len(all) == 1 {
		return all[0]
	}
	name := "either"
	for _, t := range all {
		name += " " + t.name
		if t.m.Root() != all[0].m.Root() {
			ld.mixed = true
			return nil
		}
	}
	for _, e := range ld.eithers {
		if e.name == name {
			return e
		}
	}
	e := &typ{name: name, parts: all, m: ld.m.AddType(name, common(all))}
	e.above = []*typ{e}
	ld.eithers = append(ld.eithers, e)
	ld.kindOf[e.m] = e
	return e
}

// common returns the narrowest type of the model above all of these.
func common(all []*typ) *model.Type {
	for t := all[0].m; ; t = t.Parent {
		if !slices.ContainsFunc(all, func(u *typ) bool { return !u.m.IsA(t) }) {
			return t
		}
	}
}

// fillEithers makes the objects members of the types made for either.
func (ld *loader) fillEithers() {
	for _, e := range ld.eithers {
		for i := range ld.objects {
			if o := &ld.objects[i]; ld.isA(o, e) {
				e.m.AddObject(ld.syms.names[o.sym])
			}
		}
	}
}
