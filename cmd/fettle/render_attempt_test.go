package main

import (
	"testing"
	"time"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/policy"
)

// What a model's attempts took is told with each, and their sum once a round:
// within the limits where they are known, and after a beginning that was not seen.
func TestWhatAttemptsTookIsTold(t *testing.T) {
	most, dear := 20, 0.5
	call := func(calls int, cost float64) executor.Decision {
		return executor.Decision{
			Decision: policy.Decision{Point: policy.PointCall, Answer: policy.Continue}, Progress: policy.Progress{Calls: calls, Cost: cost},
		}
	}
	bad := executor.Attempt{
		Planner: "main", Attempt: 1, Verdict: "fail", Next: "ask_again", Steps: []string{"a", "b"}, Critique: "step 2: b not applicable; missing a",
		MS: 1200, Calls: 2, Tokens: 12345, CostUSD: 0.004, Notes: []string{"the question leaves out the worked example"},
	}
	good := executor.Attempt{Planner: "main", Attempt: 2, Verdict: "pass", Next: "done", Steps: []string{"a"}, Cost: 1, MS: 30, Calls: 1, Tokens: 1, CostUSD: 0.00001}
	attempts := []any{
		executor.Decided, call(0, 0),
		executor.Decided, call(1, 0.001),
		executor.AttemptMade, bad,
		executor.Decided, call(2, 0.004),
		executor.AttemptMade, good,
		executor.RoundEnded,
		executor.RoundEnd{},
	}
	whole := append([]any{executor.RunStarted, executor.Started{Scope: "s", Goal: "g", MaxCalls: &most, MaxCost: &dear}}, attempts...)
	told1 := `  main       2 steps  ✗ step 2: b not applicable; missing a (1.20 s, 2 calls, 12,345 tokens, $0.004)
               the question leaves out the worked example
  main  attempt 2  1 step, cost 1, valid (30 ms, 1 token, less than $0.0001)
`
	want := "s · goal g\n\n" + told1 + "  used so far: 3 of 20 calls, $0.004 of $0.50\n\n"
	if got := told(t, whole...); got != want {
		t.Errorf("told\n%s\nwant\n%s", got, want)
	}
	attempts[1], attempts[3], attempts[7] = call(10, 0.25), call(11, 0.251), call(12, 0.254)
	if got, want := told(t, attempts...), told1+"  used so far: 13 calls, $0.254\n\n"; got != want {
		t.Errorf("after a beginning that was not seen told\n%s\nwant\n%s", got, want)
	}
}

func TestAttemptsAreToldForWhatTheyAre(t *testing.T) {
	steps := []model.Step{{Action: "a"}, {Action: "b"}}
	for want, at := range map[string]planner.Attempt{
		"no plan: the model refuses: no":                                {Outcome: planner.Fail, Kind: "refusal", Critique: "the model refuses: no", Proposal: planner.Proposal{Verdict: planner.Refused}},
		"2 steps, cost 3, valid, but a critic requires: step 1: later":  {Outcome: planner.Fail, Kind: planner.Objected, Critique: "a critic requires: step 1: later", Steps: steps, Cost: 3},
		"2 steps, invalid: step 1: a not applicable":                    {Outcome: planner.Fail, Kind: "precondition", Critique: "step 1: a not applicable", Steps: steps},
		"no answer: the server cannot be reached: no route to the host": {Outcome: planner.Error, Critique: "the server cannot be reached: no route to the host"},
		"no plan found: max_nodes = 5 reached":                          {Outcome: planner.Fail, Kind: planner.NoPlan, Critique: "no plan found: max_nodes = 5 reached", Proposal: planner.Proposal{Verdict: planner.GaveUp}},
		"2 steps, cost 3, valid, optimal":                               {Outcome: planner.Pass, Steps: steps, Cost: 3, Proposal: planner.Proposal{Optimal: true}},
		"unsolvable":                                                    {Outcome: planner.NeedsPerson, Proposal: planner.Proposal{Verdict: planner.SaysUnsolvable, Proof: true}, Took: time.Second},
	} {
		if got := attemptText(false, at); got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	}
}

func TestMoneyIsWrittenToTheCentAndBelow(t *testing.T) {
	for f, want := range map[float64]string{0: "$0.00", 0.5: "$0.50", 12: "$12.00", 0.004: "$0.004", 0.00426: "$0.0043", 0.00001: "less than $0.0001", 1234.5: "$1234.50"} {
		if got := usd(f); got != want {
			t.Errorf("%v is %s, want %s", f, got, want)
		}
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := grouped(n); got != want {
			t.Errorf("%d is %s", n, got)
		}
	}
}
