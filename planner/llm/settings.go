package llm

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"golang.org/x/net/http/httpguts"

	"github.com/fettleops/fettle/planner/llm/prompt"
)

// Settings are what a planner or critic block says of its language model.
type Settings struct {
	Kind, Name      string // the block's labels; a critic has no name
	Model           string
	BaseURL         string // "": the provider's own
	APIKey          string // "": none
	Temperature     *float64
	MaxTokens       int // of one answer; 0: as the policy says
	ReasoningEffort string
	Timeout         time.Duration // of one call
	Price           *Price        // nil: money is not counted
	Templates       prompt.Templates
	Notes           string
	ExtraBody       map[string]any
	Headers         map[string]string
	Required        bool
	Feedback        prompt.Feedback
}

// Price is in USD per million tokens.
type Price struct{ Input, Output, Cached float64 }

const (
	defaultTimeout = 2 * time.Minute
	// defaultMaxTokens bounds an answer where neither the block nor the policy
	// does: a plan of a few hundred steps, and room to think.
	defaultMaxTokens = 8192
	perMillion       = 1e6
)

// body is a block as HCL sees it. Its shape was checked when the model was
// loaded.
type body struct {
	Model           string            `hcl:"model"`
	BaseURL         string            `hcl:"base_url,optional"`
	APIKey          string            `hcl:"api_key,optional"`
	Temperature     *float64          `hcl:"temperature,optional"`
	MaxTokens       int               `hcl:"max_tokens,optional"`
	ReasoningEffort string            `hcl:"reasoning_effort,optional"`
	Timeout         string            `hcl:"timeout,optional"`
	Prompt          cty.Value         `hcl:"prompt,optional"`
	Notes           string            `hcl:"notes,optional"`
	ExtraBody       cty.Value         `hcl:"extra_body,optional"`
	Headers         map[string]string `hcl:"headers,optional"`
	Required        bool              `hcl:"required,optional"`
	Feedback        string            `hcl:"feedback,optional"`
	Price           *price            `hcl:"price,block"`
}

type price struct {
	Input  float64  `hcl:"input"`
	Output float64  `hcl:"output"`
	Cached *float64 `hcl:"cached,optional"`
}

// keys are the environment's names of the keys, for blocks that give none.
var keys = map[string]string{"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}

// Decode reads the body of an openai or anthropic block. Template files are
// relative to the model's folder. The key is taken from the provider's usual
// environment variable where the block gives none and names no other server.
func Decode(kind, name string, b hcl.Body, ctx *hcl.EvalContext, folder string, env func(string) (string, bool)) (Settings, hcl.Diagnostics) {
	var raw body
	diags := gohcl.DecodeBody(b, ctx, &raw)
	if diags.HasErrors() {
		return Settings{}, diags
	}
	s := Settings{
		Kind: kind, Name: name, Model: raw.Model, BaseURL: raw.BaseURL, APIKey: raw.APIKey, Temperature: raw.Temperature,
		MaxTokens: raw.MaxTokens, ReasoningEffort: raw.ReasoningEffort, Timeout: defaultTimeout, Notes: raw.Notes,
		Headers: raw.Headers, Required: raw.Required, Feedback: prompt.First,
	}
	if raw.Feedback != "" {
		s.Feedback = prompt.Feedback(raw.Feedback)
	}
	if d, err := time.ParseDuration(raw.Timeout); err == nil {
		s.Timeout = d
	}
	if s.APIKey == "" && s.BaseURL == "" && env != nil {
		s.APIKey, _ = env(keys[kind])
	}
	if p := raw.Price; p != nil {
		s.Price = &Price{Input: p.Input, Output: p.Output, Cached: p.Input}
		if p.Cached != nil {
			s.Price.Cached = *p.Cached
		}
	}
	if err := sendable(s.Headers); err != nil {
		return s, append(diags, mistake(b, "Invalid headers", err))
	}
	var err error
	if s.ExtraBody, err = plain(raw.ExtraBody); err != nil {
		return s, append(diags, mistake(b, "Invalid extra_body", err))
	}
	if s.Templates, err = templates(raw.Prompt, folder); err != nil {
		return s, append(diags, mistake(b, "Invalid prompt", err))
	}
	return s, diags
}

func mistake(b hcl.Body, summary string, err error) *hcl.Diagnostic {
	rng := b.MissingItemRange()
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: err.Error() + ".", Subject: &rng}
}

// ours are the parts of a request that limits and rules depend on.
var ours = []string{
	"model", "messages", "system", "max_tokens", "max_completion_tokens", "n", "stream", "response_format", "output_config", "tools", "tool_choice",
	"temperature", "reasoning_effort",
}

// sendable tells whether HTTP can carry the headers.
func sendable(headers map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		switch {
		case !httpguts.ValidHeaderFieldName(name):
			return fmt.Errorf("%q is no name of a header", name)
		case !httpguts.ValidHeaderFieldValue(headers[name]):
			return fmt.Errorf("the value of %s has characters that a header cannot have", name)
		}
	}
	return nil
}

// plain turns an object of HCL into what JSON knows.
func plain(v cty.Value) (map[string]any, error) {
	if v == cty.NilVal || v.IsNull() {
		return nil, nil
	}
	out := map[string]any{}
	for name, e := range v.AsValueMap() {
		if slices.Contains(ours, name) || strings.ContainsAny(name, ".|#@*?\\:") || name == "" {
			return nil, fmt.Errorf("%q is not for extra_body: what is asked, of whom and how much of it is what the block and the policy say; it takes names of other settings, without paths", name)
		}
		raw, err := ctyjson.Marshal(e, e.Type())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		var x any
		if err := json.Unmarshal(raw, &x); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = x
	}
	return out, nil
}

// maxTemplate bounds a template file, in bytes.
const maxTemplate = 1 << 20

// templates reads the template files: one for the question, or by name.
func templates(v cty.Value, folder string) (prompt.Templates, error) {
	if v == cty.NilVal || v.IsNull() {
		return nil, nil
	}
	files := map[string]string{}
	if v.Type() == cty.String {
		files["user"] = v.AsString()
	} else {
		for name, e := range v.AsValueMap() {
			if e.IsNull() || e.Type() != cty.String {
				return nil, fmt.Errorf("%s takes the name of a file", name)
			}
			files[name] = e.AsString()
		}
	}
	out := prompt.Templates{}
	for name, file := range files {
		if !filepath.IsAbs(file) {
			file = filepath.Join(folder, file)
		}
		info, err := os.Stat(file)
		if err != nil {
			return nil, fmt.Errorf("read the template: %w", err)
		}
		if info.Size() > maxTemplate {
			return nil, fmt.Errorf("template %s is larger than %d MiB", file, maxTemplate>>20)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read the template: %w", err)
		}
		out[name] = string(text)
	}
	if err := prompt.CheckOverride(out); err != nil {
		return nil, err
	}
	return out, nil
}

// Answers returns how many tokens one answer may have: what the block says,
// never more than the policy's most (0: none).
func (s Settings) Answers(most int) int {
	n := s.MaxTokens
	if n == 0 {
		n = defaultMaxTokens
	}
	if most > 0 {
		n = min(n, most)
	}
	return n
}

// of returns the cost of a call in USD.
func (p *Price) of(in, cached, out int) float64 {
	if p == nil {
		return 0
	}
	cached = min(cached, in)
	return (float64(in-cached)*p.Input + float64(cached)*p.Cached + float64(out)*p.Output) / perMillion
}

// Unready tells why the model cannot be called as things stand; "" where it can.
func (s Settings) Unready() string {
	if s.APIKey == "" && s.BaseURL == "" && keys[s.Kind] != "" {
		return fmt.Sprintf("there is no key: set %s, or api_key in the block", keys[s.Kind])
	}
	return ""
}

// DecodeReplay reads the body of a replay block: the recording that it names.
func DecodeReplay(b hcl.Body, ctx *hcl.EvalContext, folder string) (string, hcl.Diagnostics) {
	var raw struct {
		File string `hcl:"file"`
	}
	diags := gohcl.DecodeBody(b, ctx, &raw)
	if !filepath.IsAbs(raw.File) {
		raw.File = filepath.Join(folder, raw.File)
	}
	return raw.File, diags
}
