// Package program asks any program for a plan: it reads the problem, with what
// was wrong with earlier plans, as JSON on its stdin and writes a plan to its
// stdout, in any form that a plan file may have, or {"no_plan": "why"}. So every
// planner in the world can be plugged in.
//
// Its lifetime and its output are bounded, and a call of it counts as a call of
// a model. What it writes is believed as little as what a model writes.
package program

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/planner/llm/prompt"
	"github.com/fettleops/fettle/planner/llm/reply"
	"github.com/fettleops/fettle/world/process"
)

// Settings are what a planner block of the kind exec says.
type Settings struct {
	Name      string
	Command   []string // a program and its arguments; never a shell's text
	Env       map[string]string
	Dir       string // where it runs
	Timeout   time.Duration
	MaxOutput int // bytes of stdout
	Notes     string
	Required  bool
	Feedback  prompt.Feedback
}

// Options are what a planner gets beside its own block.
type Options struct {
	Labels map[string]string // text from the world that bears on the run
}

// Planner asks a program.
type Planner struct {
	s Settings
	o Options
}

// New returns a planner that runs the settings' command.
func New(s Settings, o Options) *Planner { return &Planner{s, o} }

// Name returns the block's name.
func (p *Planner) Name() string { return p.s.Name }

// Question is what the program would be told.
func (p *Planner) Question(r planner.Request) Request { return newRequest(r, p.s, p.o) }

// Propose runs the program once.
func (p *Planner) Propose(ctx context.Context, r planner.Request) (planner.Proposal, error) {
	in, err := json.Marshal(p.Question(r))
	if err != nil {
		return planner.Proposal{}, fmt.Errorf("tell the problem: %w", err)
	}
	settle, err := r.Budget.Reserve(planner.Usage{Calls: 1})
	if err != nil {
		return planner.Proposal{}, err
	}
	out, err := run(ctx, p.s, in)
	usage := planner.Usage{Calls: 1}
	settle(usage)
	if err != nil {
		if p.s.Required && ctx.Err() == nil {
			err = &planner.FatalError{Err: err}
		}
		return planner.Proposal{Usage: usage}, err
	}
	proposal := p.read(out)
	proposal.Usage = usage
	return proposal, nil
}

// read turns what the program wrote into a proposal.
func (p *Planner) read(out []byte) planner.Proposal {
	if len(bytes.TrimSpace(out)) == 0 {
		return planner.Proposal{Verdict: planner.Empty, Reason: "the program wrote nothing"}
	}
	r := reply.Parse(string(out))
	if r.NoPlan {
		return planner.Proposal{Verdict: planner.SaysUnsolvable, Reason: model.Clip(r.Reason)}
	}
	return planner.Proposal{Steps: r.Steps, Unreadable: r.Unreadable, Notes: r.Notes()}
}

var errOutput = errors.New("more output than max_output allows")

// run returns the program's stdout.
func run(ctx context.Context, s Settings, in []byte) ([]byte, error) {
	pctx, cancel := context.WithTimeoutCause(ctx, s.Timeout, fmt.Errorf("no answer within its timeout of %s", s.Timeout))
	defer cancel()
	pctx, stop := context.WithCancelCause(pctx)
	defer stop(nil)
	stdout := &capped{left: s.MaxOutput, full: func() { stop(errOutput) }}
	stderr := &tail{}
	x := process.Process{Argv: s.Command, Env: process.Environment(s.Env), Dir: s.Dir, Stdin: string(in)}.Run(pctx, stdout, stderr)
	var err error
	switch {
	case !x.Started:
		err = x.Err
	case x.Killed:
		err = context.Cause(pctx)
	case x.Err != nil:
		err = x.Err
	case x.Code != 0:
		err = errors.New(x.Text)
	default:
		return stdout.b.Bytes(), nil
	}
	return nil, fmt.Errorf("program %q: %w%s", s.Command[0], err, stderr.said())
}

// capped takes so many bytes, and tells when more came.
type capped struct {
	b    bytes.Buffer
	left int
	full func()
}

func (c *capped) Write(b []byte) (int, error) {
	if len(b) > c.left {
		c.full()
		return 0, errOutput
	}
	c.left -= len(b)
	return c.b.Write(b)
}

// tail keeps the last of what is written.
type tail struct{ b []byte }

const tailSize = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.b = append(t.b, b...)
	if n := len(t.b); n > tailSize {
		t.b = append(t.b[:0], t.b[n-tailSize:]...)
	}
	return len(b), nil
}

// said returns the last line, for the end of a message.
func (t *tail) said() string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(t.b), "�")), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return ": " + model.Clip(last)
	}
	return ""
}
