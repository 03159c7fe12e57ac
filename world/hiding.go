package world

import (
	"bytes"
	"io"
)

// hiding is a writer that takes secrets out of what goes through it, wherever
// the text is divided into writes. It must be flushed at the end.
type hiding struct {
	s    *sensitive
	to   io.Writer
	rest []byte // may be the beginning of a secret
}

// Write passes on what is known to be no secret.
func (h *hiding) Write(p []byte) (int, error) {
	if h.s == nil {
		return h.to.Write(p)
	}
	out, rest := h.s.scan(nil, append(h.rest, p...), false)
	h.rest = bytes.Clone(rest)
	if _, err := h.to.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// flush passes on what is left. What a text ends with in the middle of a secret
// is taken out, too.
func (h *hiding) flush() {
	if len(h.rest) > 0 {
		_, _ = io.WriteString(h.to, h.s.beginning(string(h.rest)))
		h.rest = nil
	}
}
