package main

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/fettleops/fettle/world/redaction"
)

// outward blocks say how the world, a model of language or a person is reached.
// Nothing that is decided rests on the texts in them.
var (
	outwardBlocks = []string{"provider", "planner", "critic", "trigger", "notify", "etcd"}
	outwardWithin = map[string]string{"fluent": "observe", "action": "run", "type": "discover"}
	valueBlocks   = []string{"variable", "locals"}
)

// withoutPatterns is the text of a file without what looks like a secret in its
// comments and in the string literals of its outward blocks; of those of values,
// which decisions may rest on, by the built-in patterns alone. It stays HCL.
func withoutPatterns(text, name string, own redaction.Patterns) string {
	var comments, literals, values []redaction.Span
	tokens, diags := hclsyntax.LexConfig([]byte(text), name, hcl.InitialPos)
	f, more := hclsyntax.ParseConfig([]byte(text), name, hcl.InitialPos)
	if diags.HasErrors() || more.HasErrors() {
		return text // No model that could have been loaded.
	}
	outward, valued := blocksOf(f.Body.(*hclsyntax.Body)) //nolint:forcetypeassert // That is what it parses to.
	for _, t := range tokens {
		sp := redaction.Span{From: t.Range.Start.Byte, To: t.Range.Start.Byte + len(strings.TrimRight(string(t.Bytes), "\r\n"))}
		literal := t.Type == hclsyntax.TokenQuotedLit || t.Type == hclsyntax.TokenStringLit
		switch {
		case t.Type == hclsyntax.TokenComment:
			comments = append(comments, uncommented(text, sp))
		case literal && lies(sp, outward):
			literals = append(literals, sp)
		case literal && lies(sp, valued):
			values = append(values, sp)
		}
	}
	found := common(slices.Concat(comments, literals), own.Spans(text))
	found = append(found, common(values, redaction.Patterns(nil).Spans(text))...)
	return cutOut(text, name, found, slices.Concat(comments, literals, values))
}

// uncommented is a comment without what makes it one.
func uncommented(text string, sp redaction.Span) redaction.Span {
	const mark = 2 // Of // and of both ends of /* */.
	switch {
	case text[sp.From] == '#':
		sp.From++
	case strings.HasPrefix(text[sp.From:sp.To], "/*"):
		sp.From, sp.To = sp.From+mark, sp.To-mark
	default:
		sp.From += mark
	}
	return sp
}

// cutOut takes spans out. Where that cuts an escape in two, the whole literals go.
func cutOut(text, name string, found, literals []redaction.Span) string {
	out := marked(text, found)
	if _, diags := hclsyntax.ParseConfig([]byte(out), name, hcl.InitialPos); !diags.HasErrors() {
		return out
	}
	whole := slices.DeleteFunc(literals, func(l redaction.Span) bool { return len(common([]redaction.Span{l}, found)) == 0 })
	return marked(text, whole)
}

// marked is a text with the mark in place of spans, no two of which overlap.
func marked(text string, spans []redaction.Span) string {
	slices.SortFunc(spans, func(a, b redaction.Span) int { return a.From - b.From })
	var out strings.Builder
	at := 0
	for _, sp := range spans {
		out.WriteString(text[at:sp.From] + redaction.Mark)
		at = sp.To
	}
	return out.String() + text[at:]
}

// common returns what two lists of spans, each in order and without overlaps, share.
func common(a, b []redaction.Span) (out []redaction.Span) {
	for _, x := range a {
		i, _ := slices.BinarySearchFunc(b, x.From, func(y redaction.Span, at int) int { return y.To - at })
		for ; i < len(b) && b[i].From < x.To; i++ {
			if sp := (redaction.Span{From: max(x.From, b[i].From), To: min(x.To, b[i].To)}); sp.From < sp.To {
				out = append(out, sp)
			}
		}
	}
	return out
}

func lies(sp redaction.Span, ranges []hcl.Range) bool {
	return slices.ContainsFunc(ranges, func(r hcl.Range) bool { return r.Start.Byte <= sp.From && sp.To <= r.End.Byte })
}

// blocksOf finds the outward blocks of a file, and those of values.
func blocksOf(body *hclsyntax.Body) (outward, values []hcl.Range) {
	for _, b := range body.Blocks {
		switch {
		case slices.Contains(outwardBlocks, b.Type):
			outward = append(outward, b.Range())
		case slices.Contains(valueBlocks, b.Type):
			values = append(values, b.Range())
		}
		for _, inner := range b.Body.Blocks {
			if outwardWithin[b.Type] == inner.Type {
				outward = append(outward, inner.Range())
			}
		}
	}
	return outward, values
}
