package model

import (
	"iter"
	"slices"
)

// sparse is the values of a fluent whose instances are too many for an array:
// those that were given one, in the order in which they were first given it.
type sparse struct {
	slots  []uint32 // a hash table: 1 + position in keys, 0 where free
	keys   []uint64 // instances
	values *store   // by position
}

// scatter spreads an instance's index over the table (Knuth's multiplication).
func scatter(i uint64) uint64 { return i * 0x9E3779B97F4A7C15 >> 20 }

// find returns the position of an instance.
func (s *sparse) find(i uint64) (int, bool) {
	if len(s.slots) == 0 {
		return 0, false
	}
	mask := uint64(len(s.slots) - 1)
	for k := scatter(i) & mask; ; k = (k + 1) & mask {
		p := s.slots[k]
		if p == 0 {
			return 0, false
		}
		if s.keys[p-1] == i {
			return int(p - 1), true
		}
	}
}

// at returns the position of an instance, a new one with an unknown value where
// it has none yet.
func (s *sparse) at(i uint64, k Kind) int {
	if p, ok := s.find(i); ok {
		return p
	}
	if 5*len(s.keys) >= 4*len(s.slots) {
		s.grow()
	}
	s.keys = append(s.keys, i)
	s.insert(i, uint32(len(s.keys)))
	s.values.extend(k)
	return len(s.keys) - 1
}

func (s *sparse) grow() {
	s.slots = make([]uint32, max(64, 2*len(s.slots)))
	s.keys = slices.Grow(s.keys, 4*len(s.slots)/5-len(s.keys)+1)
	for p, i := range s.keys {
		s.insert(i, uint32(p+1))
	}
}

func (s *sparse) insert(i uint64, p uint32) {
	mask := uint64(len(s.slots) - 1)
	k := scatter(i) & mask
	for s.slots[k] != 0 {
		k = (k + 1) & mask
	}
	s.slots[k] = p
}

func (s *sparse) clone() *sparse {
	if s == nil {
		return nil
	}
	c := &sparse{slots: append([]uint32(nil), s.slots...), keys: append([]uint64(nil), s.keys...)}
	c.values = s.values.clone()
	return c
}

// Given yields the instances of a base fluent that have a value other than
// false and unknown.
func (s *State) Given(f *Fluent) iter.Seq2[Atom, Value] {
	return func(yield func(Atom, Value) bool) {
		give := func(i uint64) bool {
			v := s.get(f, i)
			return !v.Known() || v == BoolValue(false) || yield(Atom{f, s.u.Args(f, i)}, v)
		}
		st := s.f[f.id]
		switch {
		case f.Derived != nil:
		case st.sparse != nil:
			for _, i := range st.sparse.keys {
				if !give(i) {
					return
				}
			}
		default:
			for i := range s.u.layout[f.id].size {
				if !give(i) {
					return
				}
			}
		}
	}
}
