package graph

import (
	"fmt"
	"io"
	"strings"
)

// look is how an edge of a kind is drawn. The line's style tells the kinds
// apart without their colours.
type look struct{ dot, legend string }

var looks = map[Kind]look{
	Enables:   {"", "green, solid: enables"},
	Threatens: {" style=dashed arrowhead=tee", "red, dashed: threatens"},
	Relieves:  {" style=dashed", "blue, dashed: relieves an invariant that the other strains"},
	Adds:      {"", "green: makes true"},
	Deletes:   {" style=dashed arrowhead=tee", "red, dashed: makes false"},
	Changes:   {" arrowhead=diamond", "blue: changes"},
	Needs:     {"", "grey: is needed by"},
	Forbids:   {" style=dashed arrowhead=tee", "grey, dashed: must be false for"},
	Derives:   {" style=dotted arrowhead=empty", "dotted: defines"},
}

// colors of the lines, in the picture of Mermaid too.
var colors = map[Kind]string{
	Enables: "#1b7837", Threatens: "#b2182b", Relieves: "#2166ac", Adds: "#1b7837", Deletes: "#b2182b",
	Changes: "#2166ac", Needs: "#555555", Forbids: "#555555", Derives: "#999999",
}

// kinds in the order of the legend.
var kinds = []Kind{Enables, Threatens, Relieves, Adds, Deletes, Changes, Needs, Forbids, Derives}

// WriteDOT writes the graph in the language of Graphviz.
func (g *Graph) WriteDOT(w io.Writer) error {
	var b strings.Builder
	b.WriteString("digraph fettle {\n")
	b.WriteString("  graph [rankdir=LR nodesep=0.45 ranksep=0.9 fontname=\"Helvetica\" fontsize=10 fontcolor=\"#555555\" labelloc=b label=" + dotQuote(g.legend()) + "]\n")
	b.WriteString("  node [shape=box style=\"rounded,filled\" fillcolor=\"#f7f7f7\" color=\"#555555\" fontname=\"Helvetica\" fontsize=12]\n")
	b.WriteString("  edge [fontname=\"Helvetica\" fontsize=10]\n")
	for i, n := range g.Nodes {
		fmt.Fprintf(&b, "  n%d [label=%s", i, dotQuote(plain(n.Text)))
		if n.Fluent {
			b.WriteString(" shape=ellipse style=filled fillcolor=white")
		}
		if n.Doc != "" {
			b.WriteString(" tooltip=" + dotQuote(plain(n.Doc)))
		}
		b.WriteString("]\n")
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&b, "  n%d -> n%d [color=%q%s", e.From, e.To, colors[e.Kind], looks[e.Kind].dot)
		if labels := e.labels(); len(labels) > 0 {
			fmt.Fprintf(&b, " fontcolor=%q label=%s", colors[e.Kind], dotQuote(strings.Join(clipped(labels), "\n")))
		}
		b.WriteString(" tooltip=" + dotQuote(g.sentence(e)) + "]\n")
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// legend explains the kinds of edges that there are.
func (g *Graph) legend() string {
	have := map[Kind]bool{}
	for _, e := range g.Edges {
		have[e.Kind] = true
	}
	var out []string
	for _, k := range kinds {
		if have[k] {
			out = append(out, looks[k].legend)
		}
	}
	return strings.Join(out, "     ")
}

// sentence says what an edge means.
func (g *Graph) sentence(e Edge) string {
	from, to := plain(g.Nodes[e.From].Text), plain(g.Nodes[e.To].Text)
	if e.From == e.To {
		to = "another " + to
	}
	verb := string(e.Kind)
	switch e.Kind {
	case Relieves:
		return from + " can relieve " + strings.Join(plainAll(e.Invariants), ", ") + ", which " + to + " can make worse"
	case Needs:
		verb = "is needed by"
	case Forbids:
		verb = "must be false for"
	case Derives:
		verb = "defines"
	}
	s := from + " " + verb + " " + to
	if len(e.Fluents) > 0 {
		s += " by " + strings.Join(plainAll(e.Fluents), ", ")
	}
	return s
}

// dotQuote writes a quoted string of Graphviz, which reads character references
// and line breaks in it.
func dotQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "&", "&amp;", "\n", `\n`).Replace(s) + `"`
}
