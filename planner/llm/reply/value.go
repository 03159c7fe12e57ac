package reply

import (
	"encoding/json"
	"regexp"
	"strings"
)

// value is a JSON object or list as it stands in a text, from..to-1.
type value struct {
	from, to int
	closed   bool // its end is there
}

// nextValue finds the next value that starts at or after an offset: a brace
// before a key, or a bracket before an object or a string. It never looks into
// a value that it found.
func nextValue(text string, at int) (value, bool) {
	for ; at < len(text); at++ {
		next := strings.IndexAny(text[at:], "{[")
		if next < 0 {
			break
		}
		at += next
		if opens(text[at:]) {
			to, closed := extent(text[at:])
			return value{at, at + to, closed}, true
		}
	}
	return value{}, false
}

// opens tells whether a text that begins with { or [ begins like JSON.
func opens(s string) bool {
	after := strings.TrimLeft(s[1:], " \t\r\n")
	if after == "" {
		return false
	}
	if s[0] == '{' {
		return after[0] == '"' || after[0] == '}'
	}
	return after[0] == '{' || after[0] == '"' && strings.IndexByte(after[1:], '"') >= 0
}

// extent returns the length of the value that s begins with; all of s where
// its end is missing.
func extent(s string) (int, bool) {
	depth, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1, true
			}
		}
	}
	return len(s), false
}

// withoutTrailingCommas blanks commas that stand before a closing bracket, and
// tells whether there were any.
func withoutTrailingCommas(s string) (string, bool) {
	var b []byte
	quoted, comma := false, -1
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted, comma = !quoted, -1
		case quoted || c == ' ' || c == '\t' || c == '\r' || c == '\n':
		case c == ',':
			comma = i
		case (c == '}' || c == ']') && comma >= 0:
			if b == nil {
				b = []byte(s)
			}
			b[comma], comma = ' ', -1
		default:
			comma = -1
		}
	}
	if b == nil {
		return s, false
	}
	return string(b), true
}

// escaped is the start of a value that was encoded once more.
var escaped = regexp.MustCompile(`[{\[](?:\\[nrt]|[{\s])*\\"`)

// maxEscape is how far into a value its first escaped quote is looked for.
const maxEscape = 256

func startsEscaped(s string) bool {
	at := escaped.FindStringIndex(s[:min(len(s), maxEscape)])
	return at != nil && at[0] == 0
}

// decoded undoes JSON that was encoded once more: a string that holds a value,
// with its quotes or without them. It returns the value's text.
func decoded(s string) (string, bool) {
	s = strings.TrimSpace(s)
	if strings.Contains(s[:min(len(s), maxEscape)], `\"`) && startsEscaped(s) {
		s = `"` + s + `"`
	}
	if len(s) < 2 || s[0] != '"' {
		return "", false
	}
	var inner string
	if json.Unmarshal([]byte(s), &inner) != nil {
		return "", false
	}
	t := strings.TrimSpace(inner)
	return inner, strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") || strings.HasPrefix(t, `"`)
}
