package reply

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

// answer is what a JSON value says.
type answer struct {
	Parsed
	fits   bool // it has the shape of an answer, be it with a mistake in it
	bare   bool // it is one step, outside of a list
	claims bool // it is no answer, but means to be one
}

// interpret reads a JSON value that begins in a line. One that is not
// well-formed is never repaired, but for commas before a closing bracket.
func interpret(doc string, line int, closed bool) answer {
	doc, commas := withoutTrailingCommas(doc)
	var a answer
	switch {
	case !closed || !json.Valid([]byte(doc)):
		a.Parsed = readSteps(doc, line)
		a.Steps = nil
		a.claims = !closed || strings.Contains(doc, `"steps"`) || strings.Contains(doc, `"action"`) || strings.Contains(doc, `"no_plan"`)
		return a
	case doc[0] == '{':
		a = object(doc, line)
	default:
		a = list(doc, line)
	}
	if commas {
		a.Tolerated = append(a.Tolerated, "trailing commas")
	}
	return a
}

// member is a key of an object and its value, as written.
type member struct {
	key string
	raw json.RawMessage
}

// scalar tells whether no step could be in the value.
func (m member) scalar() bool { return m.raw[0] != '{' && m.raw[0] != '[' }

// members returns those of a well-formed object in the order written.
func members(doc []byte) []member {
	dec := json.NewDecoder(strings.NewReader(string(doc)))
	if _, err := dec.Token(); err != nil {
		return nil
	}
	var out []member
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return out
		}
		m := member{key: fmt.Sprint(key)}
		if err := dec.Decode(&m.raw); err != nil {
			return out
		}
		out = append(out, m)
	}
	return out
}

// list reads a list of steps that stands without the object around it. Words
// alone are no steps here: prose may list objects so.
func list(doc string, line int) answer {
	var elements []json.RawMessage
	if err := json.Unmarshal([]byte(doc), &elements); err != nil {
		return answer{}
	}
	isStep := func(e json.RawMessage) bool {
		return e[0] == '"' && slices.Contains(e, '(') || e[0] == '{' && has(members(e), "action")
	}
	if !slices.ContainsFunc(elements, isStep) {
		return answer{Parsed: unreadable(line, "a list without actions is no plan; "+form)}
	}
	return answer{Parsed: strictly(doc, line, elements), fits: true}
}

func has(ms []member, key string) bool {
	return slices.ContainsFunc(ms, func(m member) bool { return m.key == key })
}

// object reads an answer, or a step that stands alone.
func object(doc string, line int) answer {
	ms := members([]byte(doc))
	switch {
	case has(ms, "steps") || has(ms, "no_plan"):
		return whollySaid(doc, line, ms)
	case has(ms, "action"):
		return answer{Parsed: strictly(doc, line, []json.RawMessage{json.RawMessage(doc)}), fits: true, bare: true}
	}
	return answer{Parsed: readSteps(doc, line)}
}

// whollySaid reads an object with the members of an answer.
func whollySaid(doc string, line int, ms []member) answer {
	var steps, none json.RawMessage
	var notes []string
	for _, m := range ms {
		switch {
		case m.key == "steps":
			steps = m.raw
		case m.key == "no_plan" && none != nil:
			return answer{Parsed: unreadable(line, `"no_plan" is given twice; `+form), fits: true}
		case m.key == "no_plan":
			none = m.raw
		case !m.scalar():
			return answer{Parsed: unreadable(line, fmt.Sprintf("%q has no place in an answer; %s", model.Clip(m.key), form)), fits: true}
		default:
			notes = append(notes, fmt.Sprintf("a key %q, which an answer does not have", model.Clip(m.key)))
		}
	}
	if inner, ok := decoded(string(steps)); ok && json.Valid([]byte(inner)) {
		doc, steps = `{"steps":`+inner+`}`, json.RawMessage(inner)
		notes = append(notes, "JSON within JSON")
	}
	p := said(doc, line, steps, none)
	p.Tolerated = append(p.Tolerated, notes...)
	return answer{Parsed: p, fits: true}
}

// said makes out whether there is a plan or none.
func said(doc string, line int, steps, none json.RawMessage) Parsed {
	reason, isNone, ok := refusal(none)
	var elements []json.RawMessage
	given := json.Unmarshal(steps, &elements) == nil && len(elements) > 0
	switch {
	case !ok:
		return unreadable(line, `"no_plan" says why there is no plan, or is null; `+form)
	case isNone && (given || elements == nil && steps != nil && string(steps) != "null"):
		return unreadable(line, `"steps" and "no_plan" exclude each other; `+form)
	case isNone:
		return Parsed{NoPlan: true, Reason: reason}
	case steps == nil:
		return unreadable(line, `an answer without "steps" is no plan; `+form)
	}
	return strictly(doc, line, elements)
}

// refusal reads the value of "no_plan"; ok is false where it is of the wrong
// sort. An empty reason is none, as is false.
func refusal(none json.RawMessage) (reason string, isNone, ok bool) {
	if none == nil {
		return "", false, true
	}
	switch string(none) {
	case "null", "false":
		return "", false, true
	case "true":
		return "", true, true
	}
	if json.Unmarshal(none, &reason) != nil {
		return "", false, false
	}
	reason = strings.TrimSpace(reason)
	return reason, reason != "", true
}

// strictly reads a document's steps, up to the first that says more than a step
// does: what could hold further steps, or a condition of this one.
func strictly(doc string, line int, elements []json.RawMessage) Parsed {
	p := readSteps(doc, line)
	for i, e := range elements[:min(len(elements), len(p.Steps))] {
		if e[0] != '{' {
			continue
		}
		for _, m := range members(e) {
			if m.key == "action" || m.key == "args" {
				continue
			}
			if !m.scalar() {
				at := p.Steps[i].Line
				p.Steps = p.Steps[:i]
				p.Unreadable = &validator.SyntaxError{Line: at, Message: fmt.Sprintf(`%q has no place in a step; write {"action": "name", "args": ["arg", …]}`, model.Clip(m.key))}
				return p
			}
			p.Tolerated = noted(p.Tolerated, fmt.Sprintf("a key %q, which a step does not have", model.Clip(m.key)))
		}
	}
	return p
}

// noted adds a note that is not there yet.
func noted(notes []string, note string) []string {
	if slices.Contains(notes, note) {
		return notes
	}
	return append(notes, note)
}

// readSteps reads a plan that begins in a line, up to what cannot be read.
func readSteps(plan string, line int) Parsed {
	var p Parsed
	for st, err := range validator.ReadPlan(strings.NewReader(strings.Repeat("\n", line-1) + plan)) {
		if err != nil {
			p.Unreadable = asSyntax(err)
			return p
		}
		p.Steps = append(p.Steps, cloned(st))
	}
	return p
}

// asSyntax returns the violation that an error of reading is: in memory, nothing
// else can go wrong.
func asSyntax(err error) *validator.SyntaxError {
	var e *validator.SyntaxError
	if !errors.As(err, &e) {
		e = &validator.SyntaxError{Line: 1, Message: err.Error()}
	}
	return e
}

// cloned returns a step of its own: a reader reuses its slices.
func cloned(st model.Step) model.Step {
	st.Args, st.Params = slices.Clone(st.Args), slices.Clone(st.Params)
	return st
}
