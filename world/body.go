package world

import (
	"bytes"
	"encoding/json"
)

// decodeBody decodes an answer that is JSON as a whole, whatever type the
// server gave it; anything else is a text.
func decodeBody(b []byte) any {
	b = bytes.TrimSpace(b)
	var v any
	if len(b) == 0 || json.Unmarshal(b, &v) != nil {
		return string(b)
	}
	return v
}
