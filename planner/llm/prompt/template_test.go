package prompt_test

import (
	"strings"
	"testing"

	"github.com/fettleops/fettle/planner/llm/prompt"
)

func TestTemplatesAreChecked(t *testing.T) {
	const fields = "; there are .Goal, .Model, .Actions, .Facts, .Invariants, .Objects, .State, .Example, .Last, .Tried, .Rejected, .Lessons, .Labels, .Notes, .LeftOut, .Rules, .DataRule, .Answer and .MaxPlanSteps"
	for _, tt := range []struct {
		name string
		t    prompt.Templates
		want string // "": it is fine
	}{
		{"none", nil, ""},
		{"both", prompt.Templates{"system": "{{.Rules}} {{.Answer}}", "user": "{{.Goal}}{{with .Notes}}{{.}}{{end}}{{if gt .MaxPlanSteps 3}}{{.MaxPlanSteps}}{{end}}"}, ""},
		{"the whole by a variable", prompt.Templates{"user": "{{$f := .}}{{with .Goal}}{{$f.State}}{{$.Actions}}{{end}}"}, ""},
		{"a template within", prompt.Templates{"user": `{{define "part"}}{{.Goal}}{{end}}{{template "part" .}}`}, ""},
		{"another name", prompt.Templates{"users": ""}, `there is no template "users"; there are system and user`},
		{"a syntax error", prompt.Templates{"user": "{{.Goal"}, "parse: template: user:1: unclosed action"},
		{"an unknown function", prompt.Templates{"user": "{{env .Goal}}"}, `parse: template: user:1: function "env" not defined`},
		{"an unknown field", prompt.Templates{"user": "{{.Gaol}}"}, "template user names .Gaol, which there is not" + fields},
		{"one in a branch that is not taken", prompt.Templates{"user": "{{if false}}{{.Secret}}{{end}}"}, "template user names .Secret, which there is not" + fields},
		{"one in an argument", prompt.Templates{"user": `{{printf "%s" (len .Problem)}}`}, "template user names .Problem, which there is not" + fields},
		{"a field of a field", prompt.Templates{"user": "{{.Goal.Doc}}"}, "template user names .Goal.Doc, which there is not" + fields},
		{"one of a variable", prompt.Templates{"user": "{{range $i, $s := .Goal}}{{$.Step}}{{end}}"}, "template user names .Step, which there is not" + fields},
		{"one in a template within", prompt.Templates{"user": `{{define "part"}}{{.Gaol}}{{end}}`}, "template user names .Gaol, which there is not" + fields},
		{"a field where there is none", prompt.Templates{"user": "{{with .Notes}}{{.Goal}}{{end}}"}, `execute: template: user:1:17: executing "user" at <.Goal>: can't evaluate field Goal in type string`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if err := prompt.CheckOverride(tt.t); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got:  %s\nwant: %s", got, tt.want)
			}
			if _, err := prompt.Render(prompt.Input{Problem: problem(t, "../../../examples/classic"), Override: tt.t}); (err != nil) != (tt.want != "") {
				t.Errorf("rendering: %v", err)
			}
		})
	}
}

// TestTheDocumentedTemplateWorks as the package's documentation shows it.
func TestTheDocumentedTemplateWorks(t *testing.T) {
	user := "{{with .Notes}}From the people on call:\n{{.}}\n{{end}}{{.Model}}\n\n{{.State}}\n\n{{.Goal}}\n{{with .Last}}Your last plan failed:\n{{.}}{{end}}"
	p := problem(t, "../../../examples/classic")
	got := render(t, prompt.Input{
		Problem: p, Notes: "Be quick.", Override: prompt.Templates{"user": user}, Attempts: attempts(t, p, swapped),
	}).User
	if !strings.HasPrefix(got, "From the people on call:\nBe quick.\nActions\n- drain(s: service)\n") {
		t.Errorf("got:\n%s", got)
	}
	contains(t, got, "Your last plan failed:\n<data name=\"last_plan\">")
}
