package model

import (
	"math"
	"strconv"
)

// Kind says what a fluent, an expression or a value is.
type Kind uint8

// The kinds. KindUnknown is the kind of the zero [Value].
const (
	KindUnknown Kind = iota
	KindBool
	KindNumber
	KindString
	KindObject // an object of a declared type, or a word of an enum
)

// String names the kind as the model language does.
func (k Kind) String() string {
	return [...]string{"unknown", "bool", "number", "string", "object"}[k]
}

// Value is what a ground fluent is worth. The zero value is unknown. Values
// are comparable with ==. An object is an index into the names of its root
// type, see [Universe.Name].
type Value struct {
	kind Kind
	num  float64
	str  string
}

// BoolValue returns a bool.
func BoolValue(b bool) Value {
	if b {
		return Value{kind: KindBool, num: 1}
	}
	return Value{kind: KindBool}
}

// TriValue returns a bool, or unknown.
func TriValue(t Tri) Value {
	if t == Unknown {
		return Value{}
	}
	return BoolValue(t == True)
}

// NumberValue returns a number; NaN and the infinities are unknown.
func NumberValue(f float64) Value {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Value{}
	}
	if f == 0 {
		f = 0 // negative zero is zero
	}
	return Value{kind: KindNumber, num: f}
}

// StringValue returns a string.
func StringValue(s string) Value { return Value{kind: KindString, str: s} }

// ObjectValue returns the object with this index in its root type.
func ObjectValue(id int32) Value { return Value{kind: KindObject, num: float64(id)} }

// Kind returns the kind, KindUnknown for the zero value.
func (v Value) Kind() Kind { return v.kind }

// Known tells whether the value is known.
func (v Value) Known() bool { return v.kind != KindUnknown }

// Tri returns a bool's truth value, Unknown for anything else.
func (v Value) Tri() Tri {
	if v.kind != KindBool {
		return Unknown
	}
	return Bool(v.num != 0)
}

// Number returns a number and true, or false where it is not a known number.
func (v Value) Number() (float64, bool) { return v.num, v.kind == KindNumber }

// Text returns a string and true, or false where it is not a known string.
func (v Value) Text() (string, bool) { return v.str, v.kind == KindString }

// Object returns an object's index, or -1 where it is not a known object.
func (v Value) Object() int32 {
	if v.kind != KindObject {
		return -1
	}
	return int32(v.num)
}

// FormatNumber writes a number in the shortest form that reads back the same.
func FormatNumber(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}
