package validator

import (
	"iter"

	"github.com/fettleops/fettle/model"
)

// Validate simulates the plan from the problem's start and returns the first
// violation, or the valid plan's final state. A *SyntaxError in the sequence
// is a step that cannot be read; any other error ends the validation and is
// returned as the report's Err. After a violation the rest of the plan is only
// counted, and searched for a step whose move would mend it.
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
	mend    *mender        // after a violation that a move or an insertion may mend
	cures   []model.Ground // applicable achievers of what is missing
}

func newValidation(p Problem) *validation {
	v := &validation{Problem: p, s: p.Start.Clone(), changed: newChanges(p.U)}
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
			v.r.Critique = v.startState() + " breaks " + v.breach(model.Breach{Invariant: inv, Failure: broken[0]})
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
		v.fault(model.Clip(st.String()), fault)
		return
	}
	v.args = g.Args
	if v.allowed != nil && !v.allowed[g.Action.ID()] {
		v.forbidden(g)
		return
	}
	if g.Applicable(v.s, &v.delta) != model.True {
		v.inapplicable(g)
		return
	}
	for _, rule := range v.Rules {
		if reason, denied := rule.Check(v.r.Steps, g, v.s); denied {
			v.denied(g, reason)
			return
		}
	}
	cost, costKnown := g.Cost(v.s, &v.delta)
	if fault := g.Effects(v.s, &v.delta); fault != nil {
		v.hold(g)
		v.fault(v.r.Action, fault)
		return
	}
	v.delta.Commit(v.s)
	if b := g.Worsened(v.s, &v.delta); b != nil {
		v.worsened(g, b)
		return
	}
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

// finish checks the goal, unless the plan failed before.
func (v *validation) finish() {
	if !v.failed() && v.Goal != nil {
		if v.Goal.Eval(v.s, v.GoalArgs) != model.True {
			v.unreached()
		}
	}
	v.r.Valid = !v.failed()
	v.mendBy()
}

// hold notes the violating step with arguments of its own.
func (v *validation) hold(g model.Ground) {
	g.Args = append([]int32(nil), g.Args...)
	v.r.Step, v.r.Ground, v.r.Action = v.r.Steps, g, v.U.StepText(g)
}
