package model

import (
	"math"
	"sync/atomic"
)

// State assigns a value to every base ground fluent of a universe. A dense
// array for each fluent, a hash table where its index space is huge. Not safe
// for concurrent writes.
type State struct {
	u *Universe
	f []*store

	tally *tally // nil: quantifiers are not tracked
}

// store holds one fluent's values; which field is used follows from the
// fluent's kind and layout.
type store struct {
	tri    []Tri
	num    []float64 // NaN is unknown
	obj    []int32   // -1 is unknown
	str    []*string // nil is unknown
	sparse *sparse
	rest   Value // of what is not in sparse

	// shared is set once another state may hold this store too: who writes then
	// makes a copy first. Clones of one state may be made concurrently.
	shared atomic.Bool
}

// NewState returns a state. Closed: every bool is false, what has an initial
// value has it, the rest is unknown. Otherwise everything is unknown.
func (u *Universe) NewState(closed bool) *State {
	s := &State{u: u, f: make([]*store, len(u.Fluents))}
	for i, f := range u.Fluents {
		if f.Derived != nil {
			s.f[i] = &store{}
			continue
		}
		s.f[i] = newStore(f.Kind, u.layout[i], closed)
		if closed && f.Initial != nil {
			s.SetInitial(f)
		}
	}
	return s
}

func newStore(k Kind, l layout, closed bool) *store {
	st := &store{}
	if !l.dense {
		st.sparse = &sparse{values: &store{}}
		if closed && k == KindBool {
			st.rest = BoolValue(false)
		}
		return st
	}
	switch k {
	case KindBool:
		st.tri = make([]Tri, l.size)
		if !closed {
			fill(st.tri, Unknown)
		}
	case KindNumber:
		st.num = make([]float64, l.size)
		fill(st.num, math.NaN())
	case KindObject:
		st.obj = make([]int32, l.size)
		fill(st.obj, -1)
	default:
		st.str = make([]*string, l.size)
	}
	return st
}

func fill[T any](s []T, v T) {
	for i := range s {
		s[i] = v
	}
}

// SetInitial gives every instance of a belief fluent its initial value.
func (s *State) SetInitial(f *Fluent) {
	for args := range s.u.Instances(f.Params) {
		s.set(f, s.u.Index(f, args), f.Initial(s.u.Names(f.Params, args)))
	}
}

// Named returns the closed-world state written in the model.
func (u *Universe) Named(n *NamedState) *State {
	s := u.NewState(true)
	for _, a := range n.Values {
		s.Set(a.Atom, a.Value)
	}
	return s
}

// Universe returns the universe that the state belongs to.
func (s *State) Universe() *Universe { return s.u }

// Clone returns an independent copy. What neither of the two writes afterwards
// is not copied.
func (s *State) Clone() *State {
	c := &State{u: s.u, f: make([]*store, len(s.f)), tally: s.tally.clone()}
	for i, st := range s.f {
		if !st.shared.Load() {
			st.shared.Store(true)
		}
		c.f[i] = st
	}
	return c
}

func (st *store) clone() *store {
	return &store{
		tri: append([]Tri(nil), st.tri...), num: append([]float64(nil), st.num...), obj: append([]int32(nil), st.obj...),
		str: append([]*string(nil), st.str...), sparse: st.sparse.clone(), rest: st.rest,
	}
}

// Get returns an atom's value; that of a derived fluent is computed.
func (s *State) Get(a Atom) Value {
	if a.Fluent.Derived != nil {
		env := make([]int32, max(a.Fluent.Slots, len(a.Args)))
		copy(env, a.Args)
		return a.Fluent.Derived.Value(s, env)
	}
	return s.get(a.Fluent, s.u.Index(a.Fluent, a.Args))
}

// Set gives a base atom a value, the zero Value for unknown.
func (s *State) Set(a Atom, v Value) { s.set(a.Fluent, s.u.Index(a.Fluent, a.Args), v) }

func (s *State) get(f *Fluent, i uint64) Value {
	st := s.f[f.id]
	if st.sparse == nil {
		return st.get(i)
	}
	if p, ok := st.sparse.find(i); ok {
		return st.sparse.values.get(uint64(p))
	}
	return st.rest
}

func (st *store) get(i uint64) Value {
	switch {
	case st.tri != nil:
		return TriValue(st.tri[i])
	case st.num != nil:
		return NumberValue(st.num[i])
	case st.obj != nil:
		if st.obj[i] < 0 {
			return Value{}
		}
		return ObjectValue(st.obj[i])
	case st.str != nil && st.str[i] != nil:
		return StringValue(*st.str[i])
	}
	return Value{}
}

func (s *State) set(f *Fluent, i uint64, v Value) {
	if s.tally != nil && len(s.u.watches[f.id]) > 0 {
		s.setTracked(f, i, v)
		return
	}
	s.put(f, i, v)
}

func (s *State) put(f *Fluent, i uint64, v Value) {
	st := s.f[f.id]
	if st.shared.Load() {
		st = st.clone()
		s.f[f.id] = st
	}
	if st.sparse == nil {
		st.put(i, v)
		return
	}
	st.sparse.values.put(uint64(st.sparse.at(i, f.Kind)), v)
}

func (st *store) put(i uint64, v Value) {
	switch {
	case st.tri != nil:
		st.tri[i] = v.Tri()
	case st.num != nil:
		st.num[i] = math.NaN()
		if n, ok := v.Number(); ok {
			st.num[i] = n
		}
	case st.obj != nil:
		st.obj[i] = v.Object()
	case st.str != nil:
		st.str[i] = nil
		if t, ok := v.Text(); ok {
			st.str[i] = &t
		}
	}
}

// extend adds one more instance, of unknown value.
func (st *store) extend(k Kind) {
	switch k {
	case KindBool:
		st.tri = append(st.tri, Unknown)
	case KindNumber:
		st.num = append(st.num, math.NaN())
	case KindObject:
		st.obj = append(st.obj, -1)
	default:
		st.str = append(st.str, nil)
	}
}
