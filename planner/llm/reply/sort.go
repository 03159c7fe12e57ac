package reply

import (
	"strings"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

// kind says what a line of a reply is.
type kind uint8

const (
	nothing kind = iota // blank, a comment, a fence
	prose
	parting // a marker or a heading
	step
	suspect // it could be a step, and cannot be read as one
)

// sorted is a line with what it was read as.
type sorted struct {
	line
	kind  kind
	steps []model.Step
	err   *validator.SyntaxError
}

// strong tells whether a step has its parentheses, or its number: a bare word
// may be prose.
func (s *sorted) strong() bool {
	return s.kind == step && (s.number >= 0 || strings.Contains(s.text, "("))
}

// sortLines reads every line by itself.
func sortLines(lines []line) []sorted {
	out := make([]sorted, len(lines))
	var plan strings.Builder
	for i, l := range lines {
		out[i].line = l
		if l.text != "" && l.text[0] != '{' && l.text[0] != '[' {
			plan.WriteString(l.text)
		}
		plan.WriteByte('\n')
	}
	for st, err := range validator.ReadPlan(strings.NewReader(plan.String())) {
		if err == nil {
			s := &out[st.Line-1]
			s.steps = append(s.steps, cloned(st))
			continue
		}
		p := asSyntax(err)
		if p.Line > 0 && p.Line <= len(out) {
			out[p.Line-1].err = p
		}
	}
	for i := range out {
		out[i].kind = out[i].sort()
	}
	suspectByList(out)
	return out
}

// sort says what a line is by itself.
func (s *sorted) sort() kind {
	switch {
	case s.parts:
		return parting
	case s.err == nil && len(s.steps) > 0:
		return step
	case s.raw == "" || s.empty || s.wraps || strings.Trim(s.text, "()") == "" && s.text != "":
		return nothing
	case s.err == nil && s.text != "" && (s.text[0] == '#' || s.text[0] == ';'):
		return nothing
	case s.err != nil && (len(s.steps) > 0 || called(s.text)):
		return suspect
	}
	return prose
}

// suspectByList marks prose that could be a step by where it stands: between
// the numbers of steps, or next to a step with the same bullet or in brackets.
func suspectByList(all []sorted) {
	last, near := -1, -1
	for i := range all {
		last, near = suspectAfter(all, i, near, last, 1)
	}
	last, near = -1, -1
	for i := len(all) - 1; i >= 0; i-- {
		last, near = suspectAfter(all, i, near, last, -1)
	}
}

// suspectAfter looks at a line: near is the line just before it in this
// direction if that is a step, last the number of the list's last step.
func suspectAfter(all []sorted, i, near, last, way int) (number, neighbour int) {
	s := &all[i]
	if s.kind == prose {
		switch {
		case s.number >= 0 && last >= 0 && s.number == last+way:
			s.kind = suspect
		case s.number >= 0 && last >= 0 && (s.number-last)*way <= 0:
			last = -1 // Another list.
		case near >= 0 && s.text != "" && s.text[0] == '[':
			s.kind = suspect
		case near >= 0 && s.bullet && all[near].bullet && s.indent == all[near].indent:
			s.kind = suspect
		}
	}
	if s.kind != step && s.kind != suspect {
		return last, -1
	}
	if s.number >= 0 {
		last = s.number
	}
	return last, i
}
