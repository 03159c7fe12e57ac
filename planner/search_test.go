package planner

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner/search"
	"github.com/fettleops/fettle/validator"
)

// TestSearchAsAProposer: what the search finds and proves is the round's result,
// and what it did not find leaves the question to the next proposer.
func TestSearchAsAProposer(t *testing.T) {
	tests := []struct {
		name    string
		options search.Options
		change  func(*lamp, *validator.Problem)
		want    string
	}{
		{"a plan", search.Options{}, nil, "search pass → done\nvalid by search: fit on, cost 2"},
		{
			"the goal's actions do not reach it",
			search.Options{},
			func(l *lamp, p *validator.Problem) { p.Allowed = []*model.Action{l.m.Action("on")} },
			"search needs-person: no sequence of actions reaches the goal → done\nunsolvable: no sequence of actions reaches the goal",
		},
		{
			"only an unknown fact could",
			search.Options{},
			func(l *lamp, p *validator.Problem) {
				p.Allowed = []*model.Action{l.m.Action("on")}
				p.Start.Set(model.Atom{Fluent: l.bulb}, model.Value{})
			},
			"search needs-person: no plan is sure to reach the goal (unknown: bulb) → done\nunobservable: no plan is sure to reach the goal (unknown: bulb) [bulb]",
		},
		{
			"its limit is reached",
			search.Options{MaxNodes: 1},
			nil,
			"search fail no_plan: no plan found: max_nodes: 1 states were looked at → ask_next\nm fail precondition: step 1: off not applicable; missing lit → ask_again\nm fail precondition: step 1: off not applicable; missing lit → end_round\nexhausted: step 1: off not applicable; missing lit",
		},
		{
			"a rule denies every plan",
			search.Options{},
			func(_ *lamp, p *validator.Problem) { p.Rules = []validator.Rule{never("on")} },
			"search needs-person: the rules leave no plan: of the 2 steps that would reach the goal, step 2: on denied by rule freeze: not on a Friday → done\ndenied: the rules leave no plan: of the 2 steps that would reach the goal, step 2: on denied by rule freeze: not on a Friday; without rules fit on; denied 2 on rule freeze: not on a Friday",
		},
		{
			"a rule denies what leads nowhere",
			search.Options{},
			func(_ *lamp, p *validator.Problem) { p.Rules = []validator.Rule{never("off")} },
			"search pass → done\nvalid by search: fit on, cost 2",
		},
		{
			"rules or not, the goal's actions do not reach it",
			search.Options{},
			func(l *lamp, p *validator.Problem) {
				p.Allowed, p.Rules = []*model.Action{l.m.Action("on"), l.m.Action("off")}, []validator.Rule{never("on"), never("off")}
			},
			"search needs-person: no sequence of actions reaches the goal → done\nunsolvable: no sequence of actions reaches the goal",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newLamp()
			p := l.problem()
			if tt.change != nil {
				tt.change(l, &p)
			}
			proposers := []Proposer{NewSearch("search", tt.options), says("m", proposal("off"))}
			res, err := Round(t.Context(), p, proposers, Limits{MaxAttempts: 3}, Unlimited{}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := transcript(res); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// never denies an action, whatever the step and the state.
type never string

func (n never) Check(_ int, g model.Ground, _ *model.State) (string, bool) {
	return "rule freeze: not on a Friday", g.Action.Name == string(n)
}

func (never) Reads() (step, state bool) { return false, false }

// TestSearchStops where the round is cancelled, and does not take that for an
// answer.
func TestSearchStops(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("terminal closed")
	cancel(gone)
	if _, err := NewSearch("search", search.Options{Timeout: time.Hour}).Propose(ctx, Request{Problem: newLamp().problem()}); !errors.Is(err, context.Canceled) {
		t.Errorf("the search answered %v", err)
	}
	res, err := Round(ctx, newLamp().problem(), []Proposer{NewSearch("search", search.Options{})}, Limits{MaxAttempts: 1}, Unlimited{}, nil, nil)
	if !errors.Is(err, gone) || res.Status == Valid {
		t.Errorf("%s, %v", res.Status, err)
	}
}
