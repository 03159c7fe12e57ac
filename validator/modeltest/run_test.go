package modeltest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/fettleops/fettle/validator"
)

func TestExpectationsAreHeldAgainstWhatCame(t *testing.T) {
	for _, tt := range []struct {
		name, test string
		want       string // rows
	}{
		{"a valid plan", `
  goal = "running"
  plan = ["start(api)", "start(db)"]
  expect {
    steps = 2
    cost  = 3
    state = { all_up = true, "up(api)" = true, mode = "hot", load = 2 }
  }`, `
  plan: valid | valid
  steps: 2 | 2
  cost: 3 | 3
  all_up: true | true
  up(api): true | true
  mode: hot | hot
  load: 2 | 2
`},
		{"all of it wrong", `
  goal = "running"
  plan = <<-EOT
    start(api) # the first
    start(db)
  EOT
  expect {
    max_steps = 1
    max_cost  = 2.5
    state     = { all_up = false, mode = "calm", load = 3 }
    unknown   = ["up(db)"]
  }`, `
  plan: valid | valid
x steps: at most 1 | 2
x cost: at most 2.5 | 3
x all_up: false | true
x mode: calm | hot
x load: 3 | 2
x up(db): unknown | true
`},
		{"a bound that holds", `
  plan = ["start(api)"]
  expect {
    max_steps = 1
    max_cost  = 1
  }`, `
  plan: valid | valid
  steps: at most 1 | 1
  cost: at most 1 | 1
`},
		{"another length and cost", `
  plan = ["start(api)"]
  expect {
    steps = 2
    cost  = 2
  }`, `
  plan: valid | valid
x steps: 2 | 1
x cost: 2 | 1
`},
		{"a violation, its conditions in any order and spacing", `
  plan = ["start(api)", "start(api)"]
  values = { load = 2, mode = "hot", name = "good" }
  expect {
    valid      = false
    step       = 1
    kind       = "precondition"
    conditions = ["mode!='hot'"]
  }`, `
  plan: a violation | a violation
  step: 1 | 1
  kind: precondition | precondition
  conditions: mode!='hot' | mode != 'hot'
`},
		{"conditions in another order", `
  facts  = ["busy(db)"]
  values = { name = "good" }
  plan   = ["rest"]
  expect { conditions = ["up(db)", "!busy(db)", "up(api)"] }`, `
  plan: a violation | a violation
  conditions: up(db), !busy(db), up(api) | up(api), up(db), !busy(db)
`},
		{"another violation", `
  plan = ["start(api)", "start(api)"]
  expect {
    step       = 1
    kind       = "unknown_value"
    conditions = ["!up(api)", "mode != 'hot'"]
    state      = { "up(api)" = true, load = 1 }
  }`, `
  plan: a violation | a violation
x step: 1 | 2
x kind: unknown_value | precondition
x conditions: !up(api), mode != 'hot' | !up(api)
  up(api): true | true
  load: 1 | 1
`},
		{"a violation that does not come", `
  plan = []
  expect { conditions = ["up(api)"] }`, `
x plan: a violation | valid
x conditions: up(api) | –
`},
		{"a plan that is not valid though nothing says that it is", `
  plan = ["stop(api)"]
  expect { max_steps = 1 }`, `
x plan: valid | a violation
  steps: at most 1 | 1
`},
		{"a goal that is missed", `
  goal = "running"
  plan = ["start(api)"]
  expect {
    kind       = "goal"
    step       = 1
    conditions = ["all_up"]
  }`, `
  plan: a violation | a violation
x step: 1 | –
  kind: goal | goal
  conditions: all_up | all_up
`},
		{"an action that the goal does not allow", `
  goal = "one_up(api)"
  plan = ["start(api)"]
  expect { kind = "policy" }`, `
  plan: a violation | a violation
  kind: policy | policy
`},
		{"a state that is written is closed, but for what is unknown", `
  facts   = ["up(db)", "warm"]
  values  = { load = 1, "up(api)" = false, name = "good" }
  unknown = ["busy(db)"]
  plan    = []
  expect {
    state   = { "up(db)" = true, "up(api)" = false, "busy(api)" = false, warm = true, load = 1 }
    unknown = ["busy(db)", "mode"]
  }`, `
  plan: valid | valid
  up(db): true | true
  up(api): false | false
  busy(api): false | false
  warm: true | true
  load: 1 | 1
  busy(db): unknown | unknown
  mode: unknown | unknown
`},
		{"what is observed is open", `
  observed = { "up(db)" = true, name = "good" }
  plan     = ["rest"]
  expect {
    kind       = "unknown_value"
    conditions = ["up(api)", "!busy(api)", "!busy(db)"]
    unknown    = ["up(api)", "warm", "all_up"]
  }`, `
  plan: a violation | a violation
  kind: unknown_value | unknown_value
  conditions: up(api), !busy(api), !busy(db) | up(api), !busy(api), !busy(db)
  up(api): unknown | unknown
  warm: unknown | unknown
  all_up: unknown | unknown
`},
		{"objects that are discovered are those that are named", `
  facts  = ["spare(n1)"]
  values = { "at(api)" = "n2", "at(db)" = "n3", name = "good" }
  plan   = ["move(api, n1)", "move(db, n4)"]
  expect {
    step  = 2
    kind  = "unknown_object"
    state = { "at(api)" = "n1", "at(db)" = "n3", "spare(n2)" = false }
  }`, `
  plan: a violation | a violation
  step: 2 | 2
  kind: unknown_object | unknown_object
  at(api): n1 | n1
  at(db): n3 | n3
  spare(n2): false | false
`},
		{"the search plans for what is named", `
  goal = "running"
  expect { steps = 2 }`, `
  plan: valid | valid
  steps: 2 | 2
`},
		{"its plan is too long", `
  goal = "running"
  expect { max_steps = 1 }`, `
  plan: valid | valid
x steps: at most 1 | 2
`},
		{"there is a plan after all", `
  goal = "running"
  expect { unsolvable = true }`, `
x plan: unsolvable | valid
`},
		{"there is none", `
  values = { load = 3, mode = "calm", name = "good" }
  goal   = "running"
  expect { valid = true }`, `
x plan: valid | unsolvable
`},
		{"proved", `
  values = { load = 3, mode = "calm", name = "good" }
  goal   = "running"
  expect { unsolvable = true }`, `
  plan: unsolvable | unsolvable
`},
		{"not to be told", `
  values = { mode = "calm", name = "good" }
  goal   = "running"
  expect { unobservable = true }`, `
  plan: unobservable | unobservable
`},
		{"not to be told is not unsolvable", `
  values = { mode = "calm", name = "good" }
  goal   = "running"
  expect { unsolvable = true }`, `
x plan: unsolvable | unobservable
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := suiteOf(t, rich, "test \"t\" {"+tt.test+"\n}\n")
			r := s.results(t)[0]
			want := strings.TrimPrefix(tt.want, "\n")
			if got := told(&r); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
			if r.Passed() == strings.Contains(want, "x ") {
				t.Errorf("passed: %v", r.Passed())
			}
		})
	}
}

// TestOneStateAndOneGoalNeedNoName promises what a test may leave out, and that
// with a plan no goal is checked that is not named.
func TestOneStateAndOneGoalNeedNoName(t *testing.T) {
	m := `
fluent "up" {}
action "start" {
  effect { add = ["up"] }
}
state "down" { facts = [] }
goal "running" { condition = ["up"] }
`
	s := suiteOf(t, m, `
test "found" {
  expect { steps = 1 }
}
test "no goal" {
  plan = []
  expect { state = { up = false } }
}`)
	for _, r := range s.results(t) {
		if !r.Passed() {
			t.Errorf("%s:\n%s", r.Test.Name, told(&r))
		}
	}
	if r := s.results(t)[0]; strings.Join(r.Found, " ") != "start" {
		t.Errorf("found %q", r.Found)
	}
}

// TestAnUnknownCostIsWithinNoBound promises that what a plan costs is known
// where a test is content with it.
func TestAnUnknownCostIsWithinNoBound(t *testing.T) {
	s := suiteOf(t, `
fluent "price" { type = number }
fluent "up" {}
action "buy" {
  cost = "price"
  effect { add = ["up"] }
}
`, `
test "bound" {
  facts = []
  plan  = ["buy"]
  expect { max_cost = 5 }
}
test "exact" {
  facts = []
  plan  = ["buy"]
  expect { cost = 0 }
}`)
	for i, want := range []string{"  plan: valid | valid\nx cost: at most 5 | unknown\n", "  plan: valid | valid\nx cost: 0 | unknown\n"} {
		if r := s.results(t)[i]; told(&r) != want {
			t.Errorf("%s:\n%s", r.Test.Name, told(&r))
		}
	}
}

// TestObjectsAreThoseOfStateAndGoal promises that objects of a discovered type
// are known where the state block or the goal names them.
func TestObjectsAreThoseOfStateAndGoal(t *testing.T) {
	s := suiteOf(t, `
type "node" {
  discover "exec" { command = ["nodes"] }
}
fluent "up" { params = { n = node } }
fluent "leader" { type = node }
action "start" {
  params = { n = node }
  effect { add = ["up(n)"] }
}
state "two" {
  facts  = ["up(n1)"]
  values = { leader = "n2" }
}
goal "up" {
  params    = { n = node }
  condition = ["up(n)"]
}
goal "all" { condition = ["all(node, up(#))"] }
`, `
test "of the state" {
  goal = "all"
  plan = ["start(n2)"]
  expect { state = { "up(n2)" = true } }
}
test "of the goal" {
  goal = "up(n3)"
  expect { steps = 1 }
}
test "of neither" {
  plan = ["start(n3)"]
  expect { kind = "unknown_object" }
}`)
	for _, r := range s.results(t) {
		if !r.Passed() {
			t.Errorf("%s: %s\n%s", r.Test.Name, r.Critique, told(&r))
		}
	}
}

// TestAPlanThatIsFoundIsValidated promises that the search is not believed.
func TestAPlanThatIsFoundIsValidated(t *testing.T) {
	s := suiteOf(t, rich, `test "t" {
  goal = "running"
  expect { valid = true }
}`)
	lie := func(ctx context.Context, p validator.Problem) (Answer, error) {
		a, err := find(ctx, p)
		a.Steps = a.Steps[1:]
		return a, err
	}
	r, err := s.Tests[0].Run(t.Context(), lie)
	if err != nil || r.Passed() {
		t.Errorf("passed with %q: %v", r.Found, err)
	}
	if want := "goal not reached after 1 step"; !strings.HasPrefix(r.Critique, want) {
		t.Errorf("critique %q, want %q", r.Critique, want)
	}
}

func TestAFailureToSearchIsNoVerdict(t *testing.T) {
	s := suiteOf(t, rich, `test "t" {
  goal = "running"
  expect { unsolvable = true }
}`)
	broken := errors.New("out of order")
	_, err := s.Tests[0].Run(t.Context(), func(context.Context, validator.Problem) (Answer, error) { return Answer{}, broken })
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), `test "t"`) {
		t.Errorf("%v", err)
	}
}

// TestALimitIsNoProof promises that a search that gave up proves nothing.
func TestALimitIsNoProof(t *testing.T) {
	s := suiteOf(t, rich, `test "t" {
  goal = "running"
  expect { unsolvable = true }
}`)
	r, err := s.Tests[0].Run(t.Context(), func(context.Context, validator.Problem) (Answer, error) {
		return Answer{Verdict: Undecided, Reason: "timeout"}, nil
	})
	if want := "x plan: unsolvable | undecided\n"; err != nil || told(&r) != want || r.Critique != "undecided: timeout" {
		t.Errorf("%v %q: %s", err, r.Critique, told(&r))
	}
}

// TestWhatATestCannotMeanIsTold promises a diagnostic for what the loader
// cannot tell.
func TestWhatATestCannotMeanIsTold(t *testing.T) {
	_, diags := newFrom(t, rich, `test "t" {
  observed = {}
  plan     = []
  expect { state = { "spare(n1)" = true, "at(db)" = "n2" } }
}`)
	var got []string
	for _, d := range diags {
		got = append(got, d.Summary+": "+d.Detail)
	}
	want := []string{`Not a ground fluent: There is no node "n1".`, "Wrong value: The value of at(db) is none that at can have."}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q", got)
	}
}
