package validator

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/fettleops/fettle/model"
)

// Classes of bytes in a line.
const (
	space   = 1 << iota
	initial // may start a bare name
	bare    // may go on in one
)

var class = func() (t [256]uint8) {
	for c := range 256 {
		switch {
		case c == ' ' || c >= '\t' && c <= '\r':
			t[c] = space
		case model.Bare(string(rune(c))) && c < utf8.RuneSelf:
			t[c] = initial | bare
		case strings.ContainsRune(".:/@-", rune(c)):
			t[c] = bare
		}
	}
	return t
}()

func trim(b []byte) []byte {
	b = skip(b)
	for len(b) > 0 && class[b[len(b)-1]]&space != 0 {
		b = b[:len(b)-1]
	}
	return b
}

func skip(b []byte) []byte {
	for len(b) > 0 && class[b[0]]&space != 0 {
		b = b[1:]
	}
	return b
}

// comment tells whether nothing but a comment is left.
func comment(b []byte) bool { return len(b) == 0 || b[0] == '#' || b[0] == ';' }

func fence(b []byte) bool {
	return bytes.HasPrefix(b, []byte("```")) || bytes.HasPrefix(b, []byte("~~~"))
}

// text reads one line, without the spaces around it; false where the consumer
// has had enough.
func (p *planReader) text(line []byte) bool {
	if comment(line) || fence(line) {
		return true
	}
	b := skip(line[prefix(line):])
	if len(b) > 0 && b[0] == '(' {
		return p.groups(line, b)
	}
	name, b := p.name(b)
	if name == "" {
		return p.noAction(line, false)
	}
	b = skip(b)
	p.args = p.args[:0]
	if len(b) > 0 && b[0] == '(' {
		var ok bool
		if b, ok = p.list(b[1:]); !ok {
			return p.noAction(line, false)
		}
		if b = skip(b); !comment(b) {
			p.because(follows, b)
		}
	}
	if !comment(skip(b)) {
		return p.noAction(line, false)
	}
	return p.emit(name)
}

// prefix returns the length of a bullet, a number in a list ("1." or "1)") or a
// time ("0.000:") before the action.
func prefix(b []byte) int {
	next := func(i int) byte { // what follows, a space at the end
		if i < len(b) {
			return b[i]
		}
		return ' '
	}
	if class[next(1)]&space != 0 && (b[0] == '-' || b[0] == '*' || b[0] == '+') {
		return 1
	}
	if b[0] < '0' || b[0] > '9' {
		return 0
	}
	i := 1
	for i < len(b) && (b[i] >= '0' && b[i] <= '9' || b[i] == '.') {
		i++
	}
	switch {
	case next(i) == ':' && (class[next(i+1)]&space != 0 || next(i+1) == '('):
		return i + 1
	case next(i) == ')' && (class[next(i+1)]&space != 0 || next(i+1) == '('):
		return i + 1
	case b[i-1] == '.' && (class[next(i)]&space != 0 || next(i) == '('):
		return i
	}
	return 0
}

// name reads a bare name, "" where there is none.
func (p *planReader) name(b []byte) (string, []byte) {
	if len(b) == 0 || class[b[0]]&initial == 0 {
		return "", b
	}
	i := 1
	for i < len(b) && class[b[i]]&bare != 0 {
		i++
	}
	return p.names.of(b[:i]), b[i:]
}

// arg reads a bare or quoted argument and appends it to args.
func (p *planReader) arg(b []byte) ([]byte, bool) {
	if len(b) == 0 {
		return p.because(unclosed, b)
	}
	if b[0] != '\'' && b[0] != '"' {
		name, rest := p.name(b)
		if name == "" {
			return p.because(noName, b)
		}
		p.args = append(p.args, name)
		return rest, true
	}
	end := 1
	for end < len(b) && b[end] != b[0] {
		if b[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(b) {
		return p.because(unquoted, b)
	}
	_, args, err := model.ParseAtom("x(" + string(b[:end+1]) + ")")
	if err != nil {
		return p.because(noName, b[:end+1])
	}
	p.args = append(p.args, args[0])
	return b[end+1:], true
}

// list reads arguments between commas up to the closing parenthesis.
func (p *planReader) list(b []byte) ([]byte, bool) {
	if b = skip(b); len(b) > 0 && b[0] == ')' {
		return b[1:], true
	}
	for {
		var ok bool
		if b, ok = p.arg(skip(b)); !ok {
			return b, false
		}
		if b = skip(b); len(b) == 0 {
			return p.because(unclosed, b)
		}
		switch b[0] {
		case ')':
			return b[1:], true
		case ',':
			b = b[1:]
		default:
			return p.because(apartBy, b)
		}
	}
}

// groups reads the actions of a line in PDDL's form: (drain api) (restart api),
// each with a duration [1] behind it or without. One with anything else behind it
// is none, and ends the line.
func (p *planReader) groups(line, b []byte) bool {
	for part := false; !comment(b); part = true {
		name, rest := p.name(skip(b[1:]))
		rest, ok := p.words(rest)
		if name == "" || !ok {
			return p.noAction(line, part || bytes.Count(b, []byte("(")) > 1)
		}
		if b = duration(skip(rest)); !comment(b) && b[0] != '(' {
			p.because(follows, b)
			return p.noAction(line, part)
		}
		if !p.emit(name) {
			return false
		}
	}
	return true
}

// words reads arguments between spaces up to the closing parenthesis. A comma
// behind an argument is passed over, as the field's validator does.
func (p *planReader) words(b []byte) ([]byte, bool) {
	p.args = p.args[:0]
	for len(b) > 0 && b[0] != ')' {
		if len(p.args) > 0 && b[0] == ',' {
			b = b[1:]
		}
		rest := skip(b)
		if len(rest) > 0 && rest[0] == ')' {
			return rest[1:], true
		}
		apart := len(rest) < len(b)
		var ok bool
		if !apart {
			return p.because(glued, rest)
		}
		if b, ok = p.arg(rest); !ok {
			return b, false
		}
	}
	if len(b) == 0 {
		return p.because(unclosed, b)
	}
	return b[1:], true
}

// duration skips the [1.000] behind an action of a temporal plan.
func duration(b []byte) []byte {
	if len(b) == 0 || b[0] != '[' {
		return b
	}
	i := 1
	for i < len(b) && (b[i] >= '0' && b[i] <= '9' || b[i] == '.' || class[b[i]]&space != 0) {
		i++
	}
	if i == 1 || i == len(b) || b[i] != ']' {
		return b
	}
	return skip(b[i+1:])
}
