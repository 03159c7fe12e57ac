package world

import (
	"fmt"
	"strings"
)

// maxOutput is how much of an action's output is kept.
const maxOutput = 64 << 10

// output keeps the head and the tail of what is written to it, in bounded
// memory.
type output struct {
	head  []byte
	tail  []byte // a ring once it is full
	next  int    // where the ring goes on
	total int
}

const (
	headSize = maxOutput / 2
	tailSize = maxOutput/2 - 64 // leaves room for the mark
)

// Write keeps what fits.
func (o *output) Write(p []byte) (int, error) {
	n := len(p)
	o.total += n
	if room := headSize - len(o.head); room > 0 {
		k := min(room, len(p))
		o.head = append(o.head, p[:k]...)
		p = p[k:]
	}
	if len(p) > tailSize {
		p = p[len(p)-tailSize:]
	}
	for len(p) > 0 {
		if len(o.tail) < tailSize {
			k := min(tailSize-len(o.tail), len(p))
			o.tail = append(o.tail, p[:k]...)
			p = p[k:]
			continue
		}
		k := copy(o.tail[o.next:], p)
		o.next = (o.next + k) % tailSize
		p = p[k:]
	}
	return n, nil
}

// cut tells whether something was left out.
func (o *output) cut() bool { return o.total > len(o.head)+len(o.tail) }

// bytes returns what was kept, with a mark where something was left out.
func (o *output) bytes() []byte {
	out := append([]byte(nil), o.head...)
	if o.cut() {
		out = append(out, fmt.Sprintf("\n… %d bytes left out …\n", o.total-len(o.head)-len(o.tail))...)
	}
	out = append(out, o.tail[o.next:]...)
	return append(out, o.tail[:o.next]...)
}

// limited keeps at most max bytes and remembers that there were more.
type limited struct {
	buf  []byte
	max  int
	more bool
}

// Write keeps what fits.
func (l *limited) Write(p []byte) (int, error) {
	n := len(p)
	if room := l.max - len(l.buf); n > room {
		l.more = true
		p = p[:room]
	}
	l.buf = append(l.buf, p...)
	return n, nil
}

// lastLines returns the last non-empty lines of an output, at most three, as
// one line.
func lastLines(out []byte) string {
	if len(out) > 4<<10 {
		out = out[len(out)-4<<10:]
	}
	var lines []string
	for _, l := range strings.Split(strings.ToValidUTF8(string(out), "�"), "\n") {
		if l = strings.TrimSpace(printable(l)); l != "" {
			lines = append(lines, l)
		}
	}
	if len(lines) > 3 {
		lines = lines[len(lines)-3:]
	}
	return clip(strings.Join(lines, " | "), 400)
}

// printable takes out control characters, which could write to a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\t' && r != '\n' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, s)
}
