package validator

import (
	"iter"
	"slices"
	"strings"

	"github.com/fettleops/fettle/model"
)

// Validate simulates the plan from the problem's start and returns the first
// violation, or the valid plan's final state. A *SyntaxError in the sequence
// is a step that cannot be read; any other error ends the validation and is
// returned as the report's Err. After a violation the rest of the plan is only
// counted, and kept for the search of a repair.
func Validate(p Problem, steps iter.Seq2[model.Step, error]) Report {
	v := newValidation(p)
	v.start()
	for st, err := range steps {
		v.r.Steps++
		switch {
		case err != nil:
			if !v.unreadable(err) {
				return Report{Err: err, Goal: p.GoalName}
			}
		case v.failed():
			v.later(st)
		default:
			v.step(st)
		}
	}
	v.finish()
	return v.r
}

// validation is the state of one call of Validate.
type validation struct {
	Problem
	r       Report
	s       *model.State
	delta   model.Delta
	args    []int32
	allowed []bool // by action id, nil: all
	changed *changes
	why     refusal
	kept    kept
	written string         // the violating step as it was written
	unbound *model.Step    // it, where it could not be looked up
	failing []*model.Expr  // the conjuncts that fail; nil where it is something else
	cures   []model.Ground // applicable achievers of what is missing
	others  []model.Ground // other achievers
}

// refusal tells more of why a step was refused.
type refusal struct {
	reason string        // of a rule; "": the goal does not allow the action
	fault  *model.Fault  // of an effect conflict
	breach *model.Breach // of an invariant
}

func newValidation(p Problem) *validation {
	v := &validation{Problem: p, s: p.Start.Clone(), changed: newChanges(p.U), kept: newKept(p.U)}
	v.r.Goal = p.GoalName
	v.r.State = v.s
	v.s.Track()
	if p.Allowed != nil {
		v.allowed = make([]bool, len(p.U.Actions))
		for _, a := range p.Allowed {
			v.allowed[a.ID()] = true
		}
	}
	return v
}

func (v *validation) failed() bool { return v.r.Kind != "" }

// start checks what must hold before the first step.
func (v *validation) start() {
	for _, inv := range v.U.Invariants {
		if !inv.Strict {
			continue
		}
		if broken := inv.Broken(v.s); len(broken) > 0 {
			v.r.Kind = Invariant
			verb := " breaks "
			if broken[0].Truth == model.Unknown {
				verb = " may break "
			}
			v.r.Critique = v.startState() + verb + v.breach(model.Breach{Invariant: inv, Failure: broken[0]})
			v.explain(broken)
			return
		}
	}
}

// startState names the start as a sentence's subject.
func (v *validation) startState() string {
	if v.StartedAs == "" {
		return "the start state"
	}
	return "the state " + v.StartedAs
}

// step carries out one step, or reports why it cannot be.
func (v *validation) step(st model.Step) {
	g, fault := v.U.Bind(st, v.args)
	if fault != nil {
		v.written, v.unbound = model.Clip(named(st)), copyStep(st)
		v.fault(model.Clip(st.String()), fault)
		v.r.Line = st.Line
		v.kept.failed(model.Ground{})
		return
	}
	v.args = g.Args
	cost, costKnown := g.Cost(v.s, &v.delta)
	if kind := v.advance(v.r.Steps, g, v.s, &v.delta); kind != "" {
		v.refuse(kind, g)
		return
	}
	v.kept.valid(g, v.delta.Writes)
	v.changed.record(v.r.Steps, g, v.delta.Writes)
	if costKnown {
		v.r.Cost += cost
	} else {
		v.r.CostUnknown = true
	}
	if v.Trace != nil {
		v.Trace(v.r.Steps, g, v.delta.Writes)
	}
}

// named writes a step with its arguments' names, where they were given so.
func named(st model.Step) string {
	if st.Params == nil {
		return st.String()
	}
	args := make([]string, len(st.Params))
	for i, p := range st.Params {
		args[i] = model.Quote(p) + ": " + model.Quote(st.Args[i])
	}
	return st.Action + "(" + strings.Join(args, ", ") + ")"
}

// copyStep copies a step whose slices are reused.
func copyStep(st model.Step) *model.Step {
	st.Args, st.Params = slices.Clone(st.Args), slices.Clone(st.Params)
	return &st
}

// later keeps a step behind the violation.
func (v *validation) later(st model.Step) {
	g, fault := v.U.Bind(st, v.args)
	if fault != nil {
		g = model.Ground{}
	} else {
		v.args = g.Args
	}
	v.kept.behind(g)
}

// advance carries out a ground action as the step of this number and leaves in
// d what it wrote. Where it may not be carried out it returns the kind of
// violation, with the state as it was and more in v.why.
func (v *validation) advance(step int, g model.Ground, s *model.State, d *model.Delta) Kind {
	if v.allowed != nil && !v.allowed[g.Action.ID()] {
		v.why = refusal{}
		return Policy
	}
	switch g.Applicable(s, d) {
	case model.False:
		return Precondition
	case model.Unknown:
		return UnknownValue
	}
	for _, rule := range v.Rules {
		if reason, denied := rule.Check(step, g, s); denied {
			v.why = refusal{reason: reason}
			return Policy
		}
	}
	if fault := g.Effects(s, d); fault != nil {
		v.why = refusal{fault: fault}
		return EffectConflict
	}
	d.Commit(s)
	if b := g.Worsened(s, d); b != nil {
		d.Revert(s)
		v.why = refusal{breach: b}
		return Invariant
	}
	return ""
}

// finish checks the goal, unless the plan failed before.
func (v *validation) finish() {
	if !v.failed() && v.Goal != nil {
		if v.Goal.Eval(v.s, v.GoalArgs) != model.True {
			v.unreached()
		}
	}
	v.r.Valid = !v.failed()
	if v.failed() {
		v.repair()
	}
}

// hold notes the violating step with arguments of its own.
func (v *validation) hold(g model.Ground) {
	g.Args = append([]int32(nil), g.Args...)
	v.r.Step, v.r.Ground, v.r.Action = v.r.Steps, g, v.U.StepText(g)
}
