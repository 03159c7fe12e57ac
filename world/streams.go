package world

import (
	"bytes"
	"io"
	"sync"
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

// maxHeldLine is how long a line may get, in bytes, before it is written
// although it is not over.
const maxHeldLine = 4 << 10

// joined writes what several streams of a program print to one place, line by
// line: a stream that does not end its line is kept apart from the next.
type joined struct {
	mu   sync.Mutex
	to   io.Writer
	open *stream // has written a line that is not over
}

// stream is one of them. It must be flushed at the end.
type stream struct {
	hiding
	lines
}

// lines holds back a line until it is over.
type lines struct {
	j    *joined
	of   *stream
	held []byte
}

// streams returns where a program's stdout and stderr go, for both to end in
// one text without the model's secrets.
func (w *World) streams(to io.Writer) (stdout, stderr *stream) {
	j := &joined{to: to}
	return j.stream(w.sensitive), j.stream(w.sensitive)
}

func (j *joined) stream(s *sensitive) *stream {
	n := &stream{}
	n.lines = lines{j: j, of: n}
	n.hiding = hiding{s: s, to: &n.lines}
	return n
}

// Write takes what the program prints.
func (s *stream) Write(p []byte) (int, error) { return s.hiding.Write(p) }

// flush writes what is left, be its line over or not.
func (s *stream) flush() {
	s.hiding.flush()
	s.j.mu.Lock()
	defer s.j.mu.Unlock()
	s.j.put(s, s.held)
	s.held = nil
}

// Write passes on the lines that are over.
func (l *lines) Write(p []byte) (int, error) {
	l.j.mu.Lock()
	defer l.j.mu.Unlock()
	l.held = append(l.held, p...)
	n := bytes.LastIndexByte(l.held, '\n') + 1
	if len(l.held)-n > maxHeldLine {
		n = len(l.held)
	}
	l.j.put(l.of, l.held[:n])
	l.held = append(l.held[:0], l.held[n:]...)
	return len(p), nil
}

// put writes a stream's text. Where it goes takes everything.
func (j *joined) put(s *stream, text []byte) {
	if len(text) == 0 {
		return
	}
	if j.open != nil && j.open != s {
		_, _ = j.to.Write([]byte{'\n'})
	}
	_, _ = j.to.Write(text)
	j.open = nil
	if text[len(text)-1] != '\n' {
		j.open = s
	}
}
