package validator

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/fettleops/fettle/model"
)

// jsonStep gathers the parts of a step, as written; other keys are left alone.
type jsonStep struct {
	whole        []byte // nil where it was not kept
	action, args []byte // nil: not given
	twice        string // a key that is given twice
}

// part notes the value of a key.
func (s *jsonStep) part(key string, value []byte) {
	into := &s.action
	switch key {
	case "action":
	case "args":
		into = &s.args
	default:
		return
	}
	if *into != nil {
		s.twice = key
	}
	*into = value
}

// text returns the step as one line of JSON.
func (s *jsonStep) text() []byte {
	var b bytes.Buffer
	whole := s.whole
	if whole == nil {
		whole = slices.Concat([]byte(`{"action":`), s.action, []byte(`,"args":`), s.args, []byte(`}`))
	}
	if json.Compact(&b, whole) != nil { // there are no arguments
		return slices.Concat([]byte(`{"action":`), s.action, []byte(`}`))
	}
	return b.Bytes()
}

// arguments reads a step's arguments, by position or by parameter name; false
// where they are none, with the name that is given twice, if one is.
func (p *planReader) arguments(st *model.Step, args []byte) (twice string, ok bool) {
	p.args, ok = p.args[:0], true
	switch {
	case args == nil || string(args) == "null":
		return "", true
	case args[0] == '{':
		st.Params = []string{}
	case args[0] != '[':
		return "", false
	}
	members(args, func(key, value []byte) {
		a, scalar := p.scalar(value)
		ok = ok && scalar
		p.args = append(p.args, a)
		if key == nil {
			return
		}
		name := p.literal(key)
		if slices.Contains(st.Params, name) {
			twice, ok = name, false
		}
		st.Params = append(st.Params, name)
	})
	st.Args = p.args
	return twice, ok
}

// scalar reads an argument: a string, or a number as it is written.
func (p *planReader) scalar(value []byte) (string, bool) {
	switch c := value[0]; {
	case c == '"':
		return p.literal(value), true
	case c == '-' || c >= '0' && c <= '9':
		return p.names.of(value), true
	}
	return "", false
}

// literal reads a JSON string that is known to be well-formed.
func (p *planReader) literal(b []byte) string {
	if inner := b[1 : len(b)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return p.names.of(inner)
	}
	var s string
	_ = json.Unmarshal(b, &s)
	return s
}

// members calls visit for each member of a JSON object or list that is known to
// be well-formed; a list's members have no key.
func members(b []byte, visit func(key, value []byte)) {
	object := b[0] == '{'
	for b = separator(b[1:]); len(b) > 1; b = separator(b) {
		var key []byte
		if object {
			key, b = cut(b)
			b = separator(b)
		}
		var value []byte
		value, b = cut(b)
		visit(key, value)
	}
}

// separator skips what stands between values.
func separator(b []byte) []byte { return bytes.TrimLeft(b, " \t\r\n,:") }

// cut returns the value that b begins with, and what follows.
func cut(b []byte) (value, rest []byte) {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return b[:i+1], b[i+1:]
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return b[:i], b[i:]
			}
			if depth--; depth == 0 {
				return b[:i+1], b[i+1:]
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return b[:i], b[i:]
			}
		}
	}
	return b, nil
}
