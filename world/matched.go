package world

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fettleops/fettle/model"
)

// maxStrangers is how many of the series or items that are about nothing in the
// model are told; the others are counted.
const maxStrangers = 3

// nameLabel is the label of a series that is its name.
const nameLabel = "__name__"

// Matched tells how the series or items of one answer were shared out among the
// instances of a fluent. It is the same for every instance the answer tells of.
type Matched struct {
	Sort    string     // what the answer is made of: series, items
	Of, To  int        // how many there are, and how many are about an instance
	Labels  []Label    // by which series were matched; none for items
	Ignored []Stranger // the first of those that are about nothing in the model
	mixed   bool       // they are ignored for several reasons
}

// Label is a label that names the object of one parameter.
type Label struct {
	Param, Name, Type string
	Found             int // in how many series it names an object of the type
}

// Stranger is a series or an item that is about nothing in the model.
type Stranger struct {
	Text string // {instance="x"}
	Why  string // no label service
}

// String says it in one line for a person.
func (m *Matched) String() string {
	if m.Of == 0 {
		return "the answer has no " + m.Sort
	}
	var b strings.Builder
	fmt.Fprintf(&b, "matched %d of %d %s", m.To, m.Of, m.Sort)
	for i, l := range m.Labels {
		if b.WriteString([]string{" by label ", ", "}[min(i, 1)] + l.Name); len(m.Labels) > 1 {
			fmt.Fprintf(&b, " (a %s in %d)", l.Type, l.Found)
		}
	}
	if n := m.Of - m.To; n > 0 {
		fmt.Fprintf(&b, "; ignored %d: ", n)
		for i, s := range m.Ignored {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%s (%s)", s.Text, s.Why)
		}
		if n > len(m.Ignored) {
			b.WriteString(", …")
		}
	}
	return b.String()
}

// matching begins to count how the series of an answer match the fluent.
func (o *observer) matching(sort string) *Matched {
	m := &Matched{Sort: sort}
	if o.series != nil {
		for i, p := range o.fluent.Params {
			m.Labels = append(m.Labels, Label{Param: p.Name, Name: o.series.labels[i], Type: p.Type.Name})
		}
	}
	return m
}

// ignore notes one that is about nothing in the model.
func (m *Matched) ignore(text func() string, why string) {
	m.mixed = m.mixed || len(m.Ignored) > 0 && why != m.Ignored[0].Why
	if len(m.Ignored) < maxStrangers {
		m.Ignored = append(m.Ignored, Stranger{Text: text(), Why: why})
	}
}

// ignored says in short how many were ignored and why, "" where none was.
func (m *Matched) ignored() string {
	switch n := m.Of - m.To; {
	case n == 0:
		return ""
	case m.mixed:
		return fmt.Sprintf("%d %s ignored, for example: %s", n, m.Sort, m.Ignored[0].Why)
	default:
		return fmt.Sprintf("%d %s ignored: %s", n, m.Sort, m.Ignored[0].Why)
	}
}

// hide takes what must not be shown out of the examples.
func (m *Matched) hide(with func(string) string) {
	for i, s := range m.Ignored {
		m.Ignored[i] = Stranger{Text: with(s.Text), Why: with(s.Why)}
	}
}

// seriesText writes the labels of a series as Prometheus does.
func seriesText(labels map[string]any) string {
	var parts []string
	name := ""
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		if k == nameLabel {
			name, _ = labels[k].(string)
			continue
		}
		parts = append(parts, fmt.Sprintf("%s=%q", k, labels[k]))
	}
	return clip(name+"{"+strings.Join(parts, ", ")+"}", 120)
}

// itemText writes an item of a list as JSON.
func itemText(item any) string {
	b, err := json.Marshal(item)
	if err != nil {
		return "an item"
	}
	return clip(string(b), 120)
}

// noSuch says that the model has no object of that name.
func noSuch(t *model.Type, name string) string {
	return fmt.Sprintf("no %s is named %s", t, scalar(name))
}
