package search

import "github.com/fettleops/fettle/model"

// maxListed is the number of instances up to which those that hold at the
// start are listed, so that joins can run over them.
const maxListed = 1 << 21

// relation holds the tuples of one fluent that are reached: the arguments of a
// bool that may be true, the arguments and the value of an object fluent.
type relation struct {
	f      *model.Fluent
	width  int
	data   []int32
	set    map[string]struct{}
	index  map[uint32]map[uint64][]int32 // by bound positions, then their hash: tuples
	masks  []uint32
	listed bool // the start's tuples are among them
	key    []byte
}

func newRelation(f *model.Fluent) *relation {
	r := &relation{f: f, width: len(f.Params), set: map[string]struct{}{}, index: map[uint32]map[uint64][]int32{}}
	if f.Kind == model.KindObject {
		r.width++
	}
	return r
}

func (r *relation) len() int {
	if r.width == 0 {
		return len(r.set)
	}
	return len(r.data) / r.width
}

func (r *relation) tuple(i int32) []int32 { return r.data[int(i)*r.width : (int(i)+1)*r.width] }

// bytes returns the tuple as a key, valid until the next call.
func (r *relation) bytes(tuple []int32) []byte {
	r.key = r.key[:0]
	for _, o := range tuple {
		r.key = append(r.key, byte(o), byte(o>>8), byte(o>>16), byte(o>>24))
	}
	return r.key
}

func (r *relation) has(tuple []int32) bool {
	_, ok := r.set[string(r.bytes(tuple))]
	return ok
}

// add tells whether the tuple is new.
func (r *relation) add(tuple []int32) bool {
	if r.has(tuple) {
		return false
	}
	r.set[string(r.key)] = struct{}{}
	i := int32(r.len())
	if r.width == 0 {
		return true
	}
	r.data = append(r.data, tuple...)
	for _, mask := range r.masks {
		h := maskHash(tuple, mask)
		r.index[mask][h] = append(r.index[mask][h], i)
	}
	return true
}

// matches returns the tuples whose positions of the mask may equal those of
// the probe; hashes may collide, so that the caller compares.
func (r *relation) matches(probe []int32, mask uint32) []int32 {
	ix, ok := r.index[mask]
	if !ok {
		ix = map[uint64][]int32{}
		for i := int32(0); int(i) < r.len(); i++ {
			h := maskHash(r.tuple(i), mask)
			ix[h] = append(ix[h], i)
		}
		r.index[mask] = ix
		r.masks = append(r.masks, mask)
	}
	return ix[maskHash(probe, mask)]
}

func maskHash(tuple []int32, mask uint32) uint64 {
	h := uint64(14695981039346656037)
	for k, o := range tuple {
		if mask&(1<<k) != 0 {
			h = (h ^ uint64(uint32(o))) * 1099511628211
		}
	}
	return h
}
