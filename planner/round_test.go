package planner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

// TestRoundTranscripts holds what is asked of whom, and what comes of it.
func TestRoundTranscripts(t *testing.T) {
	unreadable := Proposal{Unreadable: &validator.SyntaxError{Line: 1, Message: `"Sure!" is not an action; write name(arg, …)`}}
	tests := []struct {
		name      string
		proposers []*script
		limits    Limits
		want      string // the attempts, a line each, then the result
	}{
		{
			name:      "a critique goes back until the plan is valid",
			proposers: []*script{says("m", proposal("on"), unreadable, proposal("fit on"))},
			limits:    Limits{MaxAttempts: 3},
			want: `m fail precondition: step 1: on not applicable; missing bulb → ask_again
m fail syntax: line 1: "Sure!" is not an action; write name(arg, …) → ask_again
m pass → done
valid by m: fit on, cost 2`,
		},
		{
			name:      "the attempts are the limit over all proposers",
			proposers: []*script{says("m", proposal("on"), proposal("off"), proposal("fit")), says("n", proposal("fit on"))},
			limits:    Limits{MaxAttempts: 3},
			want: `m fail precondition: step 1: on not applicable; missing bulb → ask_again
m fail precondition: step 1: off not applicable; missing lit → ask_again
m fail goal: goal not reached after 1 step; missing lit (false from the start) → end_round
exhausted: goal not reached after 1 step; missing lit (false from the start)`,
		},
		{
			name:      "the same failure in a row moves on to the next proposer",
			proposers: []*script{says("m", proposal("on"), proposal("off"), proposal("on"), proposal("on")), says("n", proposal("fit on"))},
			limits:    Limits{MaxAttempts: 9, SameFailureRetries: 2},
			want: `m fail precondition: step 1: on not applicable; missing bulb → ask_again
m fail precondition: step 1: off not applicable; missing lit → ask_again
m fail precondition: step 1: on not applicable; missing bulb → ask_again
m fail precondition: step 1: on not applicable; missing bulb → ask_next
n pass → done
valid by n: fit on, cost 2`,
		},
		{
			name:      "the same failure of the last proposer ends the round",
			proposers: []*script{says("m", proposal("on"))},
			limits:    Limits{MaxAttempts: 9, SameFailureRetries: 2},
			want: `m fail precondition: step 1: on not applicable; missing bulb → ask_again
m fail precondition: step 1: on not applicable; missing bulb → end_round
exhausted: step 1: on not applicable; missing bulb`,
		},
		{
			name:      "a proposer that cannot be asked is followed by the next",
			proposers: []*script{{name: "m", err: errors.New("connection refused")}, says("n", proposal("fit on"))},
			limits:    Limits{MaxAttempts: 3},
			want: `m error error: connection refused → ask_next
n pass → done
valid by n: fit on, cost 2`,
		},
		{
			name:      "a final answer is not asked for again",
			proposers: []*script{says("f", Proposal{Steps: plan("on"), Final: true}), says("n", proposal("fit on"))},
			limits:    Limits{MaxAttempts: 3},
			want: `f fail precondition: step 1: on not applicable; missing bulb → ask_next
n pass → done
valid by n: fit on, cost 2`,
		},
		{
			name:      "an opinion that there is no plan proves nothing",
			proposers: []*script{says("m", Proposal{Verdict: SaysUnsolvable, Reason: "there is no bulb"}, proposal("fit on"))},
			limits:    Limits{MaxAttempts: 3},
			want: `m fail no_plan: the goal is said to be unsolvable, without proof: there is no bulb → ask_again
m pass → done
valid by m: fit on, cost 2`,
		},
		{
			name:      "a proof ends the round at once",
			proposers: []*script{says("s", Proposal{Verdict: SaysUnobservable, Proof: true, Reason: "bulb is unknown", Unknown: []string{"bulb"}}), says("n", proposal("fit on"))},
			limits:    Limits{MaxAttempts: 3},
			want: `s needs-person: bulb is unknown → done
unobservable: bulb is unknown [bulb]`,
		},
		{
			name:      "a search that reached its limits is followed by the next",
			proposers: []*script{says("s", Proposal{Verdict: GaveUp, Reason: "max_nodes = 5 reached"}), says("n", proposal("fit on"))},
			limits:    Limits{MaxAttempts: 3},
			want: `s fail no_plan: no plan found: max_nodes = 5 reached → ask_next
n pass → done
valid by n: fit on, cost 2`,
		},
		{
			name:      "a plan that is too long is told so",
			proposers: []*script{says("m", proposal("fit on off on"), proposal("fit on"))},
			limits:    Limits{MaxAttempts: 3, MaxPlanSteps: 2},
			want: `m fail policy: step 3: off denied by max_plan_steps: the plan has 4 steps, at most 2 are allowed → ask_again
m pass → done
valid by m: fit on, cost 2`,
		},
		{
			name:      "a violation within the allowed steps comes first",
			proposers: []*script{says("m", proposal("on fit on"), proposal("fit on"))},
			limits:    Limits{MaxAttempts: 3, MaxPlanSteps: 2},
			want: `m fail precondition: step 1: on not applicable; missing bulb → ask_again
m pass → done
valid by m: fit on, cost 2`,
		},
		{
			name:      "a violation of the last allowed step comes first too",
			proposers: []*script{says("m", proposal("on fit"), proposal("fit"))},
			limits:    Limits{MaxAttempts: 2, MaxPlanSteps: 1},
			want: `m fail precondition: step 1: on not applicable; missing bulb → ask_again
m fail goal: goal not reached after 1 step; missing lit (false from the start) → end_round
exhausted: goal not reached after 1 step; missing lit (false from the start)`,
		},
		{
			name:      "prose after as many steps as are allowed",
			proposers: []*script{says("m", Proposal{Steps: plan("fit on"), Unreadable: unreadable.Unreadable})},
			limits:    Limits{MaxAttempts: 1, MaxPlanSteps: 2},
			want: `m fail policy: step 3: this line denied by max_plan_steps: the plan has 3 steps, at most 2 are allowed → end_round
exhausted: step 3: this line denied by max_plan_steps: the plan has 3 steps, at most 2 are allowed`,
		},
		{
			name:      "the empty plan is valid only where the goal holds",
			proposers: []*script{says("m", proposal(""))},
			limits:    Limits{MaxAttempts: 1},
			want: `m fail goal: goal not reached after 0 steps; missing lit (false from the start) → end_round
exhausted: goal not reached after 0 steps; missing lit (false from the start)`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, err := Round(t.Context(), newLamp().problem(), proposersOf(tt.proposers), tt.limits, Unlimited{}, NewTried(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := transcript(res); got != tt.want || res.Repeated {
				t.Errorf("got (repeated %v)\n%s\nwant\n%s", res.Repeated, got, tt.want)
			}
		})
	}
}

// TestTooLongIsAReport: the policy's limit is a violation like the validator's,
// at the first step beyond it.
func TestTooLongIsAReport(t *testing.T) {
	res, err := Round(t.Context(), newLamp().problem(), []Proposer{says("m", proposal("fit on off on"))}, Limits{MaxAttempts: 1, MaxPlanSteps: 2}, Unlimited{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	rep := res.Attempts[0].Report
	if rep.Valid || rep.Step != 3 || rep.Steps != 4 || rep.Action != "off" || rep.Kind != validator.Policy || rep.Goal != "light" {
		t.Errorf("reported as %+v", rep)
	}
}

func proposersOf(scripts []*script) []Proposer {
	var out []Proposer
	for _, s := range scripts {
		out = append(out, s)
	}
	return out
}

func transcript(res Result) string {
	var b strings.Builder
	for _, a := range res.Attempts {
		fmt.Fprintf(&b, "%s %s", a.Proposer, a.Outcome)
		if a.Kind != "" {
			fmt.Fprintf(&b, " %s", a.Kind)
		}
		if a.Critique != "" {
			fmt.Fprintf(&b, ": %s", a.Critique)
		}
		fmt.Fprintf(&b, " → %s\n", a.Next)
	}
	if res.Status == Valid {
		fmt.Fprintf(&b, "valid by %s: %s, cost %g", res.Proposer, planText(res.Plan), res.Cost)
		return b.String()
	}
	fmt.Fprintf(&b, "%s: %s", res.Status, res.Reason)
	if len(res.Unknown) > 0 {
		fmt.Fprintf(&b, " %v", res.Unknown)
	}
	if len(res.Without) > 0 {
		fmt.Fprintf(&b, "; without rules %s", planText(res.Without))
	}
	for _, d := range res.Denials {
		fmt.Fprintf(&b, "; denied %d %s %s", d.Step, d.Action, d.Reason)
	}
	return b.String()
}

// TestRequestCarriesTheCritiques: the next question has every attempt so far,
// and the objective.
func TestRequestCarriesTheCritiques(t *testing.T) {
	m, n := says("m", proposal("on")), says("n", proposal("fit on"))
	_, err := Round(t.Context(), newLamp().problem(), []Proposer{m, n}, Limits{MaxAttempts: 5, SameFailureRetries: 2, MaxPlanSteps: 7}, Unlimited{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.asked) != 2 || len(n.asked) != 1 {
		t.Fatalf("m was asked %d times, n %d times", len(m.asked), len(n.asked))
	}
	got := n.asked[0]
	if got.Goal != "The lamp is lit." || got.MaxPlanSteps != 7 || len(got.Attempts) != 2 {
		t.Errorf("n was asked %q, at most %d steps, after %d attempts", got.Goal, got.MaxPlanSteps, len(got.Attempts))
	}
	if c := got.Attempts[1].Critique; c != "step 1: on not applicable; missing bulb" {
		t.Errorf("critique %q", c)
	}
	if len(m.asked[0].Attempts) != 0 {
		t.Error("the first question has attempts")
	}
}

func TestAttemptsAreToldAsTheyAreMade(t *testing.T) {
	var told []string
	note := func(a Attempt) error {
		told = append(told, fmt.Sprintf("%d %s %s", a.Number, a.Outcome, a.Next))
		return nil
	}
	_, err := Round(t.Context(), newLamp().problem(), []Proposer{says("m", proposal("on"), proposal("fit on"))}, Limits{MaxAttempts: 5}, Unlimited{}, nil, note)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(told, "; "); got != "1 fail ask_again; 2 pass done" {
		t.Errorf("told %q", got)
	}
}

// TestNoPlanWithoutItsRecord: where an attempt cannot be recorded the round
// ends with that error.
func TestNoPlanWithoutItsRecord(t *testing.T) {
	full := errors.New("journal is full")
	m := says("m", proposal("on"), proposal("fit on"))
	_, err := Round(t.Context(), newLamp().problem(), []Proposer{m}, Limits{MaxAttempts: 5}, Unlimited{}, nil, func(Attempt) error { return full })
	if !errors.Is(err, full) || len(m.asked) != 1 {
		t.Errorf("error %v after %d questions", err, len(m.asked))
	}
}

func TestErrorOfEveryProposerIsAnError(t *testing.T) {
	m, n := &script{name: "m", err: errors.New("no route")}, &script{name: "n", err: errors.New("no key")}
	res, err := Round(t.Context(), newLamp().problem(), []Proposer{m, n}, Limits{MaxAttempts: 5}, Unlimited{}, nil, nil)
	if err == nil || err.Error() != "m: no route\nn: no key" {
		t.Errorf("error %v", err)
	}
	if res.Status != Exhausted || len(res.Attempts) != 2 {
		t.Errorf("status %s after %d attempts", res.Status, len(res.Attempts))
	}
}

func TestCancellationEndsTheRound(t *testing.T) {
	t.Run("before a question", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("deadline is over"))
		m := says("m", proposal("fit on"))
		_, err := Round(ctx, newLamp().problem(), []Proposer{m}, Limits{MaxAttempts: 1}, Unlimited{}, nil, nil)
		if err == nil || err.Error() != "planning was stopped: deadline is over" || len(m.asked) != 0 {
			t.Errorf("error %v after %d questions", err, len(m.asked))
		}
	})
	t.Run("while a proposer thinks", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		m := says("m", proposal("fit on"))
		m.hook = func(ctx context.Context, _ Request) error {
			cancel(errors.New("interrupted"))
			<-ctx.Done()
			return ctx.Err()
		}
		n := says("n", proposal("fit on"))
		res, err := Round(ctx, newLamp().problem(), []Proposer{m, n}, Limits{MaxAttempts: 3}, Unlimited{}, nil, nil)
		if err == nil || err.Error() != "planning was stopped: interrupted" || len(n.asked) != 0 || len(res.Attempts) != 0 {
			t.Errorf("error %v, %d attempts, and n was asked %d times", err, len(res.Attempts), len(n.asked))
		}
	})
}

func TestRoundNeedsProposersAndAttempts(t *testing.T) {
	for _, limits := range []Limits{{}, {MaxAttempts: -1}} {
		if _, err := Round(t.Context(), newLamp().problem(), []Proposer{says("m", proposal(""))}, limits, Unlimited{}, nil, nil); err == nil {
			t.Errorf("no error with %+v", limits)
		}
	}
	if _, err := Round(t.Context(), newLamp().problem(), nil, Limits{MaxAttempts: 1}, Unlimited{}, nil, nil); err == nil {
		t.Error("no error without proposers")
	}
}

// TestRepeatsAreToleratedAFewTimes: the same plan from an equal state is
// accepted max_repeats times, then another is asked for.
func TestRepeatsAreToleratedAFewTimes(t *testing.T) {
	l, tried, limits := newLamp(), NewTried(), Limits{MaxAttempts: 2, MaxRepeats: 2}
	for i := range 2 {
		res, err := Round(t.Context(), l.problem(), []Proposer{says("m", proposal("fit on"))}, limits, Unlimited{}, tried, nil)
		if err != nil || res.Status != Valid || tried.Count(res.Key) != i+1 {
			t.Fatalf("round %d: %s, %v", i+1, res.Status, err)
		}
	}
	res, err := Round(t.Context(), l.problem(), []Proposer{says("m", proposal("fit on"), proposal("fit on off on"))}, limits, Unlimited{}, tried, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `m fail repeat: this plan was tried 2 times from an equal state; propose another → ask_again
m pass → done
valid by m: fit on off on, cost 4`
	if got := transcript(res); got != want || !res.Repeated {
		t.Errorf("got (repeated %v)\n%s\nwant\n%s", res.Repeated, got, want)
	}

	changed := l.problem()
	changed.Start.Set(model.Atom{Fluent: l.bulb}, model.BoolValue(true))
	res, err = Round(t.Context(), changed, []Proposer{says("m", proposal("fit on"))}, limits, Unlimited{}, tried, nil)
	if err != nil || res.Status != Valid {
		t.Errorf("from another state: %s, %v", res.Status, err)
	}
}

func TestUptakeIsKeptByProposer(t *testing.T) {
	m := says("m", proposal("on"), proposal("on"), proposal("off"), proposal("off"))
	n := says("n", proposal("on"), proposal("fit on"))
	res, err := Round(t.Context(), newLamp().problem(), []Proposer{m, n}, Limits{MaxAttempts: 9, SameFailureRetries: 3}, Unlimited{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(res.Uptake); got != "map[m:{4 1} n:{1 1}]" {
		t.Errorf("uptake %s", got)
	}
}

// TestUptakeNeedsAProposal: an error after a critique is no use of it.
func TestUptakeNeedsAProposal(t *testing.T) {
	m := says("m", proposal("on"))
	m.hook = func(context.Context, Request) error {
		if len(m.asked) == 2 {
			return errors.New("connection reset")
		}
		return nil
	}
	res, err := Round(t.Context(), newLamp().problem(), []Proposer{m}, Limits{MaxAttempts: 9}, Unlimited{}, nil, nil)
	if err != nil || len(res.Uptake) != 0 {
		t.Errorf("uptake %v, %v", res.Uptake, err)
	}
}

// TestRepeatedPlanMovesOn: who proposes a plan again that was rejected, be it
// after another one, has nothing else, and the next is asked.
func TestRepeatedPlanMovesOn(t *testing.T) {
	m := says("m", proposal("on"), proposal("off"), proposal("on"), proposal("off"))
	n := says("n", proposal("fit on"))
	limits := Limits{MaxAttempts: 9, SameFailureRetries: 9, MaxRepeats: 2}
	res, err := Round(t.Context(), newLamp().problem(), []Proposer{m, n}, limits, Unlimited{}, nil, nil)
	if err != nil || res.Proposer != "n" || len(m.asked) != 3 {
		t.Errorf("by %s after %d of m's plans, %v", res.Proposer, len(m.asked), err)
	}
	limits.MaxRepeats = 0 // Any number.
	res, err = Round(t.Context(), newLamp().problem(), []Proposer{m}, limits, Unlimited{}, nil, nil)
	if err != nil || len(res.Attempts) != 9 {
		t.Errorf("%d attempts, %v", len(res.Attempts), err)
	}
}

// spender made calls, and has nothing to show for them.
type spender struct {
	Proposal
	err error
}

func (*spender) Name() string { return "m" }

func (s *spender) Propose(context.Context, Request) (Proposal, error) { return s.Proposal, s.err }

// TestCallsForNothingAreTold: what was called before the budget said no is an
// attempt like any other.
func TestCallsForNothingAreTold(t *testing.T) {
	m := &spender{Proposal{Usage: Usage{Calls: 2}}, &StopError{errors.New("max_calls = 2 reached; before that: HTTP 503")}}
	res, err := Round(t.Context(), newLamp().problem(), []Proposer{m}, Limits{MaxAttempts: 9}, Unlimited{}, nil, nil)
	if err != nil || res.Stopped == nil || len(res.Attempts) != 1 || res.Usage.Calls != 2 || res.Attempts[0].Critique != m.err.Error() || res.Attempts[0].Next != EndRound {
		t.Errorf("%+v, %v", res, err)
	}
}
