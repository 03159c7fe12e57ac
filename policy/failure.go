package policy

import (
	"slices"
	"strings"
)

// FailureKey tells whether two failures are the same one: their kind, the
// ground action and the conjuncts that failed, whatever the numbers were. It
// reads as a few words: precondition of drain(db) (capacity, in_lb(db)). The
// empty key is no failure.
type FailureKey string

// NewFailureKey returns the key of a failure. The order of the conjuncts does
// not matter, nor does one that is named twice.
func NewFailureKey(kind, action string, conjuncts ...string) FailureKey {
	key := kind
	if action != "" {
		key += " of " + action
	}
	if len(conjuncts) > 0 {
		c := slices.Clone(conjuncts)
		slices.Sort(c)
		key += " (" + strings.Join(slices.Compact(c), ", ") + ")"
	}
	return FailureKey(key)
}
