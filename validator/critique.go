package validator

import (
	"errors"
	"fmt"
	"slices"
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
	if v.failed() {
		v.kept.behind(model.Ground{})
		return true
	}
	v.r.Step, v.r.Kind, v.r.Line, v.r.Critique = v.r.Steps, Syntax, syntax.Line, syntax.Error()
	v.written = syntax.text
	v.kept.failed(model.Ground{})
	return true
}

func (v *validation) fault(action string, f *model.Fault) {
	v.r.Step, v.r.Action, v.r.Kind = v.r.Steps, action, Kind(f.Kind)
	v.r.Critique = fmt.Sprintf("step %d: %s", v.r.Step, f.Message)
}

// refuse reports a step that may not be carried out.
func (v *validation) refuse(kind Kind, g model.Ground) {
	v.hold(g)
	v.r.Kind, v.written = kind, v.r.Action
	v.kept.failed(g)
	why := v.why
	switch {
	case kind == Policy && why.reason == "":
		v.denied(v.onlyAllowed())
	case kind == Policy:
		v.denied(why.reason)
	case kind == EffectConflict:
		v.fault(v.r.Action, why.fault)
	case kind == Invariant:
		v.worsened(why.breach)
	default:
		v.explain(v.r.Ground.Action.Precondition.Explain(v.s, v.r.Ground.Args))
		v.r.Critique = fmt.Sprintf("step %d: %s not applicable; missing %s", v.r.Step, v.r.Action, v.missing(false))
	}
}

// onlyAllowed says which actions the goal allows.
func (v *validation) onlyAllowed() string {
	var names []string
	for _, a := range v.Allowed {
		names = append(names, a.Name)
	}
	only := "no action may be used"
	if len(names) > 0 {
		only = "only " + list(names) + " may be used"
	}
	return fmt.Sprintf("goal %s: %s", v.GoalName, only)
}

func (v *validation) denied(reason string) {
	v.r.Critique = fmt.Sprintf("step %d: %s denied by %s", v.r.Step, v.r.Action, reason)
}

// worsened reports a step that makes an invariant worse: explained on the
// state after it, which is then taken back.
func (v *validation) worsened(b *model.Breach) {
	verb := "breaks"
	switch f := &b.Failure; {
	case f.Expr.Eval(v.s, slices.Clone(f.Env)) == model.False:
		verb = "worsens" // it was broken before
	case f.Truth == model.Unknown:
		verb = "may break"
	}
	v.delta.Commit(v.s)
	v.r.Critique = fmt.Sprintf("step %d: %s %s %s", v.r.Step, v.r.Action, verb, v.breach(*b))
	v.changed.record(v.r.Step, v.r.Ground, v.delta.Writes)
	v.explain([]model.Failure{b.Failure})
	v.delta.Revert(v.s)
}

func (v *validation) unreached() {
	v.r.Kind = Goal
	v.explain(v.Goal.Explain(v.s, v.GoalArgs))
	v.r.Critique = fmt.Sprintf("goal not reached after %s; missing %s", count(v.r.Steps, "step"), v.missing(true))
}

// missing names the failed conjuncts; since adds which step made each false.
func (v *validation) missing(since bool) string {
	named := v.r.Missing[:min(len(v.r.Missing), maxNamed)]
	var parts []string
	for len(named) > 0 {
		note := named[0].note(since)
		n := 1
		for n < len(named) && named[n].note(since) == note {
			n++
		}
		parts = append(parts, noted(named[:n], note)...)
		named = named[n:]
	}
	return strings.Join(parts, ", ") + more(len(v.r.Missing)-maxNamed) + v.r.Missing[len(v.r.Missing)-1].why()
}

// noted joins conjuncts that have one note, which many of them share.
func noted(ms []Missing, note string) []string {
	var names []string
	for i := range ms {
		name := ms[i].Condition
		if note != "" && len(ms) < fewNotes {
			name += " (" + note + ")"
		}
		names = append(names, name)
	}
	if note != "" && len(ms) >= fewNotes {
		names[len(names)-1] += " (each " + note + ")"
	}
	return names
}

// fewNotes is how many equal notes are one note.
const fewNotes = 3

// note says that the conjunct is unknown or, if asked, which fact makes it
// false since when.
func (m *Missing) note(since bool) string {
	switch {
	case m.Truth == model.Unknown:
		return "unknown"
	case !since || len(m.Because) == 0:
		return ""
	}
	b := &m.Because[0]
	s := b.when()
	if b.Fluent != m.Condition {
		s = b.Fluent + " = " + s
	}
	if n := len(m.Because) - 1 + m.More; n > 0 {
		s += fmt.Sprintf(", and %s more", count(n, "fact"))
	}
	return s
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
