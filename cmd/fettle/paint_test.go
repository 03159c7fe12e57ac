package main

import (
	"strings"
	"testing"
)

func TestWrapKeepsToTheWidthAndLosesNothing(t *testing.T) {
	const text = "    1  drain(api)  \x1b[31min_lb(api) → false\x1b[0m, capacity → false, drained(api) → true and so on and on"
	got := wrap(text, 40)
	lines := strings.Split(got, "\n")
	if len(lines) < 2 {
		t.Fatalf("not wrapped: %q", got)
	}
	for _, l := range lines {
		if n := visible(strings.TrimRight(l, " ")); n > 40 {
			t.Errorf("%d characters: %q", n, l)
		}
	}
	if a, b := strings.Join(strings.Fields(got), " "), strings.Join(strings.Fields(text), " "); a != b {
		t.Errorf("words differ:\n%q\n%q", a, b)
	}
	if wrap(text, 0) != text {
		t.Error("wrapped where there is no terminal")
	}
}

func TestPlainKeepsTheTerminalSafe(t *testing.T) {
	if got := plain("a\x1b[2Jb\nc\u0085d"); got != "a�[2Jb c�d" {
		t.Errorf("%q", got)
	}
}
