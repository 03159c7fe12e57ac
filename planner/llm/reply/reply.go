// Package reply reads a plan out of what a language model answered, and writes
// the schema that the answer is to follow.
//
// Reading is tolerant of what stands around an answer (thinking, prose, code
// fences, JSON within JSON, trailing commas, emphasis, numbers, markers) and
// strict about the answer itself. Of several JSON answers the first that can be
// read counts, one in a code fence before one in prose. Where there is none, a
// plan as text counts, in any form that a plan file may have: a code fence with
// nothing but steps in it, else the steps between the prose before and the prose
// after them. Nothing in such a plan that could be a step is passed over: what
// stands between steps and is none is a syntax violation, and so is a second
// plan that differs from the first. Two plans are never merged, and an answer
// that was cut is never repaired.
//
// It knows nothing of the model: whether an action exists is the validator's to
// say. Whatever the reply, [Parse] ends, in time in proportion to its length.
package reply

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

// Parsed is what a reply says: a plan, or that there is none. A reply that has
// neither is Unreadable.
type Parsed struct {
	Steps  []model.Step
	NoPlan bool   // the model says that there is no plan
	Reason string // why, in the model's words; "" where it does not say
	// Unreadable is what follows the steps and cannot be read; nil where all of
	// the answer could be. It counts as a step of the plan. Its line is that of
	// the reply.
	Unreadable *validator.SyntaxError
	// Tolerated says what was put up with to find the answer, a few words each.
	Tolerated []string
}

// Notes says in a sentence for a person what was put up with; nil for nothing.
func (p *Parsed) Notes() []string {
	if len(p.Tolerated) == 0 {
		return nil
	}
	return []string{"in the reply there was " + strings.Join(p.Tolerated, ", ")}
}

// maxReply is the longest reply that is read, in bytes.
const maxReply = 16 << 20

// form says how to answer; it ends the messages that go back to the model.
const form = `answer with {"steps": [{"action": "name", "args": ["arg", …]}], "no_plan": null}`

// Parse reads a reply. It never fails: a reply without a plan is Unreadable, and
// its message tells the model what to write. Whoever knows that a reply was cut
// does not have it read.
func Parse(text string) Parsed {
	if why := unfit(text); why != "" {
		return unreadable(1, why+"; "+form)
	}
	text = strings.TrimPrefix(text, "\ufeff")
	if a, ok := whole(text); ok {
		return a.Parsed
	}
	spoken, open := withoutThoughts(text)
	p, found := read(spoken)
	if open && (!found || p.Unreadable != nil) {
		if last, ok := lastDocument(text); ok {
			p = last
		}
	}
	if spoken != text {
		p.Tolerated = append([]string{"thinking before the answer"}, p.Tolerated...)
	}
	return p
}

// unfit says why a reply is not even looked into.
func unfit(text string) string {
	switch {
	case strings.TrimSpace(text) == "":
		return "the reply is empty"
	case len(text) > maxReply:
		return fmt.Sprintf("a reply of more than %d MiB is not read", maxReply>>20)
	case strings.IndexByte(text, 0) >= 0 || !utf8.ValidString(text):
		return "the reply is not text in UTF-8"
	case isPage(text):
		return "the reply is an HTML page"
	}
	return ""
}

func isPage(text string) bool {
	const enough = 64
	start := strings.TrimSpace(text)
	start = strings.ToLower(start[:min(len(start), enough)])
	return strings.HasPrefix(start, "<!doctype") || strings.HasPrefix(start, "<html")
}

func unreadable(line int, message string) Parsed {
	return Parsed{Unreadable: &validator.SyntaxError{Line: line, Message: message}}
}

// read finds the answer: as JSON, then as text. It tells whether there is one,
// be it one that breaks the rules.
func read(text string) (Parsed, bool) {
	lines := strings.Split(text, "\n")
	blocks := fenced(lines)
	broken, p, ok := document(text, blocks)
	if ok {
		return p, true
	}
	if broken != nil && broken.claims {
		return broken.Parsed, true
	}
	if p, ok := claim(lines); ok {
		return p, true
	}
	if p, ok := written(lines, blocks); ok {
		return p, true
	}
	if broken != nil {
		return broken.Parsed, true
	}
	return unreadable(1, "there is no plan in the reply; "+form+", or with why there is none in \"no_plan\""), false
}
