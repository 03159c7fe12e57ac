package journal

import (
	"bytes"
	"encoding/json"
	"slices"
)

// minSecret is the length, in bytes, below which a text is not taken for a
// secret: it would be found everywhere.
const minSecret = 4

// Redact keeps the texts out of everything that is written from here on. It is
// called before the first event.
func (r *Run) Redact(secrets ...string) {
	for _, s := range secrets {
		if len(s) < minSecret {
			continue
		}
		r.secrets = append(r.secrets, []byte(s))
		if quoted, err := json.Marshal(s); err == nil && string(quoted[1:len(quoted)-1]) != s {
			r.secrets = append(r.secrets, quoted[1:len(quoted)-1])
		}
	}
	slices.SortStableFunc(r.secrets, func(a, b []byte) int { return len(b) - len(a) }) // One may begin another.
}

// Redacted returns JSON without the secrets of the run.
func (r *Run) Redacted(raw json.RawMessage) json.RawMessage {
	for _, s := range r.secrets {
		raw = bytes.ReplaceAll(raw, s, []byte("(sensitive)"))
	}
	return raw
}
