package redaction

import (
	"bytes"
	"encoding/json"
	"regexp"
	"time"
)

// Exact names what stays as it is in JSON: the strings that stand right under a
// name of Keys, or in a list there, and all of the object that stands under a
// name of Trees. Under a name of Codes a single word of lower-case letters stays:
// it is one of a closed list. So does a time, wherever it stands.
type Exact struct{ Keys, Codes, Trees map[string]bool }

// Names makes a set of names.
func Names(names ...string) map[string]bool {
	out := make(map[string]bool, len(names))
	for _, n := range names {
		out[n] = true
	}
	return out
}

// JSON returns valid JSON with [Mark] in place of what looks like a secret in its
// strings. Names, numbers and what is exact stay, and so does its form.
func (p Patterns) JSON(raw []byte, exact Exact) []byte {
	w := walker{p: p, exact: exact, raw: raw, levels: []level{{}}}
	for w.at < len(raw) {
		w.step()
	}
	if w.out == nil {
		return raw
	}
	return append(w.out, raw[w.done:]...)
}

// level is an object or a list that is walked through.
type level struct {
	object, named bool   // in an object: whether a string is a value, not a name
	key           string // the name that it, or a value in it, stands under
	exact         bool   // all of it stays
}

var code = regexp.MustCompile(`^[a-z_]+$`)

// isTime tells whether a string is a time as JSON has it.
func isTime(s string) bool {
	if len(s) < len("2006-01-02T15:04:05Z") || len(s) > len(time.RFC3339Nano) || s[4] != '-' {
		return false
	}
	_, err := time.Parse(time.RFC3339Nano, s)
	return err == nil
}

// walker goes through JSON once, string by string.
type walker struct {
	p      Patterns
	exact  Exact
	raw    []byte
	at     int
	done   int    // so much of raw is in out
	out    []byte // nil: nothing is changed
	levels []level
}

func (w *walker) step() {
	top := &w.levels[len(w.levels)-1]
	switch w.raw[w.at] {
	case '{':
		w.levels = append(w.levels, level{object: true, exact: top.exact || top.object && w.exact.Trees[top.key]})
	case '[':
		w.levels = append(w.levels, level{key: top.key, exact: top.exact})
	case '}', ']':
		if len(w.levels) > 1 {
			w.levels = w.levels[:len(w.levels)-1]
		}
	case ':':
		top.named = true
	case ',':
		top.named = false
	case '"':
		w.text(top)
		return
	}
	w.at++
}

// text passes a string, which is a name or a value.
func (w *walker) text(top *level) {
	from := w.at
	for w.at++; w.at < len(w.raw) && w.raw[w.at] != '"'; w.at++ {
		if w.raw[w.at] == '\\' {
			w.at++
		}
	}
	w.at = min(w.at+1, len(w.raw))
	quoted := w.raw[from:w.at]
	var s string
	switch isName := top.object && !top.named; {
	case !isName && (top.exact || w.exact.Keys[top.key]):
		return
	case json.Unmarshal(quoted, &s) != nil:
		return
	case isName:
		top.key = s
		return
	}
	if isTime(s) || w.exact.Codes[top.key] && code.MatchString(s) {
		return
	}
	told := w.p.Text(s)
	if told == s {
		return
	}
	var buf bytes.Buffer
	_ = json.NewEncoder(&buf).Encode(told) // A string has a JSON form.
	w.out = append(append(w.out, w.raw[w.done:from]...), bytes.TrimSpace(buf.Bytes())...)
	w.done = w.at
}
