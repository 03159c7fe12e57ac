package reply

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/fettleops/fettle/model"
)

// line is a line of a reply without what a chat puts around an action.
type line struct {
	raw    string // without the spaces around it
	indent int
	text   string // what is read as an action, or as a comment; "" for none
	tail   string // an explanation behind the action
	number int    // in a numbered list; -1 where there is none
	bullet bool
	parts  bool // a marker such as [PLAN], or a heading: a plan ends or begins here
	empty  bool // the plan without steps: ()
	wraps  bool // no more than the start or the end of what stands around the steps
}

var (
	numbered = regexp.MustCompile(`^(\d{1,6})(?:\.\d+)?(?:[.):]|\s?[-–])`)
	stepWord = regexp.MustCompile(`(?i)^(?:step|action)\s{0,2}(\d{1,6})\s{0,2}[.):–-]`)
	bulleted = regexp.MustCompile(`^(?:[-*+•–>])\s+`)
	marker   = regexp.MustCompile(`(?i)^(?:\[/?(?:[a-z]+[ _-])*plan(?:[ _-][a-z]+)*\]|</?(?:plan|answer|solution|output)>|#{2,6}\s.*)$`)
)

// dress takes the prefixes and the emphasis from a line.
func dress(raw string) line {
	const layers = 6
	l := line{raw: strings.TrimSpace(raw), number: -1}
	l.indent = len(raw) - len(strings.TrimLeft(raw, " \t"))
	s := l.raw
	if l.parts = s != "" && strings.Contains("[<#", s[:1]) && marker.MatchString(s); l.parts {
		return l
	}
	for range layers {
		inner := l.layer(s)
		if inner == s {
			break
		}
		s = inner
	}
	l.text = s
	return l
}

// layer takes one prefix, or one pair of marks, from what is left of a line.
func (l *line) layer(s string) string {
	if s == "" || s[0] == '(' { // As most steps begin.
		return s
	}
	for _, prefix := range []*regexp.Regexp{numbered, stepWord} {
		m := prefix.FindStringSubmatchIndex(s)
		if m == nil || !endsPrefix(s[m[1]:]) {
			continue
		}
		if l.number < 0 {
			l.number, _ = strconv.Atoi(s[m[2]:m[3]]) // Six digits.
		}
		return strings.TrimSpace(s[m[1]:])
	}
	if m := bulleted.FindString(s); m != "" {
		l.bullet = l.number < 0
		return s[len(m):]
	}
	for _, mark := range []string{"**", "*", "`"} {
		if !strings.HasPrefix(s, mark) {
			continue
		}
		if i := strings.Index(s[len(mark):], mark); i > 0 {
			return strings.TrimSpace(s[len(mark):len(mark)+i] + s[len(mark)+i+len(mark):])
		}
	}
	return s
}

// endsPrefix tells whether a prefix may be followed by this.
func endsPrefix(rest string) bool {
	return rest == "" || strings.ContainsRune(" \t(*`", rune(rest[0]))
}

// split parts an action from what follows it: a comma or a full stop, or an
// explanation. What could be another action stays where it is.
func (l *line) split() {
	end := actionEnd(l.text)
	if end == 0 {
		if w := l.text; model.Bare(w) && strings.ContainsRune(".:", rune(w[len(w)-1])) {
			l.text = "" // A word of prose.
		}
		return
	}
	tail := strings.TrimSpace(l.text[end:])
	switch {
	case tail == "" || strings.ContainsRune("#;([", rune(tail[0])):
	case strings.Trim(tail, ".,:") == "":
		l.text = l.text[:end]
	case explains(tail):
		l.text, l.tail = l.text[:end], tail
	}
}

func explains(tail string) bool {
	for _, mark := range []string{":", "-", "–", "—", "→", "=>", "//"} {
		if strings.HasPrefix(tail, mark) {
			return true
		}
	}
	return false
}

// loose tells whether a further step may stand in the explanation.
func (l *line) loose() bool { return strings.Contains(l.tail, "(") }

// called tells whether a text begins as an action with arguments does.
func called(text string) bool {
	if text == "" {
		return false
	}
	if text[0] == '(' {
		return true
	}
	i := strings.IndexByte(text, '(')
	return i > 0 && model.Bare(text[:i])
}

// actionEnd returns where the action with arguments ends that a text begins
// with; 0 where there is none.
func actionEnd(text string) int {
	if !called(text) {
		return 0
	}
	var quote byte
	for i := strings.IndexByte(text, '(') + 1; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '(':
			return 0
		case c == ')':
			return i + 1
		}
	}
	return 0
}
