package policy

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// restart is a failure.
var restart = NewFailureKey("not_applied", "restart(api)")

// strict is a policy whose limits all differ.
func strict() *Policy {
	return &Policy{
		Mode: Approve, MaxRounds: 3, MaxAttempts: 4, MaxActions: 7, Deadline: 10 * time.Minute, MaxRepeats: 2,
		SameFailureRetries: 2, NoEvidenceRounds: 2, MaxErrors: 5,
		MaxCalls: AtMost(20), MaxCost: AtMost(0.5), MaxWait: AtMost(time.Minute),
	}
}

// at is a progress of one minute, with one planner.
func at(change func(*Progress)) Progress {
	g := Progress{Round: 1, Attempts: 1, Planners: 1, Started: start, Now: start.Add(time.Minute)}
	if change != nil {
		change(&g)
	}
	return g
}

// TestDecisions holds every limit just below, at, and beyond where it says no.
func TestDecisions(t *testing.T) {
	tests := []struct {
		name   string
		point  Point
		policy func(*Policy)
		change func(*Progress)
		want   string // answer reason: reasons
	}{
		{"a first round", PointRound, nil, func(g *Progress) { g.Round = 0 }, "continue: 0 of 3 rounds used; 1m of 10m used"},
		{"the last round", PointRound, nil, func(g *Progress) { g.Round = 2 }, "continue: 2 of 3 rounds used; 1m of 10m used"},
		{"after the last round", PointRound, nil, func(g *Progress) { g.Round = 3 }, "stop rounds: max_rounds = 3 reached"},
		{"rounds do not stop an action of the last", PointAction, nil, func(g *Progress) { g.Round = 3 }, "continue: 0 of 7 actions used; 1m of 10m used"},
		{"a proposal", PointAttempt, nil, nil, "continue: 1 of 4 attempts used; 1m of 10m used"},

		{"just before the deadline", PointAction, nil, func(g *Progress) { g.Now = start.Add(10*time.Minute - time.Millisecond) }, "continue: 0 of 7 actions used; 10m of 10m used"},
		{"at the deadline", PointAction, nil, func(g *Progress) { g.Now = start.Add(10 * time.Minute) }, "stop deadline: deadline = 10m is over: the run started 10m ago"},
		{"the deadline holds for proposals", PointAttempt, nil, func(g *Progress) { g.Now = start.Add(time.Hour) }, "stop deadline: deadline = 10m is over: the run started 1h ago"},
		{"and for rounds", PointRound, nil, func(g *Progress) { g.Now = start.Add(611 * time.Second) }, "stop deadline: deadline = 10m is over: the run started 10m11s ago"},
		{"a policy without a deadline allows no time", PointRound, func(p *Policy) { p.Deadline = 0 }, nil, "stop deadline: deadline = 0s is over: the run started 1m ago"},

		{"the last action", PointAction, nil, func(g *Progress) { g.Actions = 6 }, "continue: 6 of 7 actions used; 1m of 10m used"},
		{"after the last action", PointAction, nil, func(g *Progress) { g.Actions = 7 }, "stop budget: max_actions = 7 reached: 7 executed"},
		{"a retry is an action", PointRetry, nil, func(g *Progress) { g.Actions = 7 }, "stop budget: max_actions = 7 reached: 7 executed"},
		{"no action at all", PointAction, func(p *Policy) { p.MaxActions = 0 }, nil, "stop budget: max_actions = 0 reached: 0 executed"},
		{"suggest never acts", PointAction, func(p *Policy) { p.Mode = Suggest }, nil, `stop denied: mode = "suggest": plans are proposed and nothing is carried out`},
		{"suggest never retries", PointRetry, func(p *Policy) { p.Mode = Suggest }, nil, `stop denied: mode = "suggest": plans are proposed and nothing is carried out`},
		{"suggest proposes", PointAttempt, func(p *Policy) { p.Mode = Suggest }, nil, "continue: 1 of 4 attempts used; 1m of 10m used"},

		{"the last call", PointCall, nil, func(g *Progress) { g.Calls = 19 }, "continue: 19 of 20 calls used; $0 of $0.5 used; 1m of 10m used"},
		{"after the last call", PointCall, nil, func(g *Progress) { g.Calls = 20 }, "stop budget: max_calls = 20 reached: 20 used"},
		{"calls under way count", PointCall, nil, func(g *Progress) { g.Calls, g.NextCalls = 18, 3 }, "stop budget: max_calls = 20 reached: 18 used"},
		{"no call at all", PointCall, func(p *Policy) { p.MaxCalls = AtMost(0) }, nil, "stop budget: max_calls = 0 reached: 0 used"},
		{"no limit of calls", PointCall, func(p *Policy) { p.MaxCalls = Limit[int]{} }, func(g *Progress) { g.Calls = 1000 }, "continue: $0 of $0.5 used; 1m of 10m used"},
		{"a call that just fits", PointCall, nil, func(g *Progress) { g.Cost, g.NextCost = 0.25, 0.25 }, "continue: 0 of 20 calls used; $0.25 of $0.5 used; 1m of 10m used"},
		{"a call that may not fit", PointCall, nil, func(g *Progress) { g.Cost, g.NextCost = 0.25, 0.26 }, "stop budget: max_cost = $0.5 could be exceeded: $0.25 used, and the next call may cost $0.26"},
		{"all the money is spent", PointCall, nil, func(g *Progress) { g.Cost = 0.5 }, "stop budget: max_cost = $0.5 reached: $0.5 used"},
		{"what costs nothing under no money", PointCall, func(p *Policy) { p.MaxCost = AtMost(0.0) }, nil, "continue: 0 of 20 calls used; $0 of $0 used; 1m of 10m used"},
		{"what costs under no money", PointCall, func(p *Policy) { p.MaxCost = AtMost(0.0) }, func(g *Progress) { g.NextCost = 0.01 }, "stop budget: max_cost = $0 could be exceeded: $0 used, and the next call may cost $0.01"},
		{"calls do not stop an action", PointAction, nil, func(g *Progress) { g.Calls, g.Cost = 20, 0.5 }, "continue: 0 of 7 actions used; 1m of 10m used"},

		{"as many errors as are survived", PointRetry, nil, func(g *Progress) { g.Errors = 5 }, "continue: 0 of 7 actions used; 1m of 10m used"},
		{"one error more", PointRetry, nil, func(g *Progress) { g.Errors = 6 }, "stop error: max_errors = 5 exceeded: 6 infrastructure errors"},
		{"errors stop proposals too", PointAttempt, nil, func(g *Progress) { g.Errors = 6 }, "stop error: max_errors = 5 exceeded: 6 infrastructure errors"},
		{"no error is survived", PointRound, func(p *Policy) { p.MaxErrors = 0 }, func(g *Progress) { g.Errors = 1 }, "stop error: max_errors = 0 exceeded: 1 infrastructure errors"},

		{"a failure", PointRetry, nil, func(g *Progress) { g.SameFailure = 1 }, "continue: 0 of 7 actions used; 1m of 10m used"},
		{
			"the same failure again", PointRetry, nil,
			func(g *Progress) { g.SameFailure, g.Failure = 2, restart },
			"stop no_progress: same_failure_retries = 2 reached by not_applied of restart(api), and there is no other planner",
		},
		{
			"the same failure, and another planner", PointRound, nil,
			func(g *Progress) { g.SameFailure, g.Failure, g.Planners = 2, restart, 2 },
			"continue, next planner: same_failure_retries = 2 reached by not_applied of restart(api): the next planner is asked; 1 of 3 rounds used; 1m of 10m used",
		},
		{"the same failure does not stop another action", PointAction, nil, func(g *Progress) { g.SameFailure = 2 }, "continue: 0 of 7 actions used; 1m of 10m used"},
		{"a round without evidence", PointRound, nil, func(g *Progress) { g.RoundsNoEvidence = 1 }, "continue: 1 of 3 rounds used; 1m of 10m used"},
		{"rounds without evidence", PointRound, nil, func(g *Progress) { g.RoundsNoEvidence = 2 }, "stop no_progress: no_evidence_rounds = 2 reached: nothing new was learned in the last 2 rounds"},
		{"one round suffices where one is the limit", PointRound, func(p *Policy) { p.NoEvidenceRounds = 1 }, func(g *Progress) { g.RoundsNoEvidence = 1 }, "stop no_progress: no_evidence_rounds = 1 reached: nothing new was learned in the last round"},

		{"paused", PointAction, nil, func(g *Progress) { g.Paused = true }, "checkpoint paused: actions are paused everywhere"},
		{"waiting", PointAction, nil, func(g *Progress) { g.Waited = time.Minute - 1 }, "continue: 0 of 7 actions used; 1m of 10m used"},
		{"waited long enough", PointAction, nil, func(g *Progress) { g.Waited = time.Minute }, "checkpoint busy: max_wait = 1m is over: somebody else holds a lease that is needed"},
		{"never wait", PointAction, func(p *Policy) { p.MaxWait = AtMost(time.Duration(0)) }, func(g *Progress) { g.Waited = 1 }, "checkpoint busy: max_wait = 0s is over: somebody else holds a lease that is needed"},
		{"nothing to wait for", PointAction, func(p *Policy) { p.MaxWait = AtMost(time.Duration(0)) }, nil, "continue: 0 of 7 actions used; 1m of 10m used"},
		{"wait for ever", PointAction, func(p *Policy) { p.MaxWait = Limit[time.Duration]{} }, func(g *Progress) { g.Waited = time.Hour }, "continue: 0 of 7 actions used; 1m of 10m used"},

		{
			"a stop outweighs a checkpoint, and every reason is told", PointAction, nil,
			func(g *Progress) { g.Paused, g.Actions, g.Now = true, 7, start.Add(11*time.Minute) },
			"stop deadline: deadline = 10m is over: the run started 11m ago; max_actions = 7 reached: 7 executed; actions are paused everywhere",
		},
		{
			"a planner is not given up by a run that stops", PointRound, nil,
			func(g *Progress) { g.SameFailure, g.Failure, g.Planners, g.Round = 2, "x", 2, 3 },
			"stop rounds: max_rounds = 3 reached; same_failure_retries = 2 reached by x: the next planner is asked",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := strict()
			if tt.policy != nil {
				tt.policy(p)
			}
			d := p.Decide(tt.point, at(tt.change))
			if got := text(d); got != tt.want || d.Point != tt.point {
				t.Errorf("at %s\ngot  %s\nwant %s", d.Point, got, tt.want)
			}
		})
	}
}

func text(d Decision) string {
	s := string(d.Answer)
	if d.Reason != "" {
		s += " " + d.Reason
	}
	if d.NextPlanner {
		s += ", next planner"
	}
	return s + ": " + strings.Join(d.Reasons, "; ")
}

// TestDecisionsCanBeDerivedAgain: from the journal's JSON, the same progress
// gives the same decision.
func TestDecisionsCanBeDerivedAgain(t *testing.T) {
	g := at(func(g *Progress) {
		g.Round, g.SameFailure, g.Failure, g.Planners, g.Waited, g.Cost = 2, 2, NewFailureKey("x", "y", "z"), 2, 3*time.Second, 0.1
	})
	raw, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	var again Progress
	if err := json.Unmarshal(raw, &again); err != nil {
		t.Fatal(err)
	}
	if again != g {
		t.Errorf("%s reads back as %+v", raw, again)
	}
	for _, at := range []Point{PointAttempt, PointCall, PointAction, PointRetry, PointRound} {
		if a, b := text(strict().Decide(at, g)), text(strict().Decide(at, again)); a != b {
			t.Errorf("at %s: %s, then %s", at, a, b)
		}
	}
	raw, err = json.Marshal(strict().Decide(PointRound, g))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"point":"round","answer":"continue","next_planner":true,"reasons":["same_failure_retries = 2 reached by x of y (z): the next planner is asked","2 of 3 rounds used","1m of 10m used"]}`
	if string(raw) != want {
		t.Errorf("got  %s\nwant %s", raw, want)
	}
}
