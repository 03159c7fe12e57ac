package executor

import (
	"slices"

	"github.com/fettleops/fettle/model"
)

// actedStep is an action of the run that took effect, or may have.
type actedStep struct {
	id   string // of the action
	step model.Step
	back bool // the run went back by it
}

// did notes that an action was armed.
func (w *wayback) did(ref StepRef) {
	name, args, err := model.ParseAtom(ref.Action)
	if err == nil {
		w.deeds = append(w.deeds, actedStep{ref.ActionID, model.Step{Action: name, Args: args}, ref.Restore})
	}
}

// rearmed takes in from the journal that an action was armed.
func (w *wayback) rearmed(v Armed) {
	w.did(v.StepRef)
	w.accepted(v.Way)
}

// wentBack: no step of the plan that was under way counts as done any more.
func (p *past) wentBack(RestorePlan) { p.begun = begunPlan{} }

// undid notes that an action was not begun, or had no effect.
func (w *wayback) undid(id string) {
	w.deeds = slices.DeleteFunc(w.deeds, func(d actedStep) bool { return d.id == id })
}

// outcome notes what came of an action. One that is known to have taken back
// what another did goes with that one; one of which it is not known stays, and
// so does what it was to take back.
func (r *run) outcome(id, result string) {
	switch result {
	case notApplied:
		r.undid(id)
	case applied:
		if i := slices.IndexFunc(r.deeds, func(d actedStep) bool { return d.id == id }); i >= 0 && r.deeds[i].back {
			r.restored = append(r.restored, r.deeds[i].step.String())
		}
		r.deeds = r.settled(r.deeds, id)
	}
}

// settled removes the action with that id, and the newest one before it that it
// is the undo of; where there is none, both stay.
func (r *run) settled(deeds []actedStep, id string) []actedStep {
	at := slices.IndexFunc(deeds, func(d actedStep) bool { return d.id == id })
	if at < 0 {
		return deeds
	}
	back := deeds[at].step.String()
	for i := at - 1; i >= 0; i-- {
		if undo, ok := r.undo(deeds[i].step); ok && undo.String() == back {
			return slices.Concat(deeds[:i], deeds[i+1:at], deeds[at+1:])
		}
	}
	return deeds
}

// undo is the step that the model names to take a step back; false where it
// names none.
func (r *run) undo(st model.Step) (model.Step, bool) {
	a := r.u.Action(st.Action)
	if a == nil {
		return model.Step{}, false
	}
	set := r.Settings[a]
	if set.Undo == "" || set.Irreversible || len(st.Args) != len(a.Params) {
		return model.Step{}, false
	}
	name, args, err := model.ParseAtom(set.Undo)
	if err != nil {
		return model.Step{}, false
	}
	for i, arg := range args {
		if p := slices.IndexFunc(a.Params, func(p model.Param) bool { return p.Name == arg }); p >= 0 {
			args[i] = st.Args[p]
		}
	}
	return model.Step{Action: name, Args: args}, true
}

// bore tells whether any of the deeds may have changed what the severity rests on.
func (r *run) bore(deeds []actedStep) bool {
	return slices.ContainsFunc(deeds, func(d actedStep) bool {
		g, fault := r.u.Bind(d.step, nil)
		return fault != nil || r.bears(g)
	})
}
