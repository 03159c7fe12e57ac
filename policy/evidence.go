package policy

import (
	"cmp"
	"slices"

	"github.com/fettleops/fettle/model"
)

// EvidenceKind says what was learned.
type EvidenceKind string

// What counts as evidence. The jitter of a number does not: it counts once a
// condition over it changes its truth value.
const (
	TruthChanged    EvidenceKind = "truth"    // of a conjunct of the goal, a precondition or an invariant
	EffectConfirmed EvidenceKind = "effect"   // a declared effect was seen
	NewFailure      EvidenceKind = "failure"  // a failure with a key not met before
	Proof           EvidenceKind = "proof"    // that the goal cannot be reached
	PersonDecided   EvidenceKind = "decision" // an approval, a rejection, feedback
)

// Evidence is one thing learned.
type Evidence struct {
	Kind EvidenceKind `json:"kind"`
	What string       `json:"what"` // version_ok(db): false → true
}

// truths remembers the last truth value of every conjunct, by its text.
type truths map[string]model.Tri

// update takes new values in and returns what changed, in the order of the
// texts. A conjunct that was not met before is no change: there was nothing to
// compare it with.
func (t truths) update(now map[string]model.Tri) []Evidence {
	var out []Evidence
	for c, v := range now {
		before, met := t[c]
		if met && before != v {
			out = append(out, Evidence{TruthChanged, c + ": " + before.String() + " → " + v.String()})
		}
		t[c] = v
	}
	slices.SortFunc(out, func(a, b Evidence) int { return cmp.Compare(a.What, b.What) })
	return out
}
