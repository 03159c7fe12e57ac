package validator

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"iter"

	"github.com/fettleops/fettle/model"
)

// SyntaxError is a place in a plan that is no action. It counts as a step.
type SyntaxError struct {
	Line    int // from 1
	Message string

	// text is what is written there, shortened; "" where it is not one step that
	// could be taken out or replaced.
	text string
}

// Error returns the message with its line.
func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Message) }

const (
	bufferSize = 64 << 10
	maxLine    = 16 << 20 // bytes; a longer line is a syntax violation
)

// ReadPlan reads a plan as a stream: text with one action a line, PDDL, or
// JSON, told apart by content. What cannot be read is a *SyntaxError in the
// sequence, after which it goes on where that is possible; any other error is
// one of r and ends it. The slices of a yielded step are reused, its strings
// are not. The sequence can be read once.
func ReadPlan(r io.Reader) iter.Seq2[model.Step, error] {
	return func(yield func(model.Step, error) bool) {
		p := &planReader{r: bufio.NewReaderSize(r, bufferSize), yield: yield, names: newNames()}
		p.read()
	}
}

// planReader is one reading of a plan.
type planReader struct {
	r       *bufio.Reader
	pending []byte // to be read before r: what a JSON decoder read too far
	yield   func(model.Step, error) bool
	names   *names
	line    int    // of what was read last
	long    []byte // a line that is not whole in the buffer
	args    []string
	why     string // why a line that begins like an action is none
}

// read reads lines until the end; a line that starts a JSON value hands over
// to the JSON reader, which comes back behind the value.
func (p *planReader) read() {
	if bom, err := p.r.Peek(3); err == nil && string(bom) == "\ufeff" {
		_, _ = p.r.Discard(3)
	}
	for {
		if p.jsonAhead() { // not read as a line, which may be the whole plan
			p.line++
			if !p.json(nil) {
				return
			}
		}
		line, err := p.next()
		text := trim(line)
		switch {
		case len(line) > maxLine:
			if !p.bad(fmt.Sprintf("a line of more than %d MiB is no action", maxLine>>20)) {
				return
			}
		case len(text) > 0 && (text[0] == '{' || text[0] == '['):
			if !p.json(line) {
				return
			}
			continue // the end of the input, if it was that, is met again
		case !p.text(text):
			return
		}
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			p.yield(model.Step{}, err)
			return
		}
	}
}

// jsonAhead tells whether the next line begins with a JSON value.
func (p *planReader) jsonAhead() bool {
	b, _ := p.r.Peek(1)
	return len(p.pending) == 0 && len(b) == 1 && (b[0] == '{' || b[0] == '[')
}

// next returns the next line, with its end; at the end of the input what is
// left and an error. The line is valid until the next call.
func (p *planReader) next() ([]byte, error) {
	if i := bytes.IndexByte(p.pending, '\n'); i >= 0 {
		line := p.pending[:i+1]
		p.pending = p.pending[i+1:]
		p.line++
		return line, nil
	}
	line, err := p.r.ReadSlice('\n')
	if len(p.pending) > 0 || errors.Is(err, bufio.ErrBufferFull) {
		line, err = p.join(line, err)
	}
	if len(line) > 0 {
		p.line++
	}
	return line, err
}

// join gathers a line that is partly pending, or longer than the buffer.
func (p *planReader) join(line []byte, err error) ([]byte, error) {
	p.long = append(append(p.long[:0], p.pending...), line...)
	p.pending = nil
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = p.r.ReadSlice('\n')
		if len(p.long) <= maxLine {
			p.long = append(p.long, line...)
		}
	}
	return p.long, err
}

// bad yields a syntax violation at the present line.
func (p *planReader) bad(message string) bool {
	return p.yield(model.Step{}, &SyntaxError{Line: p.line, Message: message})
}

// emit yields a step with the arguments gathered.
func (p *planReader) emit(action string) bool {
	return p.yield(model.Step{Action: action, Args: p.args, Line: p.line}, nil)
}

// names gives equal names one string, so that a repeated name costs no
// allocation. It is bounded: names met later are allocated each time. Those met
// last are found without asking the map.
type names struct {
	seed maphash.Seed
	last [lastNames]string
	all  map[string]string
}

const (
	lastNames  = 1 << 10
	maxNames   = 1 << 17
	maxNameLen = 256
)

func newNames() *names { return &names{seed: maphash.MakeSeed(), all: map[string]string{}} }

func (n *names) of(b []byte) string {
	last := &n.last[maphash.Bytes(n.seed, b)%lastNames]
	if *last == string(b) {
		return *last
	}
	s, ok := n.all[string(b)]
	if !ok {
		s = string(b)
		if len(s) > maxNameLen {
			return s
		}
		if len(n.all) < maxNames {
			n.all[s] = s
		}
	}
	*last = s
	return s
}
