package model

import (
	"iter"
	"math"
	"slices"
)

// maxDense is the number of ground instances above which a fluent's values are
// kept in a map instead of an array.
const maxDense = 1 << 22

// Universe is a model with the objects of one round. It is immutable and safe
// for concurrent use.
type Universe struct {
	*Model
	names   []*nameTable // by id of a root type
	members [][]int32    // by type id, in the order declared, then discovered
	member  []([]bool)
	open    []bool // by type id: there may be objects that discovery did not tell
	layout  []layout
}

// layout places a fluent's instances: index = Σ arg·stride.
type layout struct {
	stride []uint64
	size   uint64
	dense  bool
}

// Discovery is what was found of one discovered type.
type Discovery struct {
	Type    *Type
	Objects []string
	// Failed discovery leaves the type open: a quantifier over it is unknown
	// unless the known objects decide.
	Failed bool
}

// NewUniverse joins the model with the objects discovered for this round. A
// name found for a type joins its parents too.
func NewUniverse(m *Model, found ...Discovery) *Universe {
	n := len(m.Types)
	u := &Universe{
		Model: m, names: make([]*nameTable, n),
		members: make([][]int32, n), member: make([][]bool, n), open: make([]bool, n),
	}
	for _, t := range m.Types {
		if t.root == t {
			u.names[t.id] = t.names
		}
	}
	for _, d := range found {
		u.discover(d)
	}
	for _, t := range m.Types {
		u.member[t.id] = make([]bool, len(u.names[t.root.id].names))
	}
	u.makeRoom()
	for _, t := range m.Types {
		for _, o := range t.Objects {
			u.join(t, o)
		}
	}
	for _, d := range found {
		for _, name := range d.Objects {
			o, _ := u.names[d.Type.root.id].find(name)
			u.join(d.Type, o)
		}
		for t := d.Type; t != nil && d.Failed; t = t.Parent {
			u.open[t.id] = true
		}
	}
	u.layout = make([]layout, len(m.Fluents))
	for i, f := range m.Fluents {
		u.layout[i] = u.newLayout(f)
	}
	return u
}

// discover adds the names of one discovery to copies of the root's tables.
func (u *Universe) discover(d Discovery) {
	r := d.Type.root
	names := u.names[r.id].clone()
	for _, n := range d.Objects {
		names.add(n)
	}
	u.names[r.id] = names
}

// makeRoom sizes the lists of members for the declared objects.
func (u *Universe) makeRoom() {
	room := make([]int, len(u.Types))
	for _, t := range u.Types {
		for s := t; s != nil; s = s.Parent {
			room[s.id] += len(t.Objects)
		}
	}
	for i, n := range room {
		u.members[i] = make([]int32, 0, n)
	}
}

func (u *Universe) join(t *Type, o int32) {
	for ; t != nil; t = t.Parent {
		if !u.member[t.id][o] {
			u.member[t.id][o] = true
			u.members[t.id] = append(u.members[t.id], o)
		}
	}
}

func (u *Universe) newLayout(f *Fluent) layout {
	l := layout{stride: make([]uint64, len(f.Params)), size: 1, dense: true}
	for i := len(f.Params) - 1; i >= 0; i-- {
		l.stride[i] = l.size
		n := uint64(max(1, len(u.names[f.Params[i].Type.root.id].names)))
		if l.size > math.MaxUint64/n {
			l.size, l.dense = math.MaxUint64, false
			continue
		}
		l.size *= n
	}
	l.dense = l.dense && l.size <= maxDense && f.Derived == nil
	return l
}

// Objects returns the members of a type, subtypes included. The slice is shared.
func (u *Universe) Objects(t *Type) []int32 { return u.members[t.id] }

// Open tells whether the type may have objects that are not known.
func (u *Universe) Open(t *Type) bool { return u.open[t.id] }

// Has tells whether the object is a member of the type.
func (u *Universe) Has(t *Type, o int32) bool {
	m := u.member[t.id]
	return o >= 0 && int(o) < len(m) && m[o]
}

// Name returns the name of an object of the type's root.
func (u *Universe) Name(t *Type, o int32) string { return u.names[t.root.id].names[o] }

// Find returns the index of the named object of the type.
func (u *Universe) Find(t *Type, name string) (int32, bool) {
	o, ok := u.names[t.root.id].find(name)
	return o, ok && u.member[t.id][o]
}

// Index returns the position of a fluent's instance, in 0..Size-1.
func (u *Universe) Index(f *Fluent, args []int32) uint64 {
	var i uint64
	for k, s := range u.layout[f.id].stride {
		i += uint64(args[k]) * s
	}
	return i
}

// Size returns the number of positions of a fluent, some of which no member of
// the parameters' types may name.
func (u *Universe) Size(f *Fluent) uint64 { return u.layout[f.id].size }

// Args is the inverse of [Universe.Index].
func (u *Universe) Args(f *Fluent, index uint64) []int32 {
	l := u.layout[f.id]
	args := make([]int32, len(l.stride))
	for k, s := range l.stride {
		args[k] = int32(index / s)
		index %= s
	}
	return args
}

// Names returns the names of the arguments of a fluent, an action or a goal.
func (u *Universe) Names(params []Param, args []int32) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = u.Name(params[i].Type, a)
	}
	return out
}

// Text writes an atom in the grammar of ground atoms.
func (u *Universe) Text(a Atom) string {
	return FormatAtom(a.Fluent.Name, u.Names(a.Fluent.Params, a.Args)...)
}

// RefText writes a reference: an atom, or the bare name of a whole fluent.
func (u *Universe) RefText(r Ref) string { return u.Text(Atom(r)) }

// ValueText writes a value of the fluent: true, 3, 'text', an object's name, unknown.
func (u *Universe) ValueText(f *Fluent, v Value) string { return u.valueText(f.Type, v) }

func (u *Universe) valueText(t *Type, v Value) string {
	switch v.kind {
	case KindBool:
		return v.Tri().String()
	case KindNumber:
		return FormatNumber(v.num)
	case KindString:
		return quoteText(v.str)
	case KindObject:
		return Quote(u.Name(t, v.Object()))
	default:
		return "unknown"
	}
}

// Plain returns a value as JSON shows it: a bool, a float64, a string, an
// object's name, or nil for unknown.
func (u *Universe) Plain(f *Fluent, v Value) any {
	switch v.kind {
	case KindBool:
		return v.num != 0
	case KindNumber:
		return v.num
	case KindString:
		return v.str
	case KindObject:
		return u.Name(f.Type, v.Object())
	}
	return nil
}

// Instances yields every combination of objects of the parameters. The slice
// it yields is reused.
func (u *Universe) Instances(params []Param) iter.Seq[[]int32] {
	return func(yield func([]int32) bool) {
		args := make([]int32, len(params))
		var rec func(int) bool
		rec = func(k int) bool {
			if k == len(params) {
				return yield(args)
			}
			for _, o := range u.members[params[k].Type.id] {
				args[k] = o
				if !rec(k + 1) {
					return false
				}
			}
			return true
		}
		rec(0)
	}
}

// Atoms yields every atom of a fluent. Each has arguments of its own.
func (u *Universe) Atoms(f *Fluent) iter.Seq[Atom] {
	return func(yield func(Atom) bool) {
		for args := range u.Instances(f.Params) {
			if !yield(Atom{f, append([]int32(nil), args...)}) {
				return
			}
		}
	}
}

// Grows tells whether objects of the type can be discovered: its own or those of
// a subtype.
func (m *Model) Grows(t *Type) bool {
	return slices.ContainsFunc(m.Types, func(s *Type) bool { return s.Discovered && s.IsA(t) })
}

// With returns the universe with more objects discovered.
func (u *Universe) With(found ...Discovery) *Universe {
	var all []Discovery
	for _, t := range u.Types {
		if !u.Grows(t) {
			continue
		}
		d := Discovery{Type: t, Failed: u.open[t.id]}
		for _, o := range u.members[t.id] {
			d.Objects = append(d.Objects, u.Name(t, o))
		}
		all = append(all, d)
	}
	return NewUniverse(u.Model, append(all, found...)...)
}
