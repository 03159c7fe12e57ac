package search

import (
	"math"

	"github.com/fettleops/fettle/model"
)

// never is the code of a value that a variable cannot have.
const never = math.MaxUint64

// Codes of a bool's values.
const (
	codeFalse = iota
	codeTrue
	codeUnknown
)

// nan is the one bit pattern of an unknown number.
var nan = math.Float64bits(math.NaN())

// variable is a base ground fluent that some operator may change.
type variable struct {
	f     *model.Fluent
	index uint64
	start model.Value

	// What may become of it, found while grounding.
	canTrue, canFalse bool
	vals              []int32 // an object's values by code
	fuzzy             bool    // it may be unknown in some state

	word    int32 // of the state; -1 where it has no place there
	shift   uint8
	mask    uint64
	unknown uint64 // the code of unknown, never where it is always known
	fact    int32  // the first of its facts in the relaxation
}

func (x *variable) get(s []uint64) uint64 { return s[x.word] >> x.shift & x.mask }

func (x *variable) put(s []uint64, code uint64) {
	w := &s[x.word]
	*w = *w&^(x.mask<<x.shift) | code<<x.shift
}

// code returns the code of an object, never where the variable cannot have it.
func (x *variable) code(o int32) uint64 {
	for i, v := range x.vals {
		if v == o {
			return uint64(i)
		}
	}
	return never
}

// facts is the number of known values that the relaxation tells apart.
func (x *variable) facts() int {
	switch x.f.Kind {
	case model.KindBool:
		return 2
	case model.KindObject:
		return len(x.vals)
	}
	return 0
}

// addVal makes the object one of the variable's values.
func (x *variable) addVal(o int32) bool {
	if o < 0 || x.code(o) != never {
		return false
	}
	x.vals = append(x.vals, o)
	return true
}

// encode returns the code of a value.
func (t *task) encode(x *variable, v model.Value) uint64 {
	switch x.f.Kind {
	case model.KindBool:
		switch v.Tri() {
		case model.True:
			return codeTrue
		case model.False:
			return codeFalse
		}
		return codeUnknown
	case model.KindObject:
		if o := v.Object(); o >= 0 {
			return x.code(o)
		}
		return x.unknown
	case model.KindNumber:
		if n, ok := v.Number(); ok {
			return numberCode(n)
		}
		return nan
	}
	if s, ok := v.Text(); ok {
		return t.strings.code(s)
	}
	return 0
}

// decode returns the value of a code.
func (t *task) decode(x *variable, code uint64) model.Value {
	switch x.f.Kind {
	case model.KindBool:
		return model.TriValue(codeTri(code))
	case model.KindObject:
		if code < uint64(len(x.vals)) {
			return model.ObjectValue(x.vals[code])
		}
	case model.KindNumber:
		return model.NumberValue(number(code))
	default:
		if code != 0 {
			return model.StringValue(t.strings.names[code])
		}
	}
	return model.Value{}
}

// numberCode is a number's bits; what is no number is unknown, negative zero is zero.
func numberCode(n float64) uint64 {
	switch {
	case n == 0:
		return 0
	case n != n || math.IsInf(n, 0):
		return nan
	}
	return math.Float64bits(n)
}

// intern gives strings small codes; 0 is unknown.
type intern struct {
	names []string
	codes map[string]uint64
}

func newIntern() intern { return intern{names: []string{""}, codes: map[string]uint64{}} }

func (in *intern) code(s string) uint64 {
	c, ok := in.codes[s]
	if !ok {
		c = uint64(len(in.names))
		in.names = append(in.names, s)
		in.codes[s] = c
	}
	return c
}

// varTable finds the variable of a ground fluent.
type varTable struct {
	u     *model.Universe
	vars  []variable
	dense [][]int32          // by fluent, then index; -1 for none
	rare  []map[uint64]int32 // instead, where the index space is large
}

// variableBytes is about what a variable costs.
const variableBytes = 160

// denseIndex is the size of an index space up to which an array is used.
const denseIndex = 1 << 16

func newVarTable(u *model.Universe) *varTable {
	return &varTable{u: u, dense: make([][]int32, len(u.Fluents)), rare: make([]map[uint64]int32, len(u.Fluents))}
}

// find returns the variable of a ground fluent, -1 where no operator writes it.
func (vt *varTable) find(f *model.Fluent, i uint64) int32 {
	if d := vt.dense[f.ID()]; d != nil {
		return d[i]
	}
	if v, ok := vt.rare[f.ID()][i]; ok {
		return v
	}
	return -1
}

// add returns the variable of a ground fluent, which it may create.
func (vt *varTable) add(f *model.Fluent, i uint64, start *model.State) (int32, bool) {
	if v := vt.find(f, i); v >= 0 {
		return v, false
	}
	v := int32(len(vt.vars))
	vt.vars = append(vt.vars, variable{f: f, index: i, unknown: never, fact: -1})
	x := &vt.vars[v]
	x.start = start.Get(model.Atom{Fluent: f, Args: vt.u.Args(f, i)})
	x.addVal(x.start.Object())
	id := f.ID()
	switch {
	case vt.dense[id] != nil:
	case vt.rare[id] == nil && vt.u.Size(f) <= denseIndex:
		d := make([]int32, vt.u.Size(f))
		for k := range d {
			d[k] = -1
		}
		vt.dense[id] = d
	case vt.rare[id] == nil:
		vt.rare[id] = map[uint64]int32{}
	}
	if d := vt.dense[id]; d != nil {
		d[i] = v
	} else {
		vt.rare[id][i] = v
	}
	return v, true
}

// number is the inverse of numberCode; NaN is unknown.
func number(code uint64) float64 { return math.Float64frombits(code) }
