package graph

import (
	"fmt"
	"io"
	"strings"
)

// arrows of Mermaid by kind.
var arrows = map[Kind]string{
	Enables: "-->", Threatens: "-.-x", Relieves: "-.->", Adds: "-->", Deletes: "-.-x",
	Changes: "==>", Needs: "-->", Forbids: "-.-x", Derives: "-.->",
}

// WriteMermaid writes the graph as a flowchart of Mermaid, which code hosts show
// in a page.
func (g *Graph) WriteMermaid(w io.Writer) error {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	if legend := g.legend(); legend != "" {
		b.WriteString("  %% " + legend + "\n")
	}
	for i, n := range g.Nodes {
		open, end := "[", "]"
		if n.Fluent {
			open, end = "([", "])"
		}
		fmt.Fprintf(&b, "  n%d%s%s%s\n", i, open, mermaidQuote(plain(n.Text)), end)
	}
	for _, e := range g.Edges {
		label := ""
		if labels := e.labels(); len(labels) > 0 {
			label = "|" + mermaidQuote(strings.Join(clipped(labels), ", ")) + "|"
		}
		fmt.Fprintf(&b, "  n%d %s%s n%d\n", e.From, arrows[e.Kind], label, e.To)
	}
	for _, k := range kinds {
		g.style(&b, k)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// style colours the edges of a kind, which Mermaid knows by their numbers.
func (g *Graph) style(b *strings.Builder, k Kind) {
	var numbers []string
	for i, e := range g.Edges {
		if e.Kind == k {
			numbers = append(numbers, fmt.Sprint(i))
		}
	}
	if len(numbers) > 0 {
		fmt.Fprintf(b, "  linkStyle %s stroke:%s\n", strings.Join(numbers, ","), colors[k])
	}
}

// mermaidQuote writes a quoted label. Mermaid reads entity codes, HTML and, after
// a backtick, Markdown in it.
func mermaidQuote(s string) string {
	return `"` + strings.NewReplacer(
		"#", "#35;", "&", "#38;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "`", "#96;", `\`, "#92;",
	).Replace(s) + `"`
}
