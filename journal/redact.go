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

// RedactBy takes more than the secrets out of everything that is written from
// here on: what looks like one, say. It gets JSON and returns JSON, and knows what
// in it must stay. It is called before the first event.
func (r *Run) RedactBy(hide func(json.RawMessage) json.RawMessage) { r.hide = hide }

// Redacted returns JSON without the secrets of the run, and without what
// [Run.RedactBy] takes out.
func (r *Run) Redacted(raw json.RawMessage) json.RawMessage {
	raw = r.WithoutSecrets(raw)
	if r.hide != nil {
		raw = r.hide(raw)
	}
	return raw
}

// WithoutSecrets returns JSON without the secrets of the run, and otherwise as it is.
func (r *Run) WithoutSecrets(raw json.RawMessage) json.RawMessage {
	for _, s := range r.secrets {
		raw = bytes.ReplaceAll(raw, s, []byte("(sensitive)"))
	}
	return raw
}
