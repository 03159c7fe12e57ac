package main

import (
	"io"
	"os"
	"strings"
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

// plain makes text from the world fit for a terminal: no control characters,
// so that nothing observed can move the cursor or recolour the screen.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case r < 0x20 || r >= 0x7f && r < 0xa0:
			return '�'
		}
		return r
	}, s)
}
