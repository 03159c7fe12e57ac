package policy_test

import (
	"iter"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/model/load"
	"github.com/fettleops/fettle/policy"
	"github.com/fettleops/fettle/validator"
)

const shop = `
type "service" { objects = ["api", "db"] }
fluent "in_lb"    { params = { s = service } }
fluent "drained"  { params = { s = service } }
fluent "warm"     { params = { s = service } }
fluent "replicas" {
  params = { s = service }
  type   = number
}
fluent "mode" {
  params = { s = service }
  type   = enum("fast", "slow")
}
action "drain" {
  params = { s = service }
  effect {
    add = ["drained(s)"]
    del = ["in_lb(s)"]
  }
  effect {
    when = "warm(s)"
    del  = ["warm(s)"]
    add  = ["warm('db')"]
  }
  effect { set = { "replicas(s)" = "replicas(s) + 1", "mode(s)" = "'slow'" } }
  cost = "replicas(s) * 2"
}
action "readd" {
  params       = { s = service }
  precondition = ["drained(s)"]
  effect {
    add = ["in_lb(s)"]
    del = ["drained(s)"]
  }
}
goal "out" { condition = ["drained(db)", "in_lb(api)"] }
policy {
  mode                 = auto
  max_rounds           = 3
  max_attempts         = 3
  max_actions          = 30
  deadline             = "10m"
  max_repeats          = 2
  same_failure_retries = 2
  no_evidence_rounds   = 2
  max_errors           = 5
  rule "one_at_a_time" {
    when   = "any(deletes, # startsWith 'in_lb(') && args.s == 'api'"
    effect = deny
    reason = "the api stays"
  }
}
`

func loadShop(t *testing.T) (*load.Loaded, *model.Universe, *policy.Policy) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "shop.fettle.hcl"), []byte(shop), 0o600); err != nil {
		t.Fatal(err)
	}
	l, diags := load.Model(dir, load.Options{})
	var p *policy.Policy
	if !diags.HasErrors() {
		var more hcl.Diagnostics
		p, more = policy.Decode(l.Policy.Body, l.Eval, l.Policy.Range)
		diags = append(append(diags, more...), p.Check(l.Model)...)
	}
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return l, model.NewUniverse(l.Model), p
}

func state(t *testing.T, u *model.Universe, text string) *model.State {
	t.Helper()
	s, err := u.ParseState([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestStepOf: the facts of a step are its effects on the state before it, and
// what is unknown is among what it may change.
func TestStepOf(t *testing.T) {
	_, u, _ := loadShop(t)
	more := policy.StepFacts{Labels: map[string]string{"team": "web"}, Risk: "high", Unprotected: true, Irreversible: true}
	base := policy.StepFacts{
		Step: 3, Action: "drain", Ground: "drain(api)", Args: map[string]string{"s": "api"}, Labels: more.Labels, Risk: "high",
		Unprotected: true, Irreversible: true,
	}
	for _, c := range []struct {
		before                string
		cost                  float64
		adds, deletes, unsure []string
		replicas              any
	}{
		{`{"in_lb(api)": true, "drained(api)": false, "warm(api)": false, "replicas(api)": 2}`, 4, []string{"drained(api)"}, []string{"in_lb(api)"}, nil, 3.0},
		{`{"in_lb(api)": false, "drained(api)": true, "warm(api)": false, "replicas(api)": 2}`, 4, nil, nil, nil, 3.0},
		{
			`{"in_lb(api)": true, "drained(api)": false, "warm(api)": true, "warm(db)": false, "replicas(api)": 0}`, 0,
			[]string{"drained(api)", "warm(db)"},
			[]string{"in_lb(api)", "warm(api)"},
			nil, 1.0,
		},
		{
			`{"in_lb(api)": null, "drained(api)": null, "warm(api)": null, "warm(db)": false, "replicas(api)": null}`, math.MaxFloat64,
			[]string{"drained(api)", "warm(api)", "warm(db)"},
			[]string{"in_lb(api)", "warm(api)"},
			[]string{"drained(api)", "in_lb(api)", "warm(api)", "warm(db)"},
			nil,
		},
	} {
		g, fault := u.Bind(model.Step{Action: "drain", Args: []string{"api"}}, nil)
		if fault != nil {
			t.Fatal(fault)
		}
		want := base
		want.Cost, want.Adds, want.Deletes, want.Unsure = c.cost, c.adds, c.deletes, c.unsure
		want.Sets = map[string]any{"replicas(api)": c.replicas, "mode(api)": "slow"}
		if got := policy.StepOf(u, g, state(t, u, c.before), 3, more); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.before, got, want)
		}
	}
}

func TestPlanOf(t *testing.T) {
	_, u, _ := loadShop(t)
	var steps []model.Ground
	for _, st := range []model.Step{{Action: "drain", Args: []string{"db"}}, {Action: "readd", Args: []string{"api"}}, {Action: "drain", Args: []string{"api"}}} {
		g, _ := u.Bind(st, nil)
		steps = append(steps, g)
	}
	got := policy.PlanOf(u, steps, math.Inf(1), []string{"drain(db)"}, []string{"readd(api)"})
	want := policy.PlanFacts{
		Length: 3, Cost: math.MaxFloat64, Objects: []string{"api", "db"}, Actions: []string{"drain", "readd"},
		Unprotected: []string{"drain(db)"}, Irreversible: []string{"readd(api)"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestDenialIsACritique: the validator refuses a step that a rule denies, and
// names the rule and its reason.
func TestDenialIsACritique(t *testing.T) {
	l, u, p := loadShop(t)
	facts := func(step int, g model.Ground, before *model.State) policy.Facts {
		s := policy.StepOf(u, g, before, step, policy.StepFacts{})
		return policy.Facts{Now: time.Unix(0, 0), Step: &s}
	}
	problem := validator.Problem{
		U: u, Start: state(t, u, `{"in_lb(api)": true, "in_lb(db)": true, "drained(api)": false, "drained(db)": false, "warm(api)": false, "warm(db)": false, "replicas(api)": 1, "replicas(db)": 1}`),
		Goal: l.Model.Goal("out").Cond, GoalName: "out", Rules: []validator.Rule{p.Validation(facts)},
	}
	for object, want := range map[string]string{"db": "", "api": "step 1: drain(api) denied by rule one_at_a_time: the api stays"} {
		report := validator.Validate(problem, plan(model.Step{Action: "drain", Args: []string{object}, Line: 1}))
		got := report.Critique
		if got != want {
			t.Errorf("drain(%s): %q, want %q", object, got, want)
		}
	}
}

func plan(steps ...model.Step) iter.Seq2[model.Step, error] {
	return func(yield func(model.Step, error) bool) {
		for _, st := range steps {
			if !yield(st, nil) {
				return
			}
		}
	}
}
