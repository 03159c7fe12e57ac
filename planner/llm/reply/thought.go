package reply

import (
	"regexp"
	"strings"
)

// thought is a tag around what a model thinks before it answers.
var thought = regexp.MustCompile(`(?i)</?(?:think|thinking|thought|reasoning|scratchpad)>`)

// withoutThoughts blanks the thinking, so that what is left stays in its lines,
// and tells whether it was never closed. An end without a start has all before
// it as thinking: some servers leave the start out.
func withoutThoughts(text string) (spoken string, open bool) {
	if !strings.Contains(text, "<") {
		return text, false
	}
	b := []byte(text)
	depth, from, unsaid := 0, 0, 0
	for _, tag := range thought.FindAllStringIndex(text, -1) {
		if text[tag[0]+1] != '/' {
			if depth == 0 {
				from = tag[0]
			}
			depth++
			continue
		}
		switch depth {
		case 0:
			unsaid = tag[1]
		case 1:
			blank(b[from:tag[1]])
		}
		depth = max(0, depth-1)
	}
	blank(b[:unsaid])
	if depth > 0 {
		blank(b[from:])
	}
	return string(b), depth > 0
}

// blank replaces all but line ends by spaces.
func blank(b []byte) {
	for i, c := range b {
		if c != '\n' {
			b[i] = ' '
		}
	}
}

// lastDocument reads the answer that ends a reply whose thinking was never
// closed: only a JSON answer is surely more than a thought.
func lastDocument(text string) (Parsed, bool) {
	end := len(strings.TrimRight(text, " \t\r\n`"))
	for at := 0; ; {
		v, ok := nextValue(text, at)
		if !ok {
			return Parsed{}, false
		}
		if v.to == end {
			a := interpret(text[v.from:v.to], lineAt(text, v.from), v.closed)
			return a.Parsed, a.fits && a.Unreadable == nil
		}
		at = v.to
	}
}

// lineAt returns the line of an offset, from 1.
func lineAt(text string, at int) int { return 1 + strings.Count(text[:at], "\n") }
