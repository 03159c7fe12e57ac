package pddl

// symbols gives every name, whatever its case, one number and one string in
// lower case.
type symbols struct {
	names []string
	slots []int32 // a hash table: 1 + number, 0 where free
}

// bytesPerName is how many bytes of a file there are for each new name, at
// least, by guess.
const bytesPerName = 64

// newSymbols returns an empty table with room for the names of so many bytes.
func newSymbols(size int) symbols {
	n := 512
	for n < size/bytesPerName {
		n *= 2
	}
	return symbols{names: make([]string, 0, n), slots: make([]int32, 2*n)}
}

// fold turns ASCII capitals into small letters.
var fold = func() (t [256]byte) {
	for c := range 256 {
		t[c] = byte(c)
		if c >= 'A' && c <= 'Z' {
			t[c] = byte(c) + 'a' - 'A'
		}
	}
	return t
}()

// FNV-1a.
const (
	hashSeed  = 2166136261
	hashPrime = 16777619
)

// of returns the number of a name whose folded bytes have the hash.
func (s *symbols) of(name []byte, hash uint32) int32 {
	mask := uint32(len(s.slots) - 1)
	for k := hash & mask; ; k = (k + 1) & mask {
		switch id := s.slots[k] - 1; {
		case id >= 0 && same(s.names[id], name):
			return id
		case id < 0 && len(s.names) == cap(s.names):
			s.grow()
			return s.of(name, hash)
		case id < 0:
			s.names = append(s.names, lower(name))
			s.slots[k] = int32(len(s.names))
			return int32(len(s.names) - 1)
		}
	}
}

func same(name string, b []byte) bool {
	if len(name) != len(b) {
		return false
	}
	for i := range b {
		if fold[b[i]] != name[i] {
			return false
		}
	}
	return true
}

func lower(name []byte) string {
	var buf [64]byte
	folded := append(buf[:0], name...)
	for i, c := range folded {
		folded[i] = fold[c]
	}
	return string(folded)
}

func (s *symbols) grow() {
	names := make([]string, len(s.names), 2*cap(s.names))
	copy(names, s.names)
	s.names, s.slots = names, make([]int32, 4*cap(s.names))
	mask := uint32(len(s.slots) - 1)
	for id, name := range s.names {
		hash := uint32(hashSeed)
		for i := range len(name) {
			hash = (hash ^ uint32(name[i])) * hashPrime
		}
		k := hash & mask
		for s.slots[k] != 0 {
			k = (k + 1) & mask
		}
		s.slots[k] = int32(id + 1)
	}
}
