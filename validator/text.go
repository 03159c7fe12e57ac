package validator

import (
	"fmt"
	"io"
	"strings"

	"github.com/fettleops/fettle/model"
)

// WriteText writes the report for a person: the critique, then what made each
// conjunct fail and since when, then what would mend it. A valid plan is one
// line.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	if r.Valid {
		b.WriteString(r.verdict() + "\n")
	} else {
		b.WriteString(r.headline() + "\n")
		r.causes(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// verdict is the line of a valid plan.
func (r *Report) verdict() string {
	s := "valid: " + count(r.Steps, "step")
	if r.CostUnknown {
		s += ", cost unknown"
	} else {
		s += fmt.Sprintf(", cost %s", model.FormatNumber(r.Cost))
	}
	if r.Goal != "" {
		return s + ", goal " + r.Goal + " reached"
	}
	return s + ", no goal checked"
}

// headline is the critique, with the line of the step where that differs from
// its number: step 3 (line 7): there is no action reboot. That of what cannot be
// read begins with the line.
func (r *Report) headline() string {
	if r.Kind == Syntax || r.Line == 0 || r.Line == r.Step {
		return r.Critique
	}
	step := fmt.Sprintf("step %d", r.Step)
	return fmt.Sprintf("%s (line %d)%s", step, r.Line, strings.TrimPrefix(r.Critique, step))
}

// causes writes the facts below the critique, and the cures.
func (r *Report) causes(b *strings.Builder) {
	if len(r.Missing) == 0 && r.Repair == "" && r.mend == "" {
		return
	}
	b.WriteByte('\n')
	named := r.Missing[:min(len(r.Missing), maxNamed)]
	for len(named) > 0 {
		n := hopeless(named)
		for i := range named[:n] {
			named[i].write(b, n > 1)
		}
		if n > 1 {
			b.WriteString("  no single action would mend any of these\n")
		}
		named = named[n:]
	}
	if n := len(r.Missing) - maxNamed; n > 0 {
		fmt.Fprintf(b, "  and %s more\n", count(n, "condition"))
	}
	switch {
	case r.Repair != "":
		b.WriteString("  repair: " + r.Repair + "\n")
	case r.mend != "":
		fmt.Fprintf(b, "  would mend step %d, but not the whole plan: %s\n", r.Step, r.mend)
	}
}

// hopeless counts the first conjuncts that are a fact each that no action mends;
// 1 where there are not several.
func hopeless(ms []Missing) int {
	n := 0
	for n < len(ms) && ms[n].plain() && ms[n].Because[0].hopeless() {
		n++
	}
	return max(1, n)
}

// plain tells whether the conjunct is nothing but a fact.
func (m *Missing) plain() bool { return len(m.Because) == 1 && m.Because[0].Fluent == m.Condition }

// never tells whether the conjunct is false whatever the facts are.
func (m *Missing) never() bool { return m.Truth == model.False && len(m.Because) == 0 }

// hopeless tells whether no action would mend the fact.
func (f *Because) hopeless() bool { return f.Complete && len(f.Achievers) == 0 }

// write writes the conjunct and its facts; bare leaves out what would mend them.
func (m *Missing) write(b *strings.Builder, bare bool) {
	if m.plain() {
		m.Because[0].write(b, "  ", bare)
		return
	}
	b.WriteString("  " + m.Condition)
	if m.but != "" {
		b.WriteString(", but " + m.but)
	}
	b.WriteByte('\n')
	if m.never() {
		b.WriteString("    never true: it reads no fact\n")
	}
	none := m.More == 0
	for i := range m.Because {
		none = none && m.Because[i].hopeless()
	}
	for i := range m.Because[:min(len(m.Because), maxNamed)] {
		m.Because[i].write(b, "    ", none || m.Because[i].compound())
	}
	if n := len(m.Because) - maxNamed + m.More; n > 0 {
		fmt.Fprintf(b, "    and %s more\n", count(n, "fact"))
	}
	if none && len(m.Because) > 0 {
		b.WriteString("    no single action would mend that\n")
	}
}

// compound tells whether the fact is no bool and has no achiever: those found
// make the whole conjunct hold, so that there being none says little of the fact.
func (f *Because) compound() bool {
	return f.hopeless() && f.Atom.Fluent != nil && f.Atom.Fluent.Kind != model.KindBool
}

func (f *Because) write(b *strings.Builder, indent string, bare bool) {
	is := " = "
	if f.Value == nil {
		is = " is "
	}
	b.WriteString(indent + f.Fluent + is + f.when())
	if f.Why != "" {
		b.WriteString(": " + f.Why)
	}
	b.WriteByte('\n')
	if !bare {
		f.cures(b, indent)
	}
}

// cures writes which actions would mend the fact.
func (f *Because) cures(b *strings.Builder, indent string) {
	verb := "would be achieved by "
	switch {
	case f.Atom.Fluent != nil && f.Atom.Fluent.Kind != model.KindBool:
		verb = "would be mended by "
	case f.Since != nil && f.Value != nil:
		verb = "would be restored by "
	}
	var names []string
	for i, a := range f.Achievers {
		if i < f.Applicable {
			a += " (applicable now)"
		}
		names = append(names, a)
	}
	switch {
	case len(names) > 0:
		fmt.Fprintf(b, "%s%s%s\n", indent, verb, strings.Join(names, ", "))
	case f.Complete:
		fmt.Fprintf(b, "%sno single action would mend that\n", indent)
	}
}
