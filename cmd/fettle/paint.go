package main

import (
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// paint colours text on a terminal, and leaves it alone elsewhere and under
// NO_COLOR.
type paint bool

func newPaint(w io.Writer) paint {
	f, ok := w.(*os.File)
	return paint(ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd())))
}

func (p paint) with(code, s string) string {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p paint) bold(s string) string  { return p.with("1", s) }
func (p paint) faint(s string) string { return p.with("2", s) }
func (p paint) good(s string) string  { return p.with("32", s) }
func (p paint) bad(s string) string   { return p.with("31", s) }
func (p paint) warn(s string) string  { return p.with("33", s) }

// pad fills s with spaces to a width in characters.
func pad(s string, width int) string {
	if n := width - utf8.RuneCountInString(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

// widest returns the width of the widest string, at most limit.
func widest(limit int, ss ...string) int {
	w := 0
	for _, s := range ss {
		w = max(w, utf8.RuneCountInString(s))
	}
	return min(w, limit)
}

// columns is the width of the terminal that w is, 0 where it is none.
func columns(w any) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	n, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return n
}

// wrap breaks a line at spaces so that it fits the width, and indents what
// follows. Colours take no room. A width below 24 is not kept to.
func wrap(line string, cols int) string {
	if cols < 24 {
		return line
	}
	indent := strings.Repeat(" ", min(len(line)-len(strings.TrimLeft(line, " "))+4, cols/2))
	var out strings.Builder
	used, empty := 0, true
	for i, word := range strings.SplitAfter(line, " ") {
		n := visible(word)
		if used+visible(strings.TrimRight(word, " ")) > cols && !empty && i > 0 {
			out.WriteString("\n" + indent)
			used = len(indent)
		}
		out.WriteString(word)
		used += n
		empty = empty && strings.TrimSpace(word) == ""
	}
	return out.String()
}

// visible counts the characters of s that take room on a terminal.
func visible(s string) int {
	n, escape := 0, false
	for _, r := range s {
		switch {
		case r == '\x1b':
			escape = true
		case escape:
			escape = r != 'm'
		default:
			n++
		}
	}
	return n
}

// plain makes text from the world fit for a terminal: no control characters,
// so that nothing observed can move the cursor or recolour the screen.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case r < 0x20 || r >= 0x7f && r < 0xa0 || unicode.Is(unicode.Cf, r): // Bytes that a terminal obeys, and letters that turn others round.
			return '�'
		}
		return r
	}, s)
}
