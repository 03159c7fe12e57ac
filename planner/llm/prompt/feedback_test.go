package prompt_test

import (
	"strings"
	"testing"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/planner/llm/prompt"
	"github.com/fettleops/fettle/validator"
)

// TestEveryFailingStepIsTold with the numbers of the plan as it was written.
func TestEveryFailingStepIsTold(t *testing.T) {
	p := problem(t, "../../../examples/classic")
	for _, tt := range []struct{ name, plan, want string }{
		{"one, without which the plan is good", "drain(api) restart(api) take_lock(db) release(api) readd(api) drain(db) revert(db) readd(db) release(db)", `
"step 4: release(api) not applicable; missing lock(api)"
"without these steps the plan reaches the goal"`},
		{"several, of several kinds", "restart(api) drain(api) rebot(api) restart(nobody) readd(api) take_lock(db) drain(db) revert(api)", `
"step 1: restart(api) not applicable; missing drained(api)"
"step 3: there is no action rebot; did you mean restart(service)?"
"step 4: restart(nobody): there is no service "nobody"; restart takes 1 argument (s service)"
"step 5: readd(api) not applicable; missing ready(api)"
"step 7: drain(db) not applicable; missing capacity"
"step 8: revert(api) not applicable; missing lock(api)"
"without these steps the goal is not reached; missing in_lb(api) (since step 2: drain(api)), mem_ok(api), version_ok(db), lock_free (since step 6: take_lock(db))"`},
		{"none, but the goal is not reached", "drain(api)", `
"goal not reached after 1 step; missing in_lb(api) (false since step 1: drain(api)), mem_ok(api) (false from the start), version_ok(db) (false from the start)"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := render(t, prompt.Input{Problem: p, Feedback: prompt.All, Attempts: attempts(t, p, tt.plan)}).User
			want := strings.ReplaceAll(tt.want[1:], `"nobody"`, `\"nobody\"`)
			contains(t, got, "<data name=\"critique\">\n"+want+"\n</data>")
		})
	}
}

// TestManyFailingStepsAreBounded, as each takes a simulation.
func TestManyFailingStepsAreBounded(t *testing.T) {
	p := problem(t, "../../../examples/classic")
	got := render(t, prompt.Input{Problem: p, Feedback: prompt.All, Attempts: attempts(t, p, strings.Repeat("restart(db) ", 500))}).User
	contains(t, got, `"step 12: restart(db) not applicable; missing drained(db)"`+"\n"+`"what follows was not looked at"`)
	lacks(t, got, `"step 13:`)
}

// TestEachFeedbackSaysSoMuch and no more.
func TestEachFeedbackSaysSoMuch(t *testing.T) {
	p := problem(t, "../../../examples/classic")
	tried := attempts(t, p, "restart(api)", swapped)
	const (
		plan    = `{"step": 4, "action": "drain", "args": ["db"]}`
		digest  = `{"attempts": [1], "plan": "restart(api)"`
		old     = "missing drained(api)"
		first   = "step 4: drain(db) not applicable; missing capacity"
		state   = `"capacity": false, "lock_free": false`
		since   = "capacity = false since step 1: drain(api)"
		repair  = "repair: move step 5, readd(api), before step 4"
		another = "step 6: revert(db) not applicable"
	)
	all := []string{plan, digest, old, first, state, since, repair, another}
	for f, says := range map[prompt.Feedback][]string{
		prompt.None:      {},
		prompt.Binary:    {plan, digest, "The plan is not valid."},
		prompt.First:     {plan, digest, old, first, state},
		"":               {plan, digest, old, first, state},
		prompt.Explained: {plan, digest, old, first, state, since, repair},
		prompt.All:       {plan, digest, old, first, state, another},
	} {
		got := render(t, prompt.Input{Problem: p, Feedback: f, Attempts: tried}).User
		contains(t, got, says...)
		for _, s := range all {
			if !strings.Contains(strings.Join(says, "\n"), s) {
				lacks(t, got, s)
			}
		}
	}
	if _, err := prompt.Render(prompt.Input{Problem: p, Feedback: "some"}); err == nil || err.Error() != `feedback "some" is none of none, binary, first, explained and all` {
		t.Errorf("an unknown feedback: %v", err)
	}
}

// TestOtherFailuresAreTold: what is wrong with an answer that is no valid plan
// for another reason than the model's.
func TestOtherFailuresAreTold(t *testing.T) {
	p := problem(t, "../../../examples/classic")
	for _, tt := range []struct {
		name     string
		attempts []planner.Attempt
		want     string
	}{
		{
			"no plan in the answer", play(t, p, planner.Proposal{Verdict: planner.Overlong, Reason: "the answer was cut at 10 tokens"}),
			"The last answer had no plan.\nThe first thing that is wrong with it:\n<data name=\"critique\">\n\"the answer was cut at 10 tokens\"\n</data>",
		},
		{
			"an empty plan", play(t, p, planner.Proposal{}),
			"The last plan had no steps.\nThe first thing that is wrong with it:\n<data name=\"critique\">\n\"goal not reached after 0 steps; missing",
		},
		{
			"prose after a step", play(t, p, planner.Proposal{Steps: steps(t, "drain(api)"), Unreadable: &validator.SyntaxError{Line: 2, Message: `"then" is not an action`}}),
			"\"line 2: \\\"then\\\" is not an action\"\n</data>\nThe state before step 2 is that of the start, except for:",
		},
		{
			"what a critic requires",
			[]planner.Attempt{{Steps: steps(t, "drain(api)"), Outcome: planner.Fail, Kind: planner.Objected, Critique: "a critic requires: step 1: not now"}},
			"\"a critic requires: step 1: not now\"\n</data>\n\nNow answer",
		},
		{
			"another planner that could not be asked", append(attempts(t, p, "restart(db)"), planner.Attempt{Outcome: planner.Error, Critique: "unreachable"}),
			"\"step 1: restart(db) not applicable; missing drained(db)\"\n</data>\n\nNow answer",
		},
		{
			"a search that gave up", append(attempts(t, p, "restart(db)"), planner.Attempt{Outcome: planner.Fail, Proposal: planner.Proposal{Verdict: planner.GaveUp}, Critique: "max_nodes"}),
			"\"step 1: restart(db) not applicable; missing drained(db)\"\n</data>\n\nNow answer",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			contains(t, render(t, prompt.Input{Problem: p, Attempts: tt.attempts}).User, tt.want)
		})
	}
}

// TestWhatPeopleRejectedIsTold, with what they want, whatever the feedback; a
// critic is not told.
func TestWhatPeopleRejectedIsTold(t *testing.T) {
	p := problem(t, "../../../examples/classic")
	rejected := []planner.Rejection{
		{Steps: steps(t, "drain(api) readd(api)"), By: "eve", Feedback: "db first"}, {Steps: steps(t, "drain(db)"), By: "bob", Feedback: "not at noon", Step: 1},
	}
	const want = `# Plans that the people who decide rejected

None of these is carried out, from whatever state. Your plan must heed what they want, as far as the rules allow it:
<data name="rejected">
{"plan": "drain(api) readd(api)", "rejected_by": "eve", "wanted": "db first"}
{"plan": "drain(db)", "step": 1, "rejected_by": "bob", "wanted": "not at noon"}
</data>`
	for _, f := range []prompt.Feedback{prompt.None, prompt.First} {
		contains(t, render(t, prompt.Input{Problem: p, Feedback: f, Rejected: rejected}).User, want)
	}
	got, err := prompt.RenderReview(prompt.Input{Problem: p, Rejected: rejected}, steps(t, "drain(api)"))
	if err != nil || strings.Contains(got.User, "db first") {
		t.Errorf("a critic is told:\n%s %v", got.User, err)
	}
}

// TestAPlanThatIsTooLongIsTold: the limit, then what else fails.
func TestAPlanThatIsTooLongIsTold(t *testing.T) {
	p := problem(t, "../../../examples/classic")
	res, err := planner.Round(t.Context(), p, []planner.Proposer{&script{[]planner.Proposal{{Steps: steps(t, "drain(api) readd(api)")}}}},
		planner.Limits{MaxAttempts: 1, MaxPlanSteps: 1}, planner.Unlimited{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := render(t, prompt.Input{Problem: p, Feedback: prompt.All, Attempts: res.Attempts, MaxPlanSteps: 1}).User
	contains(t, got, `"step 2: readd(api) not applicable; missing ready(api)"`)
}

// TestARepeatedPlanIsTriedOnce in the list of plans tried.
func TestARepeatedPlanIsTriedOnce(t *testing.T) {
	p := problem(t, "../../../examples/classic")
	got := render(t, prompt.Input{Problem: p, Attempts: attempts(t, p, "readd(db)", "drain(api)", "readd(db)", "drain(db)")}).User
	contains(t, got, `{"attempts": [1, 3], "plan": "readd(db)", "wrong": "step 1: readd(db) not applicable; missing drained(db), ready(db)"}`)
	if n := strings.Count(got, `"plan": "readd(db)"`); n != 1 {
		t.Errorf("told %d times", n)
	}
}

// TestArgumentsByNameAreShownSo, as the model wrote them.
func TestArgumentsByNameAreShownSo(t *testing.T) {
	p := problem(t, "../../../examples/classic")
	got := render(t, prompt.Input{Problem: p, Attempts: play(t, p, planner.Proposal{
		Steps: []model.Step{{Action: "drain", Args: []string{"api"}, Params: []string{"s"}}},
	})}).User
	contains(t, got, `{"step": 1, "action": "drain", "args": {"s": "api"}}`)
}
