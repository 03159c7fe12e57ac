package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fettleops/fettle/model"
)

// actions describes every action that may be used and bears on the goal. Those
// that do not are named.
func (r *renderer) actions() string {
	var b strings.Builder
	var idle []string
	for _, a := range r.relevant.allowed {
		if !r.relevant.uses(a) {
			idle = append(idle, a.Name)
			continue
		}
		b.WriteString("- " + signature(a.Name, a.Params) + "\n")
		for _, line := range r.action(a) {
			b.WriteString("  " + line + "\n")
		}
	}
	if len(idle) > 0 {
		fmt.Fprintf(&b, "These actions exist too, but nothing they do can bear on the goal: %s.\n", strings.Join(idle, ", "))
	}
	return strings.TrimSpace(b.String())
}

// signature writes a name with its parameters: drain(s: service).
func signature(name string, params []model.Param) string {
	if len(params) == 0 {
		return name
	}
	var ps []string
	for _, p := range params {
		ps = append(ps, p.Name+": "+typeName(p.Type))
	}
	return name + "(" + strings.Join(ps, ", ") + ")"
}

// action describes one action, a line for each thing to be said.
func (r *renderer) action(a *model.Action) []string {
	w := newEnglish(r.u, a.Params)
	lines := sentence(a.Doc)
	if needs := clauses(w, a.Precondition); len(needs) > 0 {
		lines = append(lines, "Possible only when: "+strings.Join(needs, "; ")+".")
	} else {
		lines = append(lines, "Always possible.")
	}
	lines = append(lines, effects(w, a)...)
	if a.Cost != nil {
		w.left = maxNodes
		lines = append(lines, "Costs "+w.term(a.Cost)+".")
	}
	return lines
}

// clauses writes the conjuncts of a condition, those that always hold left out.
func clauses(w *english, c *model.Cond) []string {
	if c == nil {
		return nil
	}
	var out []string
	for _, e := range c.Conjuncts {
		if e.Op == model.OpConst && e.Const.Tri() == model.True {
			continue
		}
		w.left = maxNodes
		out = append(out, w.condition(e))
	}
	return out
}

// effects describes what an action does, a line for each condition and choice
// of objects under which it does something.
func effects(w *english, a *model.Action) []string {
	var lines, changes []string
	flush := func(e *model.Effect) {
		if len(changes) > 0 {
			lines = append(lines, under(w, e)+strings.Join(changes, "; ")+".")
		}
		changes = nil
	}
	for i := range a.Effects {
		e := &a.Effects[i]
		if i > 0 && !together(&a.Effects[i-1], e) {
			flush(&a.Effects[i-1])
		}
		w.left = maxNodes
		changes = append(changes, change(w, e))
	}
	if n := len(a.Effects); n > 0 {
		flush(&a.Effects[n-1])
	}
	if len(lines) == 0 {
		return []string{"Changes nothing."}
	}
	return lines
}

// together tells whether two effects apply under the same condition to the same
// choice of objects.
func together(a, b *model.Effect) bool {
	return a.When == b.When && slices.Equal(a.Forall, b.Forall)
}

// under begins the sentence of an effect.
func under(w *english, e *model.Effect) string {
	s := "Then "
	for i, b := range e.Forall {
		if s = "Then for every "; i > 0 {
			s = " and every "
		}
		s += fmt.Sprintf("%s %s", typeName(b.Type), b.Name)
	}
	if len(e.Forall) > 0 {
		s += ", "
	}
	if e.When != nil {
		w.left = maxNodes
		s += "if " + w.condition(e.When) + " before the step: "
	}
	return s
}

// change writes what one effect does to its fluent.
func change(w *english, e *model.Effect) string {
	name := w.fluent(e.Fluent, e.Args)
	switch e.Op {
	case model.Add:
		return name + " becomes true"
	case model.Del:
		return name + " becomes false"
	case model.Increase:
		return name + " goes up by " + w.term(e.Value)
	case model.Decrease:
		return name + " goes down by " + w.term(e.Value)
	}
	return name + " becomes " + w.term(e.Value)
}

// facts describes the fluents that bear on the goal, derived ones by what they
// follow from.
func (r *renderer) facts() string {
	var b strings.Builder
	for _, f := range r.u.Fluents {
		if !r.relevant.reads(f) {
			continue
		}
		b.WriteString("- " + signature(f.Name, f.Params) + kind(f))
		said := sentence(f.Doc)
		if f.Derived != nil {
			said = append(said, r.derivation(f), "It follows from other facts; no action sets it.")
		}
		if len(said) > 0 {
			b.WriteString(": " + strings.Join(said, " "))
		}
		b.WriteByte('\n')
	}
	return strings.TrimSpace(b.String())
}

// sentence returns what a model's author wrote as a sentence, if anything.
func sentence(doc string) []string {
	switch s := oneLine(doc); {
	case s == "":
		return nil
	case strings.ContainsAny(s[len(s)-1:], ".!?"):
		return []string{s}
	default:
		return []string{s + "."}
	}
}

// derivation says what a derived fluent follows from.
func (r *renderer) derivation(f *model.Fluent) string {
	w := newEnglish(r.u, f.Params)
	if f.Kind == model.KindBool {
		return "It is true exactly when " + w.condition(f.Derived.NNF()) + "."
	}
	return "It is always " + w.term(f.Derived) + "."
}

// kind says what values a fluent has; of a bool that goes without saying.
func kind(f *model.Fluent) string {
	switch {
	case f.Kind == model.KindNumber:
		return ", a number"
	case f.Kind == model.KindString:
		return ", a text"
	case f.Kind == model.KindObject && f.Type.Enum:
		return ", one of the words of " + typeName(f.Type)
	case f.Kind == model.KindObject:
		return ", an object of type " + typeName(f.Type)
	}
	return ""
}

// invariants describes what no step may make worse, as far as an action that
// bears on the goal could.
func (r *renderer) invariants() string {
	var b strings.Builder
	for _, inv := range r.u.Invariants {
		if !r.relevant.invariants[inv] && !inv.Strict {
			continue
		}
		b.WriteString("- " + inv.Name + ": ")
		if m := oneLine(inv.Message); m != "" {
			b.WriteString(m + "; that is: ")
		}
		b.WriteString(strings.Join(clauses(newEnglish(r.u, nil), inv.Cond), "; ") + ".")
		switch t := inv.Cond.Eval(r.Problem.Start, nil); {
		case inv.Strict:
			b.WriteString(" It must hold from the start.")
		case t == model.False:
			b.WriteString(" It does not hold at present; no step may make it worse.")
		case t == model.Unknown:
			b.WriteString(" Whether it holds at present is not known.")
		}
		b.WriteByte('\n')
	}
	return strings.TrimSpace(b.String())
}

// model is all that the model says, which stays the same from attempt to
// attempt.
func (r *renderer) model() string {
	s := "Actions\n" + r.actions() + "\n\nFacts\n" + r.facts()
	if inv := r.invariants(); inv != "" {
		s += "\n\nInvariants: no step may break one, or make worse one that is broken\n" + inv
	}
	return s
}

// oneLine puts what a model's author wrote on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
