package model

// Tri is a truth value of Kleene's strong three-valued logic. Its order is
// False < Unknown < True, so that conjunction is the minimum and disjunction
// the maximum.
type Tri uint8

// The three truth values. The zero value is False.
const (
	False Tri = iota
	Unknown
	True
)

// Bool returns True or False.
func Bool(b bool) Tri {
	if b {
		return True
	}
	return False
}

// Not returns the negation: unknown stays unknown.
func (t Tri) Not() Tri { return True - t }

// And returns the conjunction, the lesser of the two.
func (t Tri) And(o Tri) Tri { return min(t, o) }

// Or returns the disjunction, the greater of the two.
func (t Tri) Or(o Tri) Tri { return max(t, o) }

// String returns "false", "unknown" or "true".
func (t Tri) String() string {
	switch t {
	case False:
		return "false"
	case True:
		return "true"
	default:
		return "unknown"
	}
}
