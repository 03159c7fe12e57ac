package main

import (
	"strings"
	"testing"
)

// TestWaitingLineGivesWay: a line that is printed replaces the waiting one, and
// nothing of it is left at the end.
func TestWaitingLineGivesWay(t *testing.T) {
	var b strings.Builder
	l := newWaitingLine(&b)
	l.println("first")
	l.shown = true
	l.println("second")
	l.shown = true
	l.stop()
	if got, want := b.String(), "first\n\r\x1b[Ksecond\n\r\x1b[K"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
