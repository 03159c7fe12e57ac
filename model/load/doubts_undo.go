package load

import (
	"fmt"

	"github.com/fettleops/fettle/model"
)

// maxUndoWork bounds the ground fluents of the state in which undo is tried.
const maxUndoWork = 50_000_000

// undos warns of an undo that cannot be applied after its action, and of one
// that does not restore what the action changed. Both are tried out on one
// ground action, in a state of which only that is known which its precondition
// demands: what is found there is so whatever else is the case.
func (d *doubter) undos() {
	var with []*model.Action
	for _, a := range d.l.Model.Actions {
		if d.l.Actions[a].Undo != "" {
			with = append(with, a)
		}
	}
	if len(with) == 0 {
		return
	}
	u := d.universe()
	if !affordable(u) {
		return
	}
	t := &undoTrial{u: u, s: u.NewState(false)}
	for _, a := range with {
		if !t.bind(a, d.l.Actions[a].Undo) {
			continue
		}
		if said := t.try(); said != "" {
			d.warn(d.attribute("action", a.Name, "undo"), fmt.Sprintf("The undo of %q does not undo", a.Name), "%s", said)
		}
	}
}

// universe has the declared objects, and two of each type that is discovered.
func (d *doubter) universe() *model.Universe {
	var found []model.Discovery
	for _, t := range d.l.Model.Types {
		if t.Discovered && len(d.l.Model.Declared(t)) < 2 {
			found = append(found, model.Discovery{Type: t, Objects: []string{t.Name + "-1", t.Name + "-2"}})
		}
	}
	return model.NewUniverse(d.l.Model, found...)
}

func affordable(u *model.Universe) bool {
	var n uint64
	for _, f := range u.Fluents {
		if f.Derived == nil {
			n += min(u.Size(f), maxUndoWork)
		}
	}
	return n <= maxUndoWork
}
