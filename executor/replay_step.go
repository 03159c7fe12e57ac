package executor

import (
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/policy"
	"github.com/fettleops/fettle/validator"
)

// step finds the step of the plan that an event is about, which must be the
// next one. False where nothing more can be derived of it.
func (r *replayer) step(c *check, ref StepRef) (model.Ground, bool) {
	plan := r.of(ref)
	if plan == nil {
		c.follows(false, map[bool]string{false: PlanAccepted, true: RestorePlanned}[ref.Restore])
		return model.Ground{}, false
	}
	c.same("round", ref.Round, r.p.round)
	c.same("step", ref.Step, r.done+1)
	if n := ref.Step; n >= 1 && n <= len(plan.event.Steps) {
		c.same("action", ref.Action, plan.event.Steps[n-1].Action)
	}
	if c.over || ref.Step < 1 || ref.Step > len(plan.ground) {
		return model.Ground{}, false
	}
	return plan.ground[ref.Step-1], true
}

// of is the plan, or the way back, that a step is of.
func (r *replayer) of(ref StepRef) *accepted {
	if ref.Restore {
		return r.back
	}
	return r.plan
}

// point is when the policy is asked before a step.
func point(ref StepRef) policy.Point {
	if ref.Restore {
		return policy.PointRestore
	}
	return policy.PointAction
}

// rest validates what is left of the plan from what is known now.
func (r *replayer) rest(ref StepRef) validator.Report {
	problem := r.problem()
	if ref.Restore {
		problem = r.homeward()
	}
	return validator.Validate(problem, stepSeq(r.of(ref).steps[ref.Step-1:]))
}

// skipped derives that nothing was left to do in a step.
func (r *replayer) skipped(v Skipped) error {
	if err := r.fold(); err != nil {
		return err
	}
	c := r.decision("step skipped", "that nothing was left to do in step %d, %s", v.Step, v.Action)
	if v.ActionID != "" { // Under its leases.
		c.follows(r.held == v.ActionID, StepAcquired)
		r.held = ""
	}
	if g, ok := r.step(c, v.StepRef); ok && r.sighted() {
		c.same("its effects hold", true, r.p.holdsAlready(g))
	}
	r.done = v.Step
	return nil
}

// acquired derives which leases a step needs.
func (r *replayer) acquired(v Acquired) error {
	if err := r.fold(); err != nil {
		return err
	}
	c := r.decision("leases", "the leases of step %d, %s", v.Step, v.Action)
	r.use(c, point(v.StepRef))
	r.held = v.ActionID
	g, ok := r.step(c, v.StepRef)
	if !ok {
		return nil
	}
	var want []string
	for _, res := range resources(r.p.u, g) {
		want = append(want, res.String())
	}
	c.same("resources", v.Resources, want)
	return nil
}

// stepArmed derives that the rest of the plan was valid right before the action.
func (r *replayer) stepArmed(v Armed) error {
	if err := r.fold(); err != nil {
		return err
	}
	c := r.decision("action armed", "that step %d, %s, could be armed", v.Step, v.Action)
	c.follows(r.held == v.ActionID && r.armed == nil, StepAcquired)
	c.follows(v.Restore || r.granted(), Approval+" of the plan")
	if v.Restore {
		r.undone++
	}
	a := &armed{ref: v.StepRef}
	r.held, r.armed, r.looked = "", a, false
	g, ok := r.step(c, v.StepRef)
	if !ok || !r.sighted() {
		return nil
	}
	c.same("the rest of the plan", "valid", validity(r.rest(v.StepRef)))
	d := &model.Delta{}
	g.Effects(r.p.state, d)
	a.expected = append(a.expected, d.Writes...)
	r.knowsBack(c, v, d)
	return nil
}

// refused derives the refusal of a step, where the rest of the plan was no
// longer valid.
func (r *replayer) refused(v Refused) error {
	if v.Restore {
		defer func() { r.cause = nil }() // Another way back is looked for.
	}
	armed, held := r.armed != nil && r.armed.ref.ActionID == v.ActionID, r.held == v.ActionID
	r.errorsOf(v.Facts)
	if err := r.fold(); err != nil {
		return err
	}
	c := r.decision("step refused", "the refusal of step %d, %s", v.Step, v.Action)
	r.cause = &failure{kind: v.Kind, action: v.Action, key: policy.NewFailureKey(v.Kind, v.Action), reason: v.Reason}
	switch {
	case armed: // Withdrawn.
		r.armed = nil
	case held:
		r.held = ""
	default:
		r.use(c, point(v.StepRef))
	}
	_, ok := r.step(c, v.StepRef)
	kind := validator.Kind(v.Kind)
	switch {
	case !ok || !r.sighted():
		return nil
	case !isViolation(kind):
		if v.Kind == TakenOver || v.Kind == RejectedKind {
			r.cause.key = "" // It names what was in doubt, or the plan, which the event does not.
		}
		r.taken("refusals by the world, leases and people")
		return nil
	case kind == validator.Policy && v.AtStep == 0:
		return nil // The ruling is derived where it is told.
	}
	rep := r.rest(v.StepRef)
	c.follows(held, StepAcquired)
	if kind == validator.Policy && string(rep.Kind) != v.Kind { // The ruling is derived where it is told.
		r.cause = &failure{kind: v.Kind}
		if rep.Step > 0 && v.Step+rep.Step-1 < v.AtStep {
			c.same("kind", v.Kind, string(rep.Kind))
		}
		return nil
	}
	c.same("kind", v.Kind, kindOf(rep))
	if rep.Step > 0 {
		c.same("at_step", v.AtStep, v.Step+rep.Step-1)
	}
	for _, f := range v.Facts {
		c.same("value of "+f.Fluent, f.Value, r.value(f.Fluent))
	}
	if r.words {
		c.same("reason", v.Reason, renumber(rep, v.Step-1))
	}
	r.cause = &failure{kind: v.Kind, action: rep.Action, key: keyOf(rep), reason: v.Reason}
	if r.cause.action == "" {
		r.cause.action = v.Action
	}
	return nil
}

func isViolation(k validator.Kind) bool {
	switch k {
	case validator.Precondition, validator.UnknownValue, validator.EffectConflict, validator.Invariant, validator.Goal, validator.Policy,
		validator.UnknownAction, validator.WrongArity, validator.UnknownObject, validator.WrongType:
		return true
	}
	return false
}

func kindOf(rep validator.Report) string {
	if rep.Valid {
		return "none: the rest of the plan is valid"
	}
	return string(rep.Kind)
}

// resolved derives nothing: what an action in doubt was to do is in its record,
// which is no event.
func (r *replayer) resolved(Resolved) error {
	r.taken("what was found out about actions in doubt")
	return r.fold()
}
