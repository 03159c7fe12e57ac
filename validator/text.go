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
		b.WriteString(r.Critique + "\n")
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

// causes writes the facts below the critique, and the cures.
func (r *Report) causes(b *strings.Builder) {
	if len(r.Missing) == 0 && r.Repair == "" {
		return
	}
	b.WriteByte('\n')
	for i := range r.Missing {
		if i == maxNamed {
			fmt.Fprintf(b, "  and %s more\n", count(len(r.Missing)-i, "condition"))
			break
		}
		r.Missing[i].write(b)
	}
	if r.Repair != "" {
		b.WriteString("  repair: " + r.Repair + "\n")
	}
}

func (m *Missing) write(b *strings.Builder) {
	indent := "  "
	if len(m.Because) != 1 || m.Because[0].Fluent != m.Condition {
		fmt.Fprintf(b, "  %s\n", m.Condition)
		indent = "    "
	}
	for i := range m.Because {
		if i == maxNamed {
			fmt.Fprintf(b, "%sand %s more\n", indent, count(len(m.Because)-i+m.More, "fact"))
			return
		}
		m.Because[i].write(b, indent)
	}
}

func (f *Because) write(b *strings.Builder, indent string) {
	is := " = "
	if f.Value == nil {
		is = " is "
	}
	b.WriteString(indent + f.Fluent + is + f.when())
	if f.Why != "" {
		b.WriteString(": " + f.Why)
	}
	b.WriteByte('\n')
	verb := "would be restored by "
	if f.Since == nil {
		verb = "would be achieved by "
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
