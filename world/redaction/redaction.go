// Package redaction takes out of texts what looks like a secret: by built-in
// patterns, such as passwords that are told by their names, keys and tokens of a
// known form, and by patterns of the model's author.
//
// It guesses, and so errs on both sides: what is known to be secret is a
// sensitive variable, and is taken out by its value elsewhere. It refuses to
// touch what must stay as it is: in JSON, whatever stands under the names that
// the caller gives, so that a plan stays the plan.
package redaction

import (
	"regexp"
	"slices"
	"strings"
)

// Mark stands where something was taken out.
const Mark = "(redacted)"

// marks are never taken out themselves: who redacts a text twice gets it as it is.
var marks = []string{Mark, "(sensitive)"}

// Patterns are the author's own patterns, to which the built-in ones are added.
// Nil has the built-in ones alone. What is taken out is what a pattern's first
// group catches, or the whole match where it has no group. None should match the
// empty string.
type Patterns []*regexp.Regexp

// Text returns the text with [Mark] in place of what looks like a secret, in
// time linear in the text's length.
func (p Patterns) Text(s string) string {
	spans := p.Spans(s)
	if len(spans) == 0 {
		return s
	}
	var out strings.Builder
	at := 0
	for _, sp := range spans {
		out.WriteString(s[at:sp.From])
		out.WriteString(Mark)
		at = sp.To
	}
	out.WriteString(s[at:])
	return out.String()
}

// Span is a part of a text, in bytes.
type Span struct{ From, To int }

// Spans returns where in the text secrets seem to stand, in their order. No two
// of them overlap, and none is empty.
func (p Patterns) Spans(s string) []Span {
	var all []Span
	lower := ""
	for _, b := range builtin {
		if lower == "" {
			lower = strings.ToLower(s)
		}
		if b.hinted(lower) {
			all = append(all, matches(b.Regexp, s)...)
		}
	}
	for _, re := range p {
		all = append(all, matches(re, s)...)
	}
	if len(all) == 0 {
		return nil
	}
	return merged(without(all, marked(s)))
}

// matches returns what a pattern takes out of a text.
func matches(re *regexp.Regexp, s string) (out []Span) {
	for _, m := range re.FindAllStringSubmatchIndex(s, -1) {
		if len(m) == 2 {
			out = append(out, Span{m[0], m[1]})
			continue
		}
		for i := 2; i+1 < len(m); i += 2 {
			if m[i] >= 0 { // Of alternatives, the group of the one that matched.
				out = append(out, Span{m[i], m[i+1]})
				break
			}
		}
	}
	return out
}

// marked returns where marks stand.
func marked(s string) (out []Span) {
	for _, mark := range marks {
		for at := 0; ; {
			i := strings.Index(s[at:], mark)
			if i < 0 {
				break
			}
			out = append(out, Span{at + i, at + i + len(mark)})
			at += i + len(mark)
		}
	}
	slices.SortFunc(out, func(a, b Span) int { return a.From - b.From })
	return out
}

// without drops empty spans and those that lie within a mark. Marks are in their order.
func without(all, marks []Span) []Span {
	return slices.DeleteFunc(all, func(sp Span) bool {
		i, found := slices.BinarySearchFunc(marks, sp.From, func(m Span, at int) int { return m.From - at })
		if !found {
			i--
		}
		return sp.To <= sp.From || i >= 0 && marks[i].To >= sp.To
	})
}

// merged sorts spans and joins those that overlap.
func merged(all []Span) []Span {
	slices.SortFunc(all, func(a, b Span) int { return a.From - b.From })
	var out []Span
	for _, sp := range all {
		if n := len(out); n > 0 && sp.From < out[n-1].To {
			out[n-1].To = max(out[n-1].To, sp.To)
			continue
		}
		out = append(out, sp)
	}
	return out
}
