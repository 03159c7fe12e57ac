package validator

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fettleops/fettle/model"
)

// maxNamed is how many conjuncts, objects or facts a sentence names.
const maxNamed = 8

// unreadable reports a syntax violation, unless the plan failed before; false
// for any other error.
func (v *validation) unreadable(err error) bool {
	var syntax *SyntaxError
	if !errors.As(err, &syntax) {
		return false
	}
	if !v.failed() {
		v.r.Step, v.r.Kind, v.r.Line, v.r.Critique = v.r.Steps, Syntax, syntax.Line, syntax.Error()
	}
	return true
}

func (v *validation) fault(action string, f *model.Fault) {
	v.r.Step, v.r.Action, v.r.Kind = v.r.Steps, action, Kind(f.Kind)
	v.r.Critique = fmt.Sprintf("step %d: %s", v.r.Step, f.Message)
}

func (v *validation) forbidden(g model.Ground) {
	var names []string
	for _, a := range v.Allowed {
		names = append(names, a.Name)
	}
	only := "no action may be used"
	if len(names) > 0 {
		only = "only " + list(names) + " may be used"
	}
	v.denied(g, fmt.Sprintf("goal %s: %s", v.GoalName, only))
}

func (v *validation) denied(g model.Ground, reason string) {
	v.hold(g)
	v.r.Kind = Policy
	v.r.Critique = fmt.Sprintf("step %d: %s denied by %s", v.r.Step, v.r.Action, reason)
}

func (v *validation) inapplicable(g model.Ground) {
	v.hold(g)
	failures := g.Action.Precondition.Explain(v.s, g.Args)
	v.explain(failures)
	v.r.Kind = UnknownValue
	for _, f := range failures {
		if f.Truth == model.False {
			v.r.Kind = Precondition
		}
	}
	v.r.Critique = fmt.Sprintf("step %d: %s not applicable; missing %s", v.r.Step, v.r.Action, v.missing(false))
	v.mend = newMender(v)
}

// worsened reports a step that makes an invariant worse: explained on the
// state after it, which is then taken back.
func (v *validation) worsened(g model.Ground, b *model.Breach) {
	v.hold(g)
	v.r.Kind = Invariant
	v.r.Critique = fmt.Sprintf("step %d: %s breaks %s", v.r.Step, v.r.Action, v.breach(*b))
	v.changed.record(v.r.Step, v.r.Ground, v.delta.Writes)
	v.explain([]model.Failure{b.Failure})
	v.delta.Revert(v.s)
	v.mend = newMender(v)
}

func (v *validation) unreached() {
	v.r.Kind = Goal
	v.explain(v.Goal.Explain(v.s, v.GoalArgs))
	v.r.Critique = fmt.Sprintf("goal not reached after %s; missing %s", count(v.r.Steps, "step"), v.missing(true))
	v.mend = newMender(v)
}

// missing names the failed conjuncts; since adds which step made each false.
func (v *validation) missing(since bool) string {
	var names []string
	for i := range v.r.Missing {
		m := &v.r.Missing[i]
		switch {
		case i == maxNamed:
			return strings.Join(names, ", ") + more(len(v.r.Missing)-i)
		case m.Truth == model.Unknown:
			names = append(names, m.Condition+" (unknown)")
		case since:
			names = append(names, m.Condition+m.since())
		default:
			names = append(names, m.Condition)
		}
	}
	return strings.Join(names, ", ") + v.r.Missing[len(v.r.Missing)-1].why()
}

// since says in parentheses which fact makes the conjunct false since when.
func (m *Missing) since() string {
	if len(m.Because) == 0 {
		return ""
	}
	b := &m.Because[0]
	s := b.when()
	if b.Fluent != m.Condition {
		s = b.Fluent + " = " + s
	}
	return " (" + s + more(len(m.Because)-1+m.More) + ")"
}

// when says a fact's value and since when it has it.
func (b *Because) when() string {
	switch {
	case b.Since != nil:
	case b.Value == nil:
		return b.Text
	default:
		return b.Text + " " + b.start
	}
	return fmt.Sprintf("%s since step %d: %s", b.Text, b.Since.Step, b.Since.Action)
}

// why says why an unknown conjunct is unknown, where somebody knows.
func (m *Missing) why() string {
	if m.Truth == model.Unknown {
		for _, b := range m.Because {
			if b.Value == nil && b.Why != "" {
				return ": " + b.Why
			}
		}
	}
	return ""
}

// list joins names with commas, at most maxNamed of them.
func list(names []string) string {
	if len(names) > maxNamed {
		return strings.Join(names[:maxNamed], ", ") + more(len(names)-maxNamed)
	}
	return strings.Join(names, ", ")
}

func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
