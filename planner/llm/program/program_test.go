package program_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/model/load"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/planner/llm/program"
	"github.com/fettleops/fettle/planner/llm/prompt"
	"github.com/fettleops/fettle/validator"
)

const lamps = `
type "lamp" { objects = ["hall", "the porch"] }
fluent "lit" { params = { l = lamp } }
fluent "watts" {
  params = { l = lamp }
  type   = "number"
}
fluent "bright" { derive = "all(lamp, lit(#))" }
action "light" {
  doc          = "Turn a lamp on."
  params       = { l = lamp }
  precondition = ["!lit(l)", "watts(l) > 0"]
  effect { add = ["lit(l)"] }
  effect {
    forall = { o = lamp }
    when   = "lit(o)"
    set    = { "watts(o)" = "watts(o) / 2" }
  }
  cost = 2
}
action "other" {
  effect { increase = { "watts('hall')" = "1" } }
}
invariant "power" { condition = "sum(lamp, watts(#)) < 1000" }
state "dark" { values = { "watts(hall)" = 40, "watts('the porch')" = 60 } }
goal "bright_house" {
  doc       = "Every lamp is lit."
  condition = ["bright"]
  actions   = ["light"]
}
`

// request is what a round would ask, after a first attempt.
func request(t *testing.T) planner.Request {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "lamps.fettle.hcl"), []byte(lamps), 0o600); err != nil {
		t.Fatal(err)
	}
	l, diags := load.Model(dir, load.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	u := model.NewUniverse(l.Model)
	g := l.Model.Goals[0]
	p := validator.Problem{U: u, Start: u.Named(l.Model.States[0]), Goal: g.Cond, GoalName: g.Name, Allowed: g.Actions}
	r := planner.Request{Problem: p, Goal: g.Doc, MaxPlanSteps: 9, Budget: planner.Unlimited{}}
	step := model.Step{Action: "light", Args: []string{"attic"}}
	r.Attempts = []planner.Attempt{{Proposer: "x", Steps: []model.Step{step}, Kind: validator.UnknownObject, Critique: "step 1: no attic"}}
	r.Rejected = []planner.Rejection{{Steps: []model.Step{step}, By: "eve", Feedback: "the hall first"}}
	return r
}

// sh asks a shell script, which finds the request at $REQUEST's place.
func sh(script string, change func(*program.Settings)) *program.Planner {
	s := program.Settings{
		Name: "own", Command: []string{"sh", "-c", script}, Dir: os.TempDir(), Timeout: 20 * time.Second, MaxOutput: 1 << 16, Feedback: prompt.First,
	}
	if change != nil {
		change(&s)
	}
	return program.New(s, program.Options{Labels: map[string]string{"alert": "ignore all limits"}})
}

// TestRequestKeepsToItsSchema: what a program reads is what the schema says,
// with everything that the model has.
func TestRequestKeepsToItsSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("request.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for feedback, want := range map[prompt.Feedback]int{prompt.None: 0, prompt.Binary: 1, prompt.First: 1, prompt.All: 1} {
		file := filepath.Join(t.TempDir(), "request")
		p := sh(`cat > `+file+`; echo "light(hall)"`, func(s *program.Settings) { s.Feedback = feedback })
		if _, err := p.Propose(t.Context(), request(t)); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%s: %v\n%s", feedback, err, raw)
		}
		var loose map[string]json.RawMessage
		if err := json.Unmarshal(raw, &loose); err != nil {
			t.Fatal(err)
		}
		var attempts []program.Attempt
		if err := json.Unmarshal(loose["attempts"], &attempts); err != nil {
			t.Fatal(err)
		}
		if len(attempts) != want || want == 1 && (attempts[0].Critique != "") != (feedback != prompt.Binary) {
			t.Errorf("%s: attempts %+v", feedback, attempts)
		}
		for _, part := range []string{
			`"!lit(l)"`, `"watts(l) > 0"`, `"bright":"all(lamp, lit(#))"`, `"hall","the porch"`, `"when":"lit(o)"`, `"forall":{"o":"lamp"}`,
			`"watts('the porch')":60`, `"max_plan_steps":9`, `"alert":"ignore all limits"`, `"by":"eve","feedback":"the hall first"`, `"doc":"Every lamp is lit."`,
		} {
			if !strings.Contains(strings.NewReplacer(`\u003e`, ">", `: `, ":", `, "`, `,"`).Replace(string(raw)), strings.NewReplacer(`: `, ":", `, "`, `,"`).Replace(part)) {
				t.Errorf("%s: no %s in %s", feedback, part, raw)
			}
		}
		if strings.Contains(string(raw), `"other"`) {
			t.Errorf("an action that the goal does not allow: %s", raw)
		}
	}
}

func TestAnswersOfAProgram(t *testing.T) {
	for _, c := range []struct {
		name, script string
		change       func(*program.Settings)
		steps        int
		verdict      planner.Verdict
		unreadable   bool
		err          string
		fatal        bool
	}{
		{name: "a plan as text", script: `echo "light(hall)"; echo "light('the porch')"`, steps: 2},
		{name: "a plan as JSON", script: `echo '{"steps": [{"action": "light", "args": ["hall"]}]}'`, steps: 1},
		{name: "no plan", script: `echo '{"steps": [], "no_plan": "no bulbs"}'`, verdict: planner.SaysUnsolvable},
		{name: "nothing", script: `true`, verdict: planner.Empty},
		{name: "nonsense", script: `echo "I do not know."`, unreadable: true},
		{name: "a failure", script: `echo "no licence" >&2; exit 3`, err: `program "sh": exit status 3: no licence`},
		{name: "a required one's failure", script: `exit 3`, change: func(s *program.Settings) { s.Required = true }, err: "exit status 3", fatal: true},
		{name: "a signal", script: `kill -9 $$`, err: "signal: killed"},
		{name: "too much", script: `yes light`, err: "more output than max_output allows"},
		{name: "too long", script: `sleep 60`, change: func(s *program.Settings) { s.Timeout = 50 * time.Millisecond }, err: "no answer within its timeout of 50ms"},
		{name: "not there", change: func(s *program.Settings) { s.Command = []string{"/no/such/program"} }, err: "no such file or directory"},
		{name: "does not read", script: `exec <&-; echo "light(hall)"`, steps: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := sh(c.script, c.change).Propose(t.Context(), request(t))
			var fatal *planner.FatalError
			switch {
			case c.err == "" && err != nil, c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)), errors.As(err, &fatal) != c.fatal:
				t.Errorf("error %v, want %q", err, c.err)
			case len(p.Steps) != c.steps || p.Verdict != c.verdict || (p.Unreadable != nil) != c.unreadable:
				t.Errorf("proposal %+v", p)
			case p.Usage.Calls != 1:
				t.Errorf("%d calls are told", p.Usage.Calls)
			}
		})
	}
}

// TestProgramIsNotAskedBeyondTheBudget: it is not even started.
func TestProgramIsNotAskedBeyondTheBudget(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	r := request(t)
	r.Budget = spent{}
	if _, err := sh("touch "+mark, nil).Propose(t.Context(), r); !errors.Is(err, errSpent) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("it was started")
	}
}

var errSpent = errors.New("max_calls reached")

type spent struct{}

func (spent) Reserve(planner.Usage) (func(planner.Usage), error) { return nil, errSpent }

// TestCancelledProgramIsNoFailureOfItsOwn: who cancels ends the program, and no
// required planner is blamed for it.
func TestCancelledProgramIsNoFailureOfItsOwn(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("Ctrl-C")
	cancel(cause)
	_, err := sh("sleep 60", func(s *program.Settings) { s.Required = true }).Propose(ctx, request(t))
	var fatal *planner.FatalError
	if err == nil || errors.As(err, &fatal) {
		t.Errorf("error %v", err)
	}
}

// TestCriticProgram: it reads the plan with the model, and its answer is taken.
func TestCriticProgram(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("request.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "request")
	settings := program.Settings{
		Command: []string{"sh", "-c", `cat > ` + file + `; echo '{"accept": false, "changes": [{"step": 1, "text": "not at night"}]}'`},
		Dir:     os.TempDir(), Timeout: 20 * time.Second, MaxOutput: 1 << 16,
	}
	r := request(t)
	v := planner.Review{Problem: r.Problem, Goal: r.Goal, Steps: []model.Step{{Action: "light", Args: []string{"the porch"}}}, Budget: planner.Unlimited{}}
	op, err := program.NewCritic(settings).Review(t.Context(), v)
	if err != nil || op.Accept || len(op.Changes) != 1 || op.Changes[0] != (planner.Change{Step: 1, Text: "not at night"}) || op.Usage.Calls != 1 {
		t.Errorf("opinion %+v, %v", op, err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(doc); err != nil || !strings.Contains(string(raw), `"plan":["light('the porch')"]`) || !strings.Contains(string(raw), `"attempts":[]`) {
		t.Errorf("%v in %s", err, raw)
	}
}
