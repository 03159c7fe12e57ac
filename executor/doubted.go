package executor

import (
	"slices"

	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/model"
)

// Doubted finds the action, of those that are unresolved, that may have changed
// an atom; false where none may.
func Doubted(u *model.Universe, a model.Atom, intents []lease.Intent) (lease.Intent, bool) {
	want := resource(u, model.Ref(a), true)
	for _, in := range intents {
		if slices.ContainsFunc(in.Marks, func(m lease.Resource) bool {
			return m.Fluent == want.Fluent && (m.Instance == "" || m.Instance == want.Instance)
		}) {
			return in, true
		}
	}
	return lease.Intent{}, false
}
