package program

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"

	"github.com/fettleops/fettle/planner/llm/prompt"
)

const (
	defaultTimeout = time.Minute
	defaultOutput  = 1 << 20
)

// body is a block as HCL sees it. Its shape was checked when the model was
// loaded.
type body struct {
	Command   []string          `hcl:"command"`
	Env       map[string]string `hcl:"env,optional"`
	Dir       string            `hcl:"dir,optional"`
	Timeout   string            `hcl:"timeout,optional"`
	MaxOutput int               `hcl:"max_output,optional"`
	Notes     string            `hcl:"notes,optional"`
	Required  bool              `hcl:"required,optional"`
	Feedback  string            `hcl:"feedback,optional"`
}

// Decode reads the body of an exec block. A program that is named with a path
// is relative to the model's folder, where it also runs.
func Decode(name string, b hcl.Body, ctx *hcl.EvalContext, folder string) (Settings, hcl.Diagnostics) {
	var raw body
	diags := gohcl.DecodeBody(b, ctx, &raw)
	if diags.HasErrors() {
		return Settings{}, diags
	}
	s := Settings{
		Name: name, Command: raw.Command, Env: raw.Env, Dir: folder, Timeout: defaultTimeout, MaxOutput: defaultOutput,
		Notes: raw.Notes, Required: raw.Required, Feedback: prompt.First,
	}
	if argv0 := s.Command[0]; strings.Contains(argv0, "/") && !filepath.IsAbs(argv0) {
		argv0, err := filepath.Abs(filepath.Join(folder, argv0)) // It is started in another folder.
		if err != nil {
			return s, append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "No working directory", Detail: err.Error()})
		}
		s.Command[0] = argv0
	}
	if raw.Dir != "" {
		s.Dir = raw.Dir
		if !filepath.IsAbs(s.Dir) {
			s.Dir = filepath.Join(folder, s.Dir)
		}
	}
	if raw.Feedback != "" {
		s.Feedback = prompt.Feedback(raw.Feedback)
	}
	if d, err := time.ParseDuration(raw.Timeout); err == nil {
		s.Timeout = d
	}
	if raw.MaxOutput > 0 {
		s.MaxOutput = raw.MaxOutput
	}
	return s, diags
}
