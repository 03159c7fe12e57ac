package validator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/fettleops/fettle/model"
)

const planForm = `write {"steps": [{"action": "name", "args": ["arg", …]}]}`

// json reads the JSON values that start with the line, then leaves the reader
// behind them; false where reading is over.
func (p *planReader) json(line []byte) bool {
	first := bytes.NewReader(slices.Concat(line, p.pending))
	src := &lineCounter{r: io.MultiReader(first, p.r), line: p.line}
	dec := json.NewDecoder(src)
	dec.UseNumber()
	j := &jsonPlan{planReader: p, dec: dec, src: src}
	err := j.value()
	for err == nil && j.another() {
		err = j.value()
	}
	p.line = src.at(dec.InputOffset())
	cut := src.err == nil && endsEarly(dec, src, err)
	switch {
	case errors.Is(err, errStopped):
		return false
	case errors.Is(src.err, errTooLong):
		p.bad(fmt.Sprintf("a JSON value of more than %d MiB is no step", maxLine>>20))
		return false
	case src.err != nil:
		p.yield(model.Step{}, src.err)
		return false
	case err != nil:
		p.line = src.at(brokenAt(dec, src, cut))
		p.bad(fmt.Sprintf("the plan is not well-formed JSON: %s; %s", jsonMessage(err, cut), planForm))
		return false
	}
	p.pending, _ = io.ReadAll(io.MultiReader(dec.Buffered(), first)) // in memory
	if len(p.pending) > 0 {
		p.line-- // the rest of this line is counted as a line again
	}
	return true
}

// another tells whether a further JSON value follows; it skips the space before it.
func (j *jsonPlan) another() bool {
	if !j.dec.More() {
		return false
	}
	var b [1]byte
	_, _ = j.dec.Buffered().Read(b[:]) // in memory
	return b[0] == '{' || b[0] == '['
}

// errStopped says that the consumer has had enough.
var errStopped = errors.New("stopped")

// endsEarly tells whether a value is broken only because the input ends, be it in
// the middle of a string with a last line end behind it.
func endsEarly(dec *json.Decoder, src *lineCounter, err error) bool {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return true
	}
	if err == nil || !strings.Contains(err.Error(), `\n' in string literal`) && !strings.Contains(err.Error(), `\r' in string literal`) {
		return false
	}
	rest, _ := io.ReadAll(dec.Buffered()) // in memory
	return !bytes.ContainsAny(trim(rest), "\r\n") && src.ended()
}

func jsonMessage(err error, cut bool) string {
	if cut {
		return "it ends too early"
	}
	return err.Error()
}

// brokenAt returns the offset of the end, or of the value that is broken: the
// decoder's own offset is that of the value before it.
func brokenAt(dec *json.Decoder, src *lineCounter, cut bool) int64 {
	rest, _ := io.ReadAll(dec.Buffered()) // in memory
	if cut {
		return dec.InputOffset() + int64(len(bytes.TrimRight(rest, " \t\r\n")))
	}
	return dec.InputOffset() + int64(len(rest)-len(bytes.TrimLeft(rest, " \t\r\n,:")))
}

// jsonPlan reads one JSON value: a document with steps, a list of steps, or a
// step.
type jsonPlan struct {
	*planReader
	dec *json.Decoder
	src *lineCounter
}

func (j *jsonPlan) value() error {
	t, err := j.dec.Token()
	if err != nil {
		return err
	}
	if t == json.Delim('[') {
		return j.steps()
	}
	return j.object()
}

// object reads the rest of a document, or of a step that stands alone.
func (j *jsonPlan) object() error {
	var step jsonStep
	steps := false
	for j.dec.More() {
		key, err := j.dec.Token()
		if err != nil {
			return err
		}
		j.line = j.src.at(j.dec.InputOffset())
		switch {
		case key == "steps" && steps:
			if err = j.stop(j.bad(`"steps" is given twice; ` + planForm)); err == nil {
				err = j.dec.Decode(&json.RawMessage{})
			}
		case key == "steps":
			steps = true
			err = j.list()
		default:
			var value json.RawMessage
			if err = j.dec.Decode(&value); err == nil {
				step.part(key.(string), value) // a key is a string
			}
		}
		if err != nil {
			return err
		}
	}
	if _, err := j.dec.Token(); err != nil {
		return err
	}
	j.line = j.src.at(j.dec.InputOffset())
	switch {
	case steps:
		return nil
	case step.action == nil:
		return j.stop(j.bad(`a JSON object without "steps" is no plan; ` + planForm))
	}
	return j.step(&step)
}

// list reads the value of "steps".
func (j *jsonPlan) list() error {
	t, err := j.dec.Token()
	if err != nil {
		return err
	}
	if t == json.Delim('[') {
		return j.steps()
	}
	j.line = j.src.at(j.dec.InputOffset())
	if err := j.stop(j.bad(`"steps" is not a list; ` + planForm)); err != nil {
		return err
	}
	for depth := nesting(t, 0); depth > 0; depth = nesting(t, depth) {
		if t, err = j.dec.Token(); err != nil {
			return err
		}
	}
	return nil
}

func nesting(t json.Token, depth int) int {
	switch t {
	case json.Delim('{'), json.Delim('['):
		return depth + 1
	case json.Delim('}'), json.Delim(']'):
		return depth - 1
	}
	return depth
}

// steps reads a list's elements and its end.
func (j *jsonPlan) steps() error {
	for j.dec.More() {
		var raw json.RawMessage
		if err := j.dec.Decode(&raw); err != nil {
			return err
		}
		j.line = j.src.at(j.dec.InputOffset()) - bytes.Count(raw, []byte("\n"))
		if err := j.element(raw); err != nil {
			return err
		}
	}
	_, err := j.dec.Token()
	return err
}

// element reads one step: an object, or a string in the grammar of atoms.
func (j *jsonPlan) element(raw json.RawMessage) error {
	if raw[0] == '"' {
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return err
		}
		if name, args, err := model.ParseAtom(s); err == nil {
			j.args = append(j.args[:0], args...)
			return j.stop(j.emit(name))
		}
		return j.noStep(&jsonStep{whole: raw})
	}
	step := jsonStep{whole: raw}
	if raw[0] != '{' {
		return j.noStep(&step)
	}
	members(raw, func(key, value []byte) { step.part(j.literal(key), value) })
	return j.step(&step)
}

// step yields a step, or what is wrong with it.
func (j *jsonPlan) step(s *jsonStep) error {
	if s.twice != "" || s.action == nil || s.action[0] != '"' {
		return j.noStep(s)
	}
	st := model.Step{Action: j.literal(s.action), Line: j.line}
	twice, ok := j.arguments(&st, s.args)
	if !ok {
		s.twice = twice
		return j.noStep(s)
	}
	return j.stop(j.yield(st, nil))
}

// noStep yields a value that is no step, or in which a key is given twice.
func (j *jsonPlan) noStep(s *jsonStep) error {
	text := strings.Map(shown, shorten(s.text()))
	why := ""
	if s.twice != "" {
		why = fmt.Sprintf(": %q is given twice", shorten([]byte(s.twice)))
	}
	return j.stop(j.yield(model.Step{}, &SyntaxError{j.line, text + " is not a step" + why + `; write {"action": "name", "args": ["arg", …]}`, text}))
}

// shown replaces what a terminal would not show as it is.
func shown(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return unicode.ReplacementChar
}

func (j *jsonPlan) stop(more bool) error {
	if !more {
		return errStopped
	}
	return nil
}
