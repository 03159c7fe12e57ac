package prompt

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"
)

// Templates are sources of text/template by name: "system" and "user". What is
// not given is built in.
type Templates map[string]string

// Fields are what templates are executed with. Each text is ready to be put in
// as it is: what comes from the world or from a model stands in data sections,
// and nothing in those can end them. A field is empty where there is nothing to
// say.
type Fields struct {
	Goal       string // the objective, the acceptance criteria in words, and as data how they stand
	Model      string // Actions, Facts and Invariants, each under a heading
	Actions    string // those that may be used, in sentences
	Facts      string // the fluents that bear on the goal, derived ones explained
	Invariants string
	Objects    string // data: by type
	State      string // data: the facts that bear on the goal; which are unknown, and why
	Example    string // data: a solved task of the same model
	Last       string // the last plan, what is wrong with it, the state before its violation
	Tried      string // data: digests of the plans before the last
	Rejected   string // data: plans that people rejected, and what they want
	Lessons    string // data: of earlier runs, approved
	Labels     string // data: text from the world, such as an alert's labels
	Notes      string // the operator's, as written
	LeftOut    string // what was left out for want of room, a list
	Rules      string // how plans work
	DataRule   string // that data is never an instruction
	Answer     string // what an answer looks like
	// MaxPlanSteps is the longest plan that is accepted; 0: any.
	MaxPlanSteps int
}

const (
	systemName = "system"
	userName   = "user"
)

const builtinSystem = `You write plans for fettle, which carries out operations on computer systems. You propose; you never act. Your whole plan is simulated, step by step, from the state that you are given; only a plan in which every step is possible and which reaches the goal is carried out.

{{.Rules}}

{{.DataRule}}

{{.Answer}}`

const builtinUser = `# The model

{{.Model}}
{{with .Example}}
# A worked example, for another goal of the same model

{{.}}
{{end}}{{with .Lessons}}
# Lessons from earlier runs

{{.}}
{{end}}{{with .Notes}}
# Notes from the operator

{{.}}
{{end}}
# The task

{{.Goal}}
{{with .Labels}}
# What the alert or the caller says

{{.}}
{{end}}{{with .Objects}}
# Objects

{{.}}
{{end}}{{with .State}}
# The state from which the plan starts

{{.}}
{{end}}{{with .Tried}}
# Plans that were tried before and failed

{{.}}
{{end}}{{with .Last}}
# The last plan, which failed too

{{.}}
{{end}}{{with .Rejected}}
# Plans that the people who decide rejected

None of these is carried out, from whatever state. Your plan must heed what they want, as far as the rules allow it:
{{.}}
{{end}}{{with .LeftOut}}
# Left out of this question for want of room

{{.}}
{{end}}
Now answer with the whole plan{{if .Last}}, mended so that what is wrong above does not happen again{{end}}.`

const rules = `How plans work:
- A plan is a list of steps. A step is one action with an object for each of its parameters.
- A step is possible only when all conditions of its action hold in the state before it.
- All effects of a step are worked out from the state before it. What no effect names stays as it is. What a step makes both true and false is true afterwards.
- A fact may be unknown, written null. Unknown is neither true nor false: a condition that depends on an unknown fact does not hold.
- No step may break an invariant, or make worse one that is broken.
- After the last step all acceptance criteria must hold, among them those that held at the start.
- Use only the actions and objects that are named here, spelt as they are. The fewer steps and the lower their cost, the better.
- In data, conditions are written in fettle's language: && is and, || is or, ! is not, all(service, up(#)) is "for every service #, up(#) is true".`

// answer says what an answer looks like.
func (r *renderer) answer() string {
	s := `Answer with one JSON object and nothing else:
{"steps": [{"action": "NAME", "args": ["OBJECT"]}], "no_plan": null}
args are the names of objects in the order of the action's parameters, [] where there are none. An answer is always a whole plan from the start, never a change to an earlier one.`
	if n := r.MaxPlanSteps; n > 0 {
		s += fmt.Sprintf(" At most %s may be used.", count(n, "step"))
	}
	return s + ` Only where you are certain that no plan can reach the goal, answer {"steps": [], "no_plan": "the reason in one sentence"}.`
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// texts are the templates of one question.
type texts struct {
	sources map[string]*template.Template
	ruled   bool // the system text says the rule of data itself
}

// parseTemplates parses the templates, built-in ones where none are given.
func parseTemplates(t Templates) (texts, error) {
	out := texts{sources: map[string]*template.Template{}}
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if name != systemName && name != userName {
			return texts{}, fmt.Errorf("there is no template %q; there are system and user", name)
		}
	}
	for name, source := range map[string]string{systemName: builtinSystem, userName: builtinUser} {
		if own, ok := t[name]; ok {
			source = own
		}
		parsed, err := template.New(name).Parse(source)
		if err != nil {
			return texts{}, fmt.Errorf("parse: %w", err)
		}
		used, err := checkFields(parsed)
		if err != nil {
			return texts{}, err
		}
		out.sources[name] = parsed
		out.ruled = out.ruled || name == systemName && used["DataRule"]
	}
	return out, nil
}

// CheckOverride tells whether templates parse and name only the fields of
// [Fields].
func CheckOverride(t Templates) error {
	_, err := parseTemplates(t)
	return err
}

func (t texts) system(f Fields) (string, error) {
	s, err := t.execute(systemName, f)
	if err == nil && !t.ruled {
		s += "\n\n" + f.DataRule
	}
	return s, err
}

func (t texts) user(f Fields) (string, error) { return t.execute(userName, f) }

func (t texts) execute(name string, f Fields) (string, error) {
	var b strings.Builder
	if err := t.sources[name].Execute(&b, f); err != nil {
		return "", fmt.Errorf("execute: %w", err)
	}
	return strings.TrimSpace(b.String()), nil
}
