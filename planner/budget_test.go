package planner

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// purse agrees to a number of requests.
type purse struct {
	left  int
	asked []Usage
}

func (p *purse) Reserve(u Usage) (func(Usage), error) {
	p.asked = append(p.asked, u)
	if p.left == 0 {
		return nil, errors.New("max_calls = 3 reached")
	}
	p.left--
	return func(Usage) {}, nil
}

// TestBudgetIsAskedBeforeEveryProposal: its refusal ends the round with what it
// said, and nobody is asked any more.
func TestBudgetIsAskedBeforeEveryProposal(t *testing.T) {
	m := says("m", proposal("on"), proposal("off"), proposal("fit"), proposal("fit on"))
	res, err := Round(t.Context(), newLamp().problem(), []Proposer{m}, Limits{MaxAttempts: 9}, &purse{left: 2}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.asked) != 2 || res.Status != Exhausted || res.Reason != "max_calls = 3 reached" {
		t.Errorf("%d questions, %s: %s", len(m.asked), res.Status, res.Reason)
	}
	var stop *StopError
	if !errors.As(res.Stopped, &stop) {
		t.Errorf("stopped by %v", res.Stopped)
	}
}

// TestBudgetRefusalInsideAProposer: a call that the policy forbids is no error
// of the proposer, so the next proposer is not asked either.
func TestBudgetRefusalInsideAProposer(t *testing.T) {
	m, n := says("m", proposal("fit on")), says("n", proposal("fit on"))
	m.hook = func(_ context.Context, r Request) error {
		if _, err := r.Budget.Reserve(Usage{Calls: 1, Cost: 0.5}); err != nil {
			return fmt.Errorf("ask gpt: %w", err)
		}
		return nil
	}
	budget := &purse{left: 1}
	res, err := Round(t.Context(), newLamp().problem(), []Proposer{m, n}, Limits{MaxAttempts: 9}, budget, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if res.Stopped == nil || res.Status != Exhausted || len(n.asked) != 0 || len(res.Attempts) != 0 {
		t.Errorf("stopped by %v, %s, n was asked %d times, %d attempts", res.Stopped, res.Status, len(n.asked), len(res.Attempts))
	}
	if got := fmt.Sprint(budget.asked); got != "[{0 0 0 0} {1 0 0 0.5}]" {
		t.Errorf("asked for %s", got)
	}
}

// TestUsageIsSummed: over attempts that failed and that passed.
func TestUsageIsSummed(t *testing.T) {
	bad, good := proposal("on"), proposal("fit on")
	bad.Usage, good.Usage = Usage{1, 100, 10, 0.25}, Usage{2, 200, 20, 0.5}
	res, err := Round(t.Context(), newLamp().problem(), []Proposer{says("m", bad, good)}, Limits{MaxAttempts: 9}, Unlimited{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := (Usage{3, 300, 30, 0.75}); res.Usage != want || res.Attempts[1].Usage != good.Usage {
		t.Errorf("usage %+v", res.Usage)
	}
}
