package reply

import (
	"encoding/json"
	"fmt"
	"strings"
)

// maxValues is how many JSON values of a reply are looked into.
const maxValues = 256

// whole reads a reply that is one JSON value and nothing else, be it encoded
// twice. Whatever it says is the answer; ok is false where it says nothing.
func whole(text string) (a answer, ok bool) {
	doc := strings.TrimSpace(text)
	line := lineAt(text, strings.Index(text, doc))
	inner, twice := undone(doc)
	if twice {
		doc = inner
	}
	if doc[0] != '{' && doc[0] != '[' {
		return answer{}, false
	}
	var words []string
	if json.Unmarshal([]byte(doc), &words) == nil { // As in ["fit", "on"], or [].
		a = answer{Parsed: readSteps(doc, line), fits: true}
	} else {
		a = interpret(doc, line, true)
	}
	if twice {
		a.Tolerated = append(a.Tolerated, "JSON within JSON")
	}
	return a, a.fits
}

// undone decodes as often as a value was encoded, within reason.
func undone(doc string) (string, bool) {
	const most = 3
	twice := false
	for range most {
		inner, ok := decoded(doc)
		if !ok {
			break
		}
		doc, twice = strings.TrimSpace(inner), true
	}
	return doc, twice && (doc[0] == '{' || doc[0] == '[')
}

// found is a JSON value of a reply, and where it stands.
type found struct {
	answer
	from, to, line int
	inFence        bool
}

// document finds the JSON answer of a reply: the first that can be read, one in
// a fence before one in prose; else the first that has the shape of one. Where
// there is none, broken is a value that is no answer, nil without any.
func document(text string, blocks []block) (broken *answer, p Parsed, ok bool) {
	all := values(text, blocks)
	if e, ok := encoded(text); ok {
		all = append(all, e)
	}
	best := -1
	for i, f := range all {
		if f.fits && (best < 0 || rank(f) > rank(all[best])) {
			best = i
		}
		if !f.fits && (broken == nil || f.claims && !broken.claims) {
			broken = &all[i].answer
		}
	}
	if best < 0 {
		return broken, Parsed{}, false
	}
	return nil, choose(text, all, best), true
}

// rank orders answers: what can be read, then what stands in a fence.
func rank(f found) int {
	n := 0
	if f.Unreadable == nil {
		n += 2
	}
	if f.inFence {
		n++
	}
	return n
}

// choose returns an answer with notes of what stands around it. A step that
// stands alone is the whole plan only where there is no other.
func choose(text string, all []found, best int) Parsed {
	f := all[best]
	p := f.Parsed
	others := 0
	for i, g := range all {
		if i == best || !g.fits {
			continue
		}
		if f.bare && g.bare && p.Unreadable == nil {
			p.Unreadable = unreadable(g.line, "this step stands apart from the others; "+form).Unreadable
		}
		if !g.bare {
			others++
		}
	}
	rest := text[:f.from] + "\n" + text[f.to:]
	if f.bare && p.Unreadable == nil && calls(rest) {
		p.Unreadable = unreadable(f.line, "this step stands apart from the others; "+form).Unreadable
	}
	prose, fence := chatter(rest)
	if prose {
		p.Tolerated = append(p.Tolerated, "text around the answer")
	}
	if fence {
		p.Tolerated = append(p.Tolerated, "a code fence")
	}
	if others > 0 {
		p.Tolerated = append(p.Tolerated, fmt.Sprintf("%d answers, of which the first that can be read is used", others+1))
	}
	return p
}

// calls tells whether a line of a text begins as an action does.
func calls(text string) bool {
	for l := range strings.SplitSeq(text, "\n") {
		if called(dress(l).text) {
			return true
		}
	}
	return false
}

// chatter tells whether there is prose, and whether there are fences, in what
// stands around an answer.
func chatter(rest string) (prose, fence bool) {
	for l := range strings.SplitSeq(rest, "\n") {
		mark, _ := fenceOf(l)
		fence = fence || mark != ""
		prose = prose || mark == "" && strings.TrimSpace(l) != ""
	}
	return prose, fence
}

// values reads the JSON values of a reply in order; steps that follow each
// other, one a line, are one.
func values(text string, blocks []block) []found {
	var out []found
	line, counted, at := 1, 0, 0
	for range maxValues {
		v, ok := nextValue(text, at)
		if !ok {
			break
		}
		line += strings.Count(text[counted:v.from], "\n")
		counted = v.from
		if inAction(text[:v.from]) {
			at = v.from + 1
			continue
		}
		f := found{interpret(text[v.from:v.to], line, v.closed), v.from, v.to, line, false}
		for len(blocks) > 0 && blocks[0].to < line {
			blocks = blocks[1:]
		}
		f.inFence = len(blocks) > 0 && blocks[0].from < line
		if f.bare {
			f = together(text, f)
		}
		at = f.to
		out = append(out, f)
	}
	return out
}

// inAction tells whether a text ends within an action of a plan as text: what
// comes then is part of a name.
func inAction(text string) bool {
	const far = 4 << 10
	start := strings.LastIndexByte(text[max(0, len(text)-far):], '\n') + 1
	l := dress(text[max(0, len(text)-far):][start:])
	s := strings.TrimLeft(l.text, "*`")
	if !called(s) {
		return false
	}
	open, quote := within(s)
	return open > 0 || quote
}

// together joins a step with those that follow it with nothing between them.
func together(text string, f found) found {
	var doc strings.Builder
	doc.WriteString(text[f.from:f.to])
	steps := []json.RawMessage{json.RawMessage(text[f.from:f.to])}
	for {
		v, ok := nextValue(text, f.to)
		if !ok || !v.closed || strings.Trim(text[f.to:v.from], " \t\r\n,") != "" {
			break
		}
		next := text[v.from:v.to]
		if !json.Valid([]byte(next)) || next[0] != '{' || !has(members([]byte(next)), "action") {
			break
		}
		doc.WriteString(strings.ReplaceAll(text[f.to:v.from], ",", " ") + next)
		steps = append(steps, json.RawMessage(next))
		f.to = v.to
	}
	if len(steps) > 1 {
		f.Parsed = strictly(doc.String(), f.line, steps)
	}
	return f
}

// encoded finds a value that was encoded twice and stands in prose.
func encoded(text string) (found, bool) {
	if !strings.Contains(text, `\"`) {
		return found{}, false
	}
	at, to := escaped.FindStringIndex(text), strings.LastIndexByte(text, '}')
	if at == nil || to < at[0] || inAction(text[:at[0]]) {
		return found{}, false
	}
	from := at[0]
	inner, ok := undone(text[from : to+1])
	if !ok {
		return found{}, false
	}
	line := lineAt(text, from)
	f := found{interpret(inner, line, true), from, to + 1, line, false}
	f.Tolerated = append(f.Tolerated, "JSON within JSON")
	return f, f.fits
}
