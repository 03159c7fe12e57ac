package load

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model"
)

// unserved warns of what a run needs and the model lacks: fluents without a
// source and actions without a run block, since run refuses both. A model for
// the desk, which observes nothing and carries nothing out, lacks nothing.
func (d *doubter) unserved() {
	observes, runs := false, false
	for _, f := range d.l.Fluents {
		observes = observes || f.Observe != nil
	}
	for _, a := range d.l.Actions {
		runs = runs || a.Run != nil
	}
	if observes || runs || d.l.Policy != nil {
		d.unsourced()
	}
	if runs || d.l.Policy != nil && d.mode() != "suggest" {
		d.undone(runs)
	}
}

// unsourced warns of fluents without a source, in one warning where none has one.
func (d *doubter) unsourced() {
	all := d.l.Unsourced()
	if n := len(all); n > 1 && n == len(d.l.Model.Fluents) {
		d.warn(*all[0].Subject, "No fluent has a source", "To be run, a model must say how each of its %d fluents gets its value: give it an observe block, derive it from others, or give it an initial value.", n)
		return
	}
	for _, w := range all {
		d.warn(*w.Subject, w.Summary, "%s", w.Detail)
	}
}

// undone warns of actions without a run block, in one warning where none has one.
func (d *doubter) undone(some bool) {
	var without []*model.Action
	for _, a := range d.l.Model.Actions {
		if d.l.Actions[a].Run == nil {
			without = append(without, a)
		}
	}
	if n := len(without); n > 1 && !some {
		d.warn(d.l.Actions[without[0]].DeclRange, "No action has a run block", "Nothing carries out any of the %d actions, and run refuses such a model. Say in a run block how each is done.", n)
		return
	}
	for _, a := range without {
		d.warn(d.l.Actions[a].DeclRange, fmt.Sprintf("Action %q has no run block", a.Name), "Nothing carries it out, and run refuses a model with such an action. Say in a run block how it is done.")
	}
}

// mode is the policy's mode, empty where it is not given.
func (d *doubter) mode() string {
	content, _, _ := d.l.Policy.Body.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "mode"}}})
	if content == nil || content.Attributes["mode"] == nil {
		return ""
	}
	e := content.Attributes["mode"].Expr
	if n := hcl.ExprAsKeyword(e); n != "" {
		return n
	}
	return literal(e)
}
