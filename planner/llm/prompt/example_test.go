package prompt_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/planner/llm/prompt"
	"github.com/fettleops/fettle/planner/search"
	"github.com/fettleops/fettle/validator"
)

// counted counts what a search is asked, and fails where told to.
type counted struct {
	planner.Proposer
	asked int
	fails error
	gives planner.Verdict
}

func (c *counted) Propose(ctx context.Context, r planner.Request) (planner.Proposal, error) {
	c.asked++
	if c.fails != nil || c.gives != "" {
		return planner.Proposal{Verdict: c.gives}, c.fails
	}
	return c.Proposer.Propose(ctx, r)
}

func builtin() *counted {
	return &counted{Proposer: planner.NewSearch("search", search.Options{})}
}

func text(steps []model.Step) string {
	s := ""
	for _, st := range steps {
		s += st.String() + " "
	}
	return s
}

// TestTheExampleIsASmallSolvedTask of the same model: valid from its start, of
// two to four steps, and none that the goal misses where there is another.
func TestTheExampleIsASmallSolvedTask(t *testing.T) {
	for name, want := range map[string]string{
		"classic":     "ready(api): drain(api) restart(api) ",
		"coordinated": "ready(api): drain(api) restart(api) ",
		"fleet":       "!in_lb(web) && lock(web): drain(web) take_lock(web) ",
	} {
		p := problem(t, "../../../examples/"+name)
		ex := prompt.MakeExample(t.Context(), p, builtin())
		if ex == nil {
			t.Errorf("%s: there is none", name)
			continue
		}
		if got := ex.Goal + ": " + text(ex.Steps); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		run := validator.Problem{U: p.U, Start: ex.Start, Goal: p.Goal}
		if got := validator.Validate(run, func(yield func(model.Step, error) bool) {
			for _, st := range ex.Steps {
				if !yield(st, nil) {
					return
				}
			}
		}); got.Kind != "" && got.Kind != validator.Goal {
			t.Errorf("%s: %s", name, got.Critique)
		}
	}
}

// never denies an action.
type never string

func (n never) Check(_ int, g model.Ground, _ *model.State) (string, bool) {
	return "rule never: no", g.Action.Name == string(n)
}

func TestWhereThereIsNoExample(t *testing.T) {
	const one = `
fluent "a" {}
fluent "b" {}
action "do" {
  effect { add = ["a"] }
}
goal "g" { condition = ["a"] }
`
	classic := problem(t, "../../../examples/classic")
	denied := classic
	denied.Rules = []validator.Rule{never("drain")}
	noGoal := classic
	noGoal.Goal = nil
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name   string
		ctx    context.Context
		p      validator.Problem
		search *counted
		asked  int
		want   bool
	}{
		{"tasks of one step alone", t.Context(), first(write(t, one)), builtin(), 1, false},
		{"what the policy denies is no example", t.Context(), denied, builtin(), 14, false},
		{"a search that gives up is not asked again", t.Context(), classic, &counted{gives: planner.GaveUp}, 1, false},
		{"nor one that fails", t.Context(), classic, &counted{fails: errors.New("no")}, 1, false},
		{"nor one that is cancelled", cancelled, classic, builtin(), 1, false},
		{"no goal is needed", t.Context(), noGoal, builtin(), 14, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := prompt.MakeExample(tt.ctx, tt.p, tt.search); (got != nil) != tt.want {
				t.Errorf("got %v", got)
			}
			if tt.search.asked > tt.asked {
				t.Errorf("the search was asked %d times, want at most %d", tt.search.asked, tt.asked)
			}
		})
	}
	if got := prompt.MakeExample(t.Context(), classic, nil); got != nil {
		t.Errorf("without a search: %v", got)
	}
}

// TestTheExampleIsTheSameEachTime.
func TestTheExampleIsTheSameEachTime(t *testing.T) {
	p := problem(t, "../../../examples/fleet")
	want := fmt.Sprint(prompt.MakeExample(t.Context(), p, builtin()).Steps)
	for range 10 {
		if got := fmt.Sprint(prompt.MakeExample(t.Context(), p, builtin()).Steps); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
}
