package model

import (
	"hash/maphash"
	"slices"
)

// nameTable numbers names in the order in which they come.
type nameTable struct {
	names []string
	slots []uint32 // a hash table: 1 + number, 0 where free
}

// seed makes it impossible to choose names that collide.
var seed = maphash.MakeSeed()

func hashName(s string) uint32 { return uint32(maphash.String(seed, s)) }

// find returns the number of a name.
func (t *nameTable) find(name string) (int32, bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	mask := uint32(len(t.slots) - 1)
	for k := hashName(name) & mask; ; k = (k + 1) & mask {
		id := t.slots[k]
		if id == 0 {
			return 0, false
		}
		if t.names[id-1] == name {
			return int32(id - 1), true
		}
	}
}

// add returns the number of a name, a new one where it has none.
func (t *nameTable) add(name string) int32 {
	if id, ok := t.find(name); ok {
		return id
	}
	if 4*len(t.names) >= 3*len(t.slots) {
		t.resize(max(16, 2*len(t.slots)))
	}
	t.names = append(t.names, name)
	t.insert(len(t.names))
	return int32(len(t.names) - 1)
}

// grow makes room for n more names.
func (t *nameTable) grow(n int) {
	t.names = slices.Grow(t.names, n)
	size := max(16, len(t.slots))
	for 3*size <= 4*(len(t.names)+n) {
		size *= 2
	}
	if size > len(t.slots) {
		t.resize(size)
	}
}

func (t *nameTable) resize(size int) {
	t.slots = make([]uint32, size)
	for i := range t.names {
		t.insert(i + 1)
	}
}

func (t *nameTable) insert(id int) {
	mask := uint32(len(t.slots) - 1)
	k := hashName(t.names[id-1]) & mask
	for t.slots[k] != 0 {
		k = (k + 1) & mask
	}
	t.slots[k] = uint32(id)
}

func (t *nameTable) clone() *nameTable {
	return &nameTable{names: slices.Clone(t.names), slots: slices.Clone(t.slots)}
}
