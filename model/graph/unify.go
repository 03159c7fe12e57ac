package graph

import "github.com/fettleops/fettle/model"

// domains tells what the types can have for objects.
type domains struct {
	u     *model.Universe // with the declared objects alone
	grows map[*model.Type]bool
	meet  map[[2]*model.Type]bool // what overlap found, which may take a while
}

func newDomains(m *model.Model) *domains {
	d := &domains{u: model.NewUniverse(m), grows: map[*model.Type]bool{}, meet: map[[2]*model.Type]bool{}}
	for _, t := range m.Types {
		for s := t; s != nil && t.Discovered; s = s.Parent {
			d.grows[s] = true
		}
	}
	return d
}

// has tells whether the object may be a member of the type.
func (d *domains) has(t *model.Type, o int32) bool { return d.grows[t] || d.u.Has(t, o) }

// overlap tells whether an object may belong to both types of one root.
func (d *domains) overlap(s, t *model.Type) bool {
	if s.IsA(t) || t.IsA(s) || d.grows[s] && d.grows[t] {
		return true
	}
	key := [2]*model.Type{s, t}
	found, known := d.meet[key]
	if !known {
		for _, o := range d.u.Objects(s) {
			if found = d.has(t, o); found {
				break
			}
		}
		d.meet[key] = found
	}
	return found
}

// binding makes variables and objects the same.
type binding struct {
	domains *domains
	to      map[*variable]term
}

func (d *domains) binding() binding { return binding{d, map[*variable]term{}} }

func (b binding) resolve(t term) term {
	for t.v != nil {
		next, ok := b.to[t.v]
		if !ok {
			return t
		}
		t = next
	}
	return t
}

// unify makes the terms the same, and tells whether one object can be both.
func (b binding) unify(s, t term) bool {
	s, t = b.resolve(s), b.resolve(t)
	switch {
	case same(s, t):
		return true
	case !b.share(s, t):
		return false
	case s.v == nil:
		b.to[t.v] = s
	case t.v == nil || t.typ.IsA(s.typ):
		b.to[s.v] = t
	default:
		b.to[t.v] = s
	}
	return true
}

// unifyAll makes the terms the same pair by pair.
func (b binding) unifyAll(ss, ts []term) bool {
	for i := range ss {
		if !b.unify(ss[i], ts[i]) {
			return false
		}
	}
	return true
}

// forced tells whether the terms are the same under the binding.
func (b binding) forced(ss, ts []term) bool {
	for i := range ss {
		if !same(b.resolve(ss[i]), b.resolve(ts[i])) {
			return false
		}
	}
	return true
}

func same(s, t term) bool {
	if s.v != nil || t.v != nil {
		return s.v == t.v
	}
	return s.object == t.object && s.typ.Root() == t.typ.Root()
}

// share tells whether an object may be what both terms stand for.
func (b binding) share(s, t term) bool {
	switch {
	case s.typ.Root() != t.typ.Root(), s.v == nil && t.v == nil:
		return false
	case s.v == nil:
		return b.domains.has(t.typ, s.object)
	case t.v == nil:
		return b.domains.has(s.typ, t.object)
	}
	return b.domains.overlap(s.typ, t.typ)
}
