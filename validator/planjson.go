package validator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

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
	switch {
	case errors.Is(err, errStopped):
		return false
	case src.err != nil:
		p.yield(model.Step{}, src.err)
		return false
	case err != nil:
		p.line = src.at(brokenAt(dec, src, err))
		p.bad(fmt.Sprintf("the plan is not well-formed JSON: %s; %s", jsonMessage(err), planForm))
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

func jsonMessage(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "it ends too early"
	}
	return err.Error()
}

// brokenAt returns the offset of the end, or of the value that is broken: the
// decoder's own offset is that of the value before it.
func brokenAt(dec *json.Decoder, src *lineCounter, err error) int64 {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return src.read
	}
	rest, _ := io.ReadAll(dec.Buffered()) // in memory
	return dec.InputOffset() + int64(len(rest)-len(bytes.TrimLeft(rest, " \t\r\n,:")))
}

// jsonPlan reads one JSON value: a document with steps, a list of steps, or a
// step.
type jsonPlan struct {
	*planReader
	dec *json.Decoder
	src *lineCounter
}

// jsonStep is a step as JSON writes it; other keys are left alone.
type jsonStep struct {
	Action *string         `json:"action"`
	Args   json.RawMessage `json:"args"`
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
	var alone struct {
		step  jsonStep
		steps bool
	}
	for j.dec.More() {
		key, err := j.dec.Token()
		if err != nil {
			return err
		}
		var value any = &json.RawMessage{}
		switch key {
		case "steps":
			alone.steps = true
			if err := j.list(); err != nil {
				return err
			}
			continue
		case "action":
			value = &alone.step.Action
		case "args":
			value = &alone.step.Args
		}
		var mistyped *json.UnmarshalTypeError
		if err := j.dec.Decode(value); err != nil && !errors.As(err, &mistyped) {
			return err
		}
	}
	if _, err := j.dec.Token(); err != nil {
		return err
	}
	j.line = j.src.at(j.dec.InputOffset())
	switch {
	case alone.steps:
		return nil
	case alone.step.Action == nil:
		return j.stop(j.bad(`a JSON object without "steps" is no plan; ` + planForm))
	}
	return j.step(alone.step, nil)
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
		return j.noStep(raw)
	}
	var step jsonStep
	if err := json.Unmarshal(raw, &step); err != nil || step.Action == nil {
		return j.noStep(raw)
	}
	return j.step(step, raw)
}

// step yields a step with arguments by position or by parameter name.
func (j *jsonPlan) step(s jsonStep, raw json.RawMessage) error {
	if raw == nil {
		raw, _ = json.Marshal(s)
	}
	j.args = j.args[:0]
	st := model.Step{Action: *s.Action, Line: j.line}
	dec := json.NewDecoder(bytes.NewReader(s.Args))
	dec.UseNumber()
	t, _ := dec.Token()
	switch t {
	case nil:
	case json.Delim('{'):
		st.Params = []string{}
	case json.Delim('['):
	default:
		return j.noStep(raw)
	}
	for t != nil && dec.More() {
		a, _ := dec.Token()
		if st.Params != nil {
			st.Params = append(st.Params, a.(string))
			a, _ = dec.Token()
		}
		switch a := a.(type) {
		case string:
			j.args = append(j.args, a)
		case json.Number:
			j.args = append(j.args, a.String())
		default:
			return j.noStep(raw)
		}
	}
	st.Args = j.args
	return j.stop(j.yield(st, nil))
}

func (j *jsonPlan) noStep(raw json.RawMessage) error {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		b.Write(raw)
	}
	return j.stop(j.bad(fmt.Sprintf(`%s is not a step; write {"action": "name", "args": ["arg", …]}`, shorten(b.Bytes()))))
}

func (j *jsonPlan) stop(more bool) error {
	if !more {
		return errStopped
	}
	return nil
}

// lineCounter tells in which line an offset of what was read through it lies.
type lineCounter struct {
	r        io.Reader
	line     int // of the offset asked last
	read     int64
	newlines []int64 // offsets behind the one asked last
	err      error   // of r, other than its end
}

func (c *lineCounter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	for i := range b[:n] {
		if b[i] == '\n' {
			c.newlines = append(c.newlines, c.read+int64(i))
		}
	}
	c.read += int64(n)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

// at returns the line of an offset, not before one asked earlier.
func (c *lineCounter) at(offset int64) int {
	k := 0
	for k < len(c.newlines) && c.newlines[k] < offset {
		k++
	}
	c.line += k
	c.newlines = append(c.newlines[:0], c.newlines[k:]...)
	return c.line
}
