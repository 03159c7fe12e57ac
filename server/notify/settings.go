package notify

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"golang.org/x/net/http/httpguts"
)

// Settings are what a notify block says.
type Settings struct {
	Kind, Name string
	On         []Occasion
	After      time.Duration // how long a wait lasts before it is WaitingLong
	Timeout    time.Duration // of one try

	URL, Method string // of the kind http
	Headers     map[string]string

	Command []string // of the kind exec: a program and its arguments, no shell's text
	Env     map[string]string
	Dir     string // where it runs
}

const (
	defaultTimeout = 10 * time.Second
	defaultAfter   = 15 * time.Minute
	defaultMethod  = "POST"
)

// common are the attributes of every kind.
type common struct {
	On      []string `hcl:"on,optional"`
	After   string   `hcl:"after,optional"`
	Timeout string   `hcl:"timeout,optional"`
}

type httpBody struct {
	URL     string            `hcl:"url"`
	Method  string            `hcl:"method,optional"`
	Headers map[string]string `hcl:"headers,optional"`
	Rest    hcl.Body          `hcl:",remain"`
}

type execBody struct {
	Command []string          `hcl:"command"`
	Env     map[string]string `hcl:"env,optional"`
	Dir     string            `hcl:"dir,optional"`
	Rest    hcl.Body          `hcl:",remain"`
}

// Decode reads the body of a notify block, whose shape was checked when the
// model was loaded. A program that is named with a path is relative to the
// model's folder, where it also runs.
func Decode(kind, name string, b hcl.Body, ctx *hcl.EvalContext, folder string) (Settings, hcl.Diagnostics) {
	s := Settings{Kind: kind, Name: name, After: defaultAfter, Timeout: defaultTimeout, Method: defaultMethod}
	rest, diags := s.decode(b, ctx, folder)
	if diags.HasErrors() {
		return s, diags
	}
	var c common
	if diags = append(diags, gohcl.DecodeBody(rest, ctx, &c)...); diags.HasErrors() {
		return s, diags
	}
	for _, o := range c.On {
		s.On = append(s.On, Occasion(o))
	}
	if c.On == nil {
		s.On = byDefault
	}
	if d, err := time.ParseDuration(c.After); err == nil {
		s.After = d
	}
	if d, err := time.ParseDuration(c.Timeout); err == nil {
		s.Timeout = d
	}
	return s, diags
}

// decode reads what is of the block's kind alone.
func (s *Settings) decode(b hcl.Body, ctx *hcl.EvalContext, folder string) (hcl.Body, hcl.Diagnostics) {
	if s.Kind == "exec" {
		var raw execBody
		diags := gohcl.DecodeBody(b, ctx, &raw)
		if diags.HasErrors() {
			return nil, diags
		}
		s.Command, s.Env, s.Dir = raw.Command, raw.Env, within(folder, raw.Dir)
		if argv0 := s.Command[0]; strings.Contains(argv0, "/") {
			s.Command[0] = within(folder, argv0)
		}
		return raw.Rest, append(diags, startable(s.Command, s.Env, b)...)
	}
	var raw httpBody
	diags := gohcl.DecodeBody(b, ctx, &raw)
	if diags.HasErrors() {
		return nil, diags
	}
	s.URL, s.Headers = raw.URL, raw.Headers
	if raw.Method != "" {
		s.Method = raw.Method
	}
	return raw.Rest, append(diags, sendable(s.Headers, b)...)
}

// within returns a path below the folder, absolute where that can be told:
// programs are started in another folder.
func within(folder, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// startable reports what no program can be given.
func startable(argv []string, env map[string]string, b hcl.Body) hcl.Diagnostics {
	all := strings.Join(argv, " ")
	for name, v := range env {
		if name == "" || strings.Contains(name, "=") {
			return mistake(b, "Invalid name in env", fmt.Sprintf("%q is no name of an environment variable.", name))
		}
		all += name + v
	}
	if strings.ContainsRune(all, 0) {
		return mistake(b, "A NUL byte", "No program can be given a NUL byte: take it out of command and env.")
	}
	return nil
}

// sendable reports headers that HTTP has no form for. Their values may be
// secrets and are not told.
func sendable(headers map[string]string, b hcl.Body) hcl.Diagnostics {
	for name, v := range headers {
		switch {
		case !httpguts.ValidHeaderFieldName(name):
			return mistake(b, "Invalid header", fmt.Sprintf("%q is no name of a header.", name))
		case !httpguts.ValidHeaderFieldValue(v):
			return mistake(b, "Invalid header", fmt.Sprintf("The value of the header %q has characters that HTTP cannot send, such as a line break.", name))
		}
	}
	return nil
}

func mistake(b hcl.Body, summary, detail string) hcl.Diagnostics {
	at := b.MissingItemRange()
	return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &at}}
}
