package prompt_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/model/load"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/planner/llm/prompt"
	"github.com/fettleops/fettle/validator"
)

func loadModel(t *testing.T, path string) *model.Model {
	t.Helper()
	l, diags := load.Model(path, load.Options{LookupEnv: func(string) (string, bool) { return "", false }})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return l.Model
}

// write loads a model from its text.
func write(t *testing.T, text string) *model.Model {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "m.fettle.hcl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return loadModel(t, dir)
}

// problem is the first goal of the model at a path, from its first state, whose
// objects are those that there are.
func problem(t *testing.T, path string) validator.Problem {
	t.Helper()
	m := loadModel(t, path)
	return first(m, model.NewUniverse(m).NamedObjects(m.States[0])...)
}

func first(m *model.Model, found ...model.Discovery) validator.Problem {
	u := model.NewUniverse(m, found...)
	p := validator.Problem{U: u, Start: u.NewState(true)}
	if len(m.States) > 0 {
		p.Start = u.Named(m.States[0])
	}
	if len(m.Goals) > 0 {
		p.Goal, p.GoalName, p.Allowed = m.Goals[0].Cond, m.Goals[0].Name, m.Goals[0].Actions
	}
	return p
}

var written = regexp.MustCompile(`[a-z_]+(\([^)]*\))?`)

// steps reads "drain(api) restart(api)".
func steps(t *testing.T, text string) []model.Step {
	t.Helper()
	var out []model.Step
	for _, s := range written.FindAllString(text, -1) {
		name, args, err := model.ParseAtom(s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, model.Step{Action: name, Args: args})
	}
	return out
}

// attempts are those of a real round in which the plans are proposed in turn.
func attempts(t *testing.T, p validator.Problem, plans ...string) []planner.Attempt {
	t.Helper()
	var proposals []planner.Proposal
	for _, text := range plans {
		proposals = append(proposals, planner.Proposal{Steps: steps(t, text)})
	}
	return play(t, p, proposals...)
}

func play(t *testing.T, p validator.Problem, proposals ...planner.Proposal) []planner.Attempt {
	t.Helper()
	if len(proposals) == 0 {
		return nil
	}
	res, err := planner.Round(t.Context(), p, []planner.Proposer{&script{proposals}}, planner.Limits{MaxAttempts: len(proposals)}, planner.Unlimited{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return res.Attempts
}

func render(t *testing.T, in prompt.Input) prompt.Prompt {
	t.Helper()
	p, err := prompt.Render(in)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// contains wants each of the texts in the prompt.
func contains(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
}

// lacks wants none of the texts in the prompt.
func lacks(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if strings.Contains(text, want) {
			t.Errorf("%q is in:\n%s", want, text)
		}
	}
}
