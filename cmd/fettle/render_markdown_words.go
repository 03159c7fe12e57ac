package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxWords is the most that a report has, in words as `wc -w` counts them:
// whatever the run was like, it is read in two minutes.
const maxWords = 500

// mdReport writes the parts of a report as Markdown. Each section gets its first
// entry; what is left of the words goes to further ones in turn, and each section
// says how many it does not list.
func mdReport(head []string, sections []section, foot []string) string {
	var full []section
	var empty []string
	for _, s := range sections {
		switch {
		case len(s.items) > 0:
			full = append(full, s)
		case s.none != "":
			empty = append(empty, s.none)
		}
	}
	if len(empty) > 0 {
		foot = append([]string{"None: " + strings.Join(empty, ", ")}, foot...)
	}
	listed := mdShare(full, maxWords-mdWords(head...)-mdWords(foot...))
	var b strings.Builder
	for _, line := range head {
		b.WriteString(line + "\n\n")
	}
	for i, s := range full {
		b.WriteString(mdHeading(s) + "\n\n" + strings.Join(mdBullets(s, listed[i]), "\n") + "\n\n")
	}
	b.WriteString(strings.Join(foot, "\n\n") + "\n")
	return b.String()
}

// mdShare decides how many entries of each section are listed within so many words.
func mdShare(sections []section, left int) []int {
	listed := make([]int, len(sections))
	done := make([]bool, len(sections))
	for _, s := range sections {
		left -= mdWords(mdHeading(s), mdRest(len(s.items)+s.more))
	}
	for going := true; going; {
		going = false
		for i, s := range sections {
			if done[i] || listed[i] == len(s.items) {
				continue
			}
			n := mdWords(mdBullet(s.items[listed[i]]))
			if n > left {
				done[i] = true
				continue
			}
			left -= n
			listed[i]++
			going = true
		}
	}
	return listed
}

func mdBullets(s section, n int) []string {
	var out []string
	for _, item := range s.items[:n] {
		out = append(out, mdBullet(item))
	}
	if more := len(s.items) - n + s.more; more > 0 {
		out = append(out, mdRest(more))
	}
	return out
}

func mdHeading(s section) string  { return "## " + s.title }
func mdBullet(item string) string { return "- " + item }
func mdRest(n int) string         { return fmt.Sprintf("- %d more, not listed here", n) }
func mdWords(lines ...string) int { return len(strings.Fields(strings.Join(lines, " "))) }
func mdName(s string) string      { return mdCode(s, 8, 100) }
func mdProse(s string) string     { return mdCode(s, 16, 200) }
func mdCommand(s string) string   { return mdCode(s, 12, 200) }

func mdNames(all []string) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = mdName(s)
	}
	return out
}

func mdProses(all []string) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = mdProse(s)
	}
	return out
}

// mdWord makes a status fit to stand bare: letters, digits and what a status has.
func mdWord(s string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" ()_", r)) {
			return r
		}
		return -1
	}, s)
}

// mdCode writes a text from the world as a code span, in which nothing is markup:
// on one line, of so many words and characters at most, within more backticks
// than it has in a row itself.
func mdCode(s string, most, length int) string {
	fields := strings.Fields(strings.Map(mdPrintable, strings.ToValidUTF8(s, "�")))
	cut := len(fields) > most
	if cut {
		fields = fields[:most]
	}
	s = strings.Join(fields, " ")
	if short := mdClip(s, length); short != s || cut {
		s = short + "…"
	}
	if s == "" {
		s = "-"
	}
	fence := strings.Repeat("`", longestRun(s, '`')+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// mdPrintable keeps what a reader sees: no control characters, and nothing that
// turns the direction of a line or has no width.
func mdPrintable(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
		return utf8.RuneError
	}
	return r
}

func mdClip(s string, length int) string {
	n := 0
	for at := range s {
		if n++; n > length {
			return s[:at]
		}
	}
	return s
}

func longestRun(s string, of rune) int {
	longest, run := 0, 0
	for _, r := range s {
		if r != of {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
