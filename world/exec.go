package world

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/expr-lang/expr/types"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/world/process"
)

// execKind observes by what a program prints, and acts by running one.
//
// An answer offers stdout (trimmed), body (stdout decoded where it is JSON, the
// text otherwise) and exit_code. A program that fails has not answered, unless
// an expression looks at the exit code. One that a signal ended has no exit code
// and has not answered; where it acted, its outcome is in doubt.
//
// A program runs in a process group of its own, which is stopped with it when
// its time is over. A child that leaves the group (setsid) is not reached by
// that. A child that lives on after a normal end is left alone where the program
// acted, since it may be its job to start something, and is stopped where it
// observed or raised a fence; where it keeps the program's output open, either
// takes [process.WaitDelay] longer, the time for which more output is awaited.
func execKind() kind {
	question := []hcl.AttributeSchema{{Name: "command", Required: true}, {Name: "env"}, {Name: "dir"}, {Name: "timeout"}}
	return kind{
		name:       "exec",
		attributes: listAttributes(question),
		observe:    func(d *decoder) asker { return decodeExecObserve(d) },
		answers:    types.Map{"stdout": types.String, "body": types.Any, "exit_code": types.Int},
		verdict:    "exit_code",
		runAttributes: []hcl.AttributeSchema{
			{Name: "command", Required: true}, {Name: "env"}, {Name: "dir"}, {Name: "stdin"}, {Name: "success"},
		},
		run: func(d *decoder) actuator { return decodeExecRun(d) },
		fenceAttributes: []hcl.AttributeSchema{
			{Name: "command", Required: true}, {Name: "env"}, {Name: "dir"}, {Name: "reject", Required: true}, {Name: "timeout"},
		},
		fence:    func(d *decoder) raiser { return decodeExecFence(d) },
		question: question,
		discover: func(d *decoder) asker { return decodeExecObserve(d) },
	}
}

// command is what exec's blocks have in common.
type command struct{ argv, env, dir hcl.Expression }

func (d *decoder) process() command {
	return command{d.command("command"), d.expr("env", cty.Map(cty.String)), d.expr("dir", cty.String)}
}

func (c command) expressions() []hcl.Expression { return []hcl.Expression{c.argv, c.env, c.dir} }

// process evaluates the command. A relative program with a slash in it, and a
// relative directory, start at the model's folder; a bare program name is
// looked up in PATH.
func (c command) process(g *ground, folder string, fixed ...string) (process.Process, error) {
	argv, err := g.argv(c.argv)
	if err != nil {
		return process.Process{}, err
	}
	if strings.Contains(argv[0], "/") && !filepath.IsAbs(argv[0]) {
		argv[0] = filepath.Join(folder, argv[0])
	}
	env, err := g.texts(c.env)
	if err != nil {
		return process.Process{}, err
	}
	for name := range env {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return process.Process{}, fmt.Errorf("%q is not a name of an environment variable", name)
		}
	}
	dir, err := g.text(c.dir)
	if err != nil {
		return process.Process{}, err
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(folder, dir)
	}
	return process.Process{Argv: argv, Env: process.Environment(env, fixed...), Dir: dir}, nil
}

type execObserve struct {
	command
	folder  string
	timeout time.Duration
}

func decodeExecObserve(d *decoder) *execObserve {
	return &execObserve{d.process(), d.w.folder, d.duration("timeout", defaultAskTime)}
}

func (o *execObserve) query(g *ground) (query, error) {
	p, err := o.process(g, o.folder)
	if err != nil {
		return nil, err
	}
	return &execQuery{p, o.timeout}, nil
}

type execQuery struct {
	process.Process
	timeout time.Duration
}

func (q *execQuery) key() string {
	return fmt.Sprintf("exec %q %q %q %s", q.Argv, q.Env, q.Dir, q.timeout)
}

func (q *execQuery) source() Source { return Source{Kind: "exec", Query: commandLine(q.Argv)} }

// commandLine writes an argument list for a person.
func commandLine(argv []string) string {
	out := make([]string, len(argv))
	for i, a := range argv {
		if out[i] = a; a == "" || !utf8.ValidString(a) || strings.ContainsFunc(a, func(r rune) bool { return r <= ' ' || r == '\'' || r == '"' || !unicode.IsPrint(r) }) {
			out[i] = model.Quote(a)
		}
	}
	return strings.Join(out, " ")
}

func (q *execQuery) ask(ctx context.Context, w *World) answer {
	limit, cancel := context.WithTimeout(ctx, q.timeout)
	defer cancel()
	a := answer{sampled: time.Now()}
	stdout, why := &limited{max: maxBody}, &output{}
	stderr := &hiding{s: w.sensitive, to: why}
	x := q.Run(limit, stopAt{stdout, cancel}, stderr)
	stderr.flush()
	switch {
	case !x.Started:
		a.err = "not started: " + x.Err.Error()
	case stdout.more:
		a.err = fmt.Sprintf("the output is larger than %d KiB", maxBody>>10)
	case x.Killed:
		a.err, a.absent = fmt.Sprintf("no answer within %s", q.timeout), true
	case x.Err != nil:
		a.err = x.Err.Error()
	case x.Signalled(): // It did not come to an answer.
		a.err = withLines(x.Text, why.bytes())
	default:
		text := strings.TrimSpace(string(stdout.buf))
		a.env = map[string]any{"stdout": text, "body": a.decode([]byte(text), ""), "exit_code": x.Code}
		if x.Code != 0 {
			a.failed = withLines(x.Text, why.bytes())
		}
	}
	return a
}

// withLines adds an output's last lines to a text.
func withLines(text string, out []byte) string {
	if last := lastLines(out); last != "" {
		return text + ": " + last
	}
	return text
}
