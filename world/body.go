package world

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// decode decodes an answer that is JSON as a whole, whatever type the server
// gave it; anything else is a text. It notes what is to be said where the body
// cannot be what an expression takes it for.
func (a *answer) decode(b []byte, mediaType string) any {
	b = bytes.TrimSpace(b)
	var v any
	if len(b) == 0 || json.Unmarshal(b, &v) != nil {
		a.notJSON = notJSON(string(b), mediaType)
		return string(b)
	}
	if key, twice := repeated(b); twice {
		a.twice = fmt.Sprintf("the answer gives the key %q twice", clip(key, 60))
	}
	return v
}

// notJSON says what an answer is instead.
func notJSON(text, mediaType string) string {
	if mediaType != "" {
		mediaType = " (" + clip(mediaType, 60) + ")"
	}
	if text == "" {
		return "the answer is empty, and not JSON" + mediaType
	}
	return "the answer is not JSON" + mediaType + ": " + clip(text, 80)
}

// repeated finds a key that an object in well-formed JSON has twice: nobody can
// tell which of the values is meant.
func repeated(b []byte) (key string, twice bool) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var open []*level
	for {
		t, err := dec.Token()
		if err != nil {
			return "", false // the end
		}
		top := &level{}
		if len(open) > 0 {
			top = open[len(open)-1]
		}
		switch t {
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
			continue
		}
		if name, ok := t.(string); ok && top.keys != nil && !top.value {
			if top.keys[name] {
				return name, true
			}
			top.keys[name], top.value = true, true
			continue
		}
		top.value = false
		switch t {
		case json.Delim('{'):
			open = append(open, &level{keys: map[string]bool{}})
		case json.Delim('['):
			open = append(open, &level{})
		}
	}
}

// level is an object or a list that is being read.
type level struct {
	keys  map[string]bool // nil: a list
	value bool            // the value of a key comes next
}
