package policy

import (
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/file"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// source is the text of a rule's condition with the place of its characters in
// the HCL file, as far as they are written without escapes.
type source struct {
	text  string
	whole hcl.Range
	parts []sourcePart
}

// sourcePart is a piece of the text and where it stands: a heredoc has one for
// each line.
type sourcePart struct {
	text string
	rng  hcl.Range
}

// readSource reads the text of a condition. It has to be fixed: a condition is
// code, and nothing is pasted into it. The words say what is wrong, "" where
// nothing is.
func readSource(e hcl.Expression) (s source, wrong string) {
	const pasted = "A condition is a fixed string without ${…}: nothing is pasted into what decides."
	s.whole = e.Range()
	for p, ok := e.(*hclsyntax.ParenthesesExpr); ok; p, ok = e.(*hclsyntax.ParenthesesExpr) {
		e = p.Expression
	}
	t, ok := e.(*hclsyntax.TemplateExpr)
	if !ok {
		if _, wrap := e.(*hclsyntax.TemplateWrapExpr); wrap {
			return s, pasted
		}
		return s, "A condition is written in quotes, as in \"action == 'revert'\"."
	}
	var text strings.Builder
	for _, p := range t.Parts {
		lit, ok := p.(*hclsyntax.LiteralValueExpr)
		if !ok || lit.Val.Type() != cty.String || lit.Val.IsNull() || !lit.Val.IsKnown() {
			s.whole = p.Range()
			return s, pasted
		}
		s.parts = append(s.parts, sourcePart{lit.Val.AsString(), lit.SrcRange})
		text.WriteString(lit.Val.AsString())
	}
	s.text = text.String()
	return s, ""
}

// at returns where the characters of a location stand in the file. Of a piece
// whose place is not known for each character, it is the whole.
func (s *source) at(loc file.Location) hcl.Range {
	size := utf8.RuneCountInString(s.text)
	from, to := min(max(loc.From, 0), size), min(max(loc.To, 0), size)
	if to <= from {
		to = min(from+1, size)
	}
	if to <= from { // at the very end: its last character
		from = max(to-1, 0)
	}
	start, ok := s.pos(from, false)
	end, known := s.pos(to, true)
	if !ok || !known || end.Byte <= start.Byte {
		return s.whole
	}
	return hcl.Range{Filename: s.whole.Filename, Start: start, End: end}
}

// place returns the place of a mistake: the whole text where it has none.
func (s *source) place(loc file.Location) hcl.Range {
	if loc == (file.Location{}) {
		return s.whole
	}
	return s.at(loc)
}

// pos returns the place of the boundary before a character: where the piece
// before it ends, or where the one after it starts.
func (s *source) pos(i int, end bool) (hcl.Pos, bool) {
	for _, p := range s.parts {
		n := utf8.RuneCountInString(p.text)
		if i < n || end && i == n {
			return p.pos(i)
		}
		i -= n
	}
	return hcl.Pos{}, false
}

// pos returns the place of a boundary within the piece. The lines of a heredoc
// may be indented by more than their text has: by as much as the first of them,
// which starts behind that.
func (p sourcePart) pos(i int) (hcl.Pos, bool) {
	indent := p.rng.Start.Column - 1
	cut := func(text string) (n int) {
		for _, line := range strings.Split(text, "\n")[1:] {
			if line != "" {
				n += indent
			}
		}
		return n
	}
	if p.rng.End.Byte-p.rng.Start.Byte != len(p.text)+cut(p.text) {
		return hcl.Pos{}, false
	}
	before := p.text
	for at := range p.text {
		if i == 0 {
			before = p.text[:at]
			break
		}
		i--
	}
	pos := p.rng.Start
	pos.Byte += len(before) + cut(before)
	line := before
	if n := strings.Count(before, "\n"); n > 0 {
		line = before[strings.LastIndexByte(before, '\n')+1:]
		pos.Line += n
		pos.Column = 1
		if line != "" {
			pos.Column += indent
		}
	}
	all := func(data []byte, _ bool) (int, []byte, error) { return len(data), data, nil }
	if sc := hcl.NewRangeScannerFragment([]byte(line), "", hcl.Pos{Column: pos.Column}, all); sc.Scan() {
		pos.Column = sc.Range().End.Column
	}
	return pos, true
}
