package load

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/file"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// maxSource is the greatest length of a condition in bytes.
const maxSource = 4 << 10

// source is the text of a condition with the place of each of its characters
// in the HCL file, through escapes, heredocs and their indentation.
type source struct {
	text  string
	whole hcl.Range // of the HCL expression
	// at gives the byte in the file at which each rune of the text starts, and
	// at the end the byte after the last; nil where there is no map.
	at     []int
	origin hcl.Pos // position of at[0]
	data   []byte  // the file's contents
}

// isTemplate tells whether an expression is written as a string.
func isTemplate(e hcl.Expression) bool {
	switch unwrap(e).(type) {
	case *hclsyntax.TemplateExpr, *hclsyntax.TemplateWrapExpr:
		return true
	}
	return false
}

func unwrap(e hcl.Expression) hcl.Expression {
	for {
		switch t := e.(type) {
		case *hclsyntax.ParenthesesExpr:
			e = t.Expression
		case *hclsyntax.ObjectConsKeyExpr:
			if hcl.ExprAsKeyword(t) != "" {
				return e
			}
			e = t.Wrapped
		default:
			return e
		}
	}
}

// source reads the text of a condition; false where it is none, which is
// reported.
func (ld *loader) source(e hcl.Expression, what string) (*source, bool) {
	const interpolation = "A condition is read by the model language, not by HCL, so it can contain no ${…}. Use parameters, fluents and objects by name."
	switch t := unwrap(e).(type) {
	case *hclsyntax.TemplateWrapExpr:
		ld.errorAt(t.SrcRange, "Interpolation in a condition", interpolation)
		return nil, false
	case *hclsyntax.TemplateExpr:
		src := &source{whole: t.SrcRange, data: ld.sources[t.SrcRange.Filename]}
		var text strings.Builder
		for _, p := range t.Parts {
			lit, ok := p.(*hclsyntax.LiteralValueExpr)
			if !ok || lit.Val.Type() != cty.String || !lit.Val.IsKnown() || lit.Val.IsNull() {
				ld.errorAt(p.Range(), "Interpolation in a condition", interpolation)
				return nil, false
			}
			if text.Len() < maxSource+1 {
				src.part(&text, lit)
			}
		}
		src.text = text.String()
		if len(src.text) > maxSource {
			ld.errorAt(e.Range(), "Condition too long", fmt.Sprintf("A condition has at most %d bytes. Name a part of it with a derived fluent.", maxSource))
			return nil, false
		}
		if strings.TrimSpace(src.text) == "" {
			ld.errorAt(e.Range(), "Empty condition", "Write "+what+" between the quotes.")
			return nil, false
		}
		return src, true
	}
	ld.errorAt(e.Range(), "Not in quotes", "%s is written in quotes.", capital(what))
	return nil, false
}

// part appends a literal part of a template to the text and maps it.
func (s *source) part(text *strings.Builder, lit *hclsyntax.LiteralValueExpr) {
	rng, value := lit.SrcRange, lit.Val.AsString()
	mapped := s.at != nil || text.Len() == 0
	if rng.Start.Byte < 0 || rng.End.Byte > len(s.data) || rng.Start.Byte > rng.End.Byte {
		mapped = false
	}
	var decoded string
	var at []int
	if mapped {
		quoted := s.data[s.whole.Start.Byte] == '"'
		decoded, at = decode(s.data[rng.Start.Byte:rng.End.Byte], value, quoted)
		mapped = cty.NormalizeString(decoded) == value
	}
	if !mapped {
		text.WriteString(value)
		s.at = nil
		return
	}
	if s.at == nil {
		s.origin = rng.Start
	} else {
		s.at = s.at[:len(s.at)-1]
	}
	text.WriteString(decoded)
	for _, o := range at {
		s.at = append(s.at, o+rng.Start.Byte)
	}
}

// decode undoes HCL's escapes in a literal, or the indentation of a heredoc,
// and returns the byte at which each rune started, and the end.
func decode(raw []byte, value string, quoted bool) (string, []int) {
	var b strings.Builder
	var at []int
	put := func(r rune, i int) {
		b.WriteRune(r)
		at = append(at, i)
	}
	lines := strings.SplitAfter(value, "\n")
	line := 0
	for i := 0; i < len(raw); {
		if !quoted && (i == 0 || raw[i-1] == '\n') && line < len(lines) {
			i += indentation(raw[i:]) - indentation([]byte(lines[line]))
			line++
			if i < 0 || i >= len(raw) {
				break
			}
		}
		c := raw[i]
		switch {
		case (c == '$' || c == '%') && i+2 < len(raw) && raw[i+1] == c && raw[i+2] == '{':
			put(rune(c), i)
			put('{', i+2)
			i += 3
		case c == '\\' && quoted:
			r, n := unescape(raw[i:])
			put(r, i)
			i += n
		default:
			r, n := utf8.DecodeRune(raw[i:])
			put(r, i)
			i += n
		}
	}
	return b.String(), append(at, len(raw))
}

func indentation(line []byte) int {
	n := 0
	for n < len(line) && (line[n] == ' ' || line[n] == '\t') {
		n++
	}
	return n
}

// unescape reads an escape sequence that HCL's parser has accepted.
func unescape(raw []byte) (rune, int) {
	if len(raw) < 2 {
		return '\\', 1
	}
	digits := 0
	switch raw[1] {
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		return rune(raw[1]), 2
	}
	var r rune
	for i := 2; i < 2+digits && i < len(raw); i++ {
		d := strings.IndexByte("0123456789abcdef", raw[i]|0x20)
		r = r<<4 | rune(max(d, 0))
	}
	return r, min(2+digits, len(raw))
}

// rangeOf returns where the runes of a location stand in the file.
func (s *source) rangeOf(loc file.Location) hcl.Range {
	if len(s.at) == 0 {
		return s.whole
	}
	last := len(s.at) - 1
	from, to := min(max(loc.From, 0), last), min(max(loc.To, 0), last)
	if to <= from {
		to = min(from+1, last)
	}
	if to <= from { // at the very end: its last character
		from = max(to-1, 0)
	}
	return hcl.Range{Filename: s.whole.Filename, Start: s.pos(s.at[from]), End: s.pos(s.at[to])}
}

// pos counts lines and columns as HCL does, from the start of the text.
func (s *source) pos(byteOffset int) hcl.Pos {
	all := func(data []byte, _ bool) (int, []byte, error) { return len(data), data, nil }
	start := hcl.Pos{Line: s.origin.Line, Column: s.origin.Column} // the scanner counts bytes from its own start
	sc := hcl.NewRangeScannerFragment(s.data[s.origin.Byte:byteOffset], "", start, all)
	pos := start
	if sc.Scan() {
		pos = sc.Range().End
	}
	pos.Byte = byteOffset
	return pos
}

// slice returns the text of a location.
func (s *source) slice(loc file.Location) string {
	rs := []rune(s.text)
	from, to := min(max(loc.From, 0), len(rs)), min(max(loc.To, 0), len(rs))
	return string(rs[from:max(from, to)])
}

// wordAt returns the run of characters around a rune that would be an object's
// name if it were quoted, and where it stands.
func (s *source) wordAt(i int) (string, file.Location) {
	rs := []rune(s.text)
	i = min(i, len(rs)-1)
	part := func(k int) bool {
		return k >= 0 && k < len(rs) && rs[k] < 0x80 && (identifier("_"+string(rs[k])) || strings.ContainsRune(".:/@-", rs[k]))
	}
	from, to := i, i
	for part(from - 1) {
		from--
	}
	for part(to) {
		to++
	}
	return string(rs[from:to]), file.Location{From: from, To: to}
}
