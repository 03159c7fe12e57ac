package pddl

import (
	"fmt"
	"slices"
)

// object is a declared object or constant.
type object struct {
	sym int32
	id  int32 // in its type's root
	t   *typ  // the first it was declared with; see [loader.further]
}

// isA tells whether the object is one of the type.
func (ld *loader) isA(o *object, u *typ) bool {
	return o.t == u || o.t.isA(u) ||
		len(ld.further) > 0 && slices.ContainsFunc(ld.further[o.sym], func(t *typ) bool { return t.isA(u) })
}

// declareObjects reads a typed list of objects. There may be many: the names
// are read once to find their type, and again to add them.
func (ld *loader) declareObjects(s *section) {
	l := ld.lexer(s)
	names, n := *l, 0
	for {
		t := l.next()
		switch {
		case t.kind == end:
			names.stop = t.from
			ld.addObjects(names, n, nil)
			return
		case t.kind == '(':
			if n := ld.tree(l, t, 1); n != nil {
				ld.errorAt(n.place(), "Not a name", "%s stands where an object's name does.", text(n))
			}
			names, n = *l, 0
		case t.to-t.from == 1 && s.src.text[t.from] == '-':
			names.stop = t.from
			kind := l.next()
			if kind.kind == end {
				ld.errorAt(s.src.place(t.from, t.to), "No type", "A type follows the hyphen.")
				continue
			}
			if k := ld.item(l, kind); k != nil {
				ld.addObjects(names, n, k)
			}
			names, n = *l, 0
		default:
			n++
		}
	}
}

// addObjects adds n objects of a type, or of several: (either a b).
func (ld *loader) addObjects(names lexer, n int, kind *node) {
	if n == 0 {
		return
	}
	var types []*typ
	for _, k := range parts(kind) {
		if t := ld.kindNamed(k); t != nil {
			types = append(types, t)
		}
	}
	if kind == nil {
		if t := ld.rooted(ld.types["object"]); t != nil {
			types = append(types, t)
		}
	}
	if len(types) == 0 { // faulty, or to be read again
		for t := names.next(); t.kind == word; t = names.next() {
			ld.setObject(t.sym, tainted)
		}
		return
	}
	for _, t := range types {
		t.m.Grow(n)
	}
	ld.objects = slices.Grow(ld.objects, n)
	for t := names.next(); t.kind == word; t = names.next() {
		for _, kind := range types {
			ld.addObject(names.src, t, kind)
		}
	}
}

func (ld *loader) addObject(src *source, t token, kind *typ) {
	name := ld.syms.names[t.sym]
	if name[0] == '?' {
		ld.errorAt(src.place(t.from, t.to), "Not a name", "%s is a variable, and here stand objects.", name)
		return
	}
	if o := ld.object(t.sym); o != nil {
		switch {
		case ld.isA(o, kind):
		case o.t.m.Root() != kind.m.Root():
			ld.mixed = true
		default:
			ld.further[t.sym] = append(ld.further[t.sym], kind)
			ld.join(name, kind)
		}
		return
	}
	ld.objects = append(ld.objects, object{sym: t.sym, id: ld.join(name, kind), t: kind})
	ld.setObject(t.sym, int32(len(ld.objects)))
}

// tainted stands in byName for an object whose declaration is faulty: what uses
// it is not blamed.
const tainted = -1

func (ld *loader) setObject(sym, n int32) {
	if int(sym) >= len(ld.byName) {
		ld.byName = append(ld.byName, make([]int32, cap(ld.syms.names)-len(ld.byName))...)
	}
	ld.byName[sym] = n
}

// join makes the name a member of the type, and of those of its ancestors that
// the model's tree does not have above it.
func (ld *loader) join(name string, t *typ) int32 {
	id := t.m.AddObject(name)
	for _, a := range t.above {
		if a.m != nil && !t.m.IsA(a.m) {
			a.m.AddObject(name)
		}
	}
	return id
}

// object returns the object of the name, nil where there is none. It is valid
// until the next is added.
func (ld *loader) object(sym int32) *object {
	if int(sym) >= len(ld.byName) || ld.byName[sym] <= 0 {
		return nil
	}
	return &ld.objects[ld.byName[sym]-1]
}

// noObject reports that there is no object of the name.
func (ld *loader) noObject(src *source, from, to int, sym int32) {
	if int(sym) < len(ld.byName) && ld.byName[sym] == tainted {
		ld.failed = true
		return
	}
	name := ld.syms.names[sym]
	var names []string
	if ld.patience > 0 {
		ld.patience--
		for i := range ld.objects {
			names = append(names, ld.syms.names[ld.objects[i].sym])
		}
	}
	ld.errorAt(src.place(from, to), fmt.Sprintf("Unknown object %q", name), "There is no object or constant %q.%s", name, near(name, names))
}
