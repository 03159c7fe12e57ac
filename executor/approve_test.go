package executor

import (
	"context"
	"net/http"
	"slices"
	"testing"
)

func yes(context.Context, Question) (Answer, error) {
	return Answer{Asked: true, Yes: true, By: "eve"}, nil
}

func TestWithoutAnybodyToAskAPlanWaitsForApproval(t *testing.T) {
	for name, ask := range map[string]func(context.Context, Question) (Answer, error){
		"no asker":    nil,
		"no terminal": func(context.Context, Question) (Answer, error) { return Answer{}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, setup{policy: []string{"mode", `"approve"`}})
			r.config.Ask = ask
			r.yard.ok["api"] = false
			end := r.run()
			r.ends(end, WaitingStatus, "approval")
			r.did()
			r.clean()
			if a := one[Approved](r, Approval); a.Answer != "none" {
				t.Errorf("answer %+v", a)
			}
			if len(end.Undone) == 0 || !slices.Contains(end.Owed, "approve or reject the plan") {
				t.Errorf("undone %v, owed %v", end.Undone, end.Owed)
			}
		})
	}
}

func TestARejectedPlanEndsTheRun(t *testing.T) {
	r := newRig(t, setup{policy: []string{"mode", `"approve"`}})
	r.config.Ask = func(context.Context, Question) (Answer, error) {
		return Answer{Asked: true, By: "eve"}, nil
	}
	r.yard.ok["api"] = false
	r.ends(r.run(), Escalated, "rejected")
	r.did()
	a := one[Approved](r, Approval)
	if a.Answer != "no" || a.By != "eve" || a.PlanHash != one[Plan](r, PlanAccepted).PlanHash {
		t.Errorf("answer %+v", a)
	}
}

func TestAnApprovalIsForThatPlanAlone(t *testing.T) {
	r := newRig(t, setup{policy: []string{"mode", `"approve"`}})
	var asked [][]string
	r.config.Ask = func(_ context.Context, q Question) (Answer, error) {
		var steps []string
		for _, s := range q.Plan.Steps {
			steps = append(steps, s.Action)
		}
		asked = append(asked, steps)
		return Answer{Asked: true, Yes: true}, nil
	}
	r.yard.ok["api"] = false
	failures := map[string]int{"stop(api)": 1, "mend(api)": 1}
	r.yard.on = func(what string, _ *http.Request) (int, bool) {
		if failures[what]--; failures[what] >= 0 {
			return http.StatusInternalServerError, false
		}
		return http.StatusOK, true
	}
	end := r.run()
	r.ends(end, Succeeded, "")
	// Round 1 fails before it changed anything: round 2 has the same plan anew, and
	// round 3, after stop(api), another one.
	want := [][]string{{"stop(api)", "mend(api)", "start(api)"}, {"stop(api)", "mend(api)", "start(api)"}, {"mend(api)", "start(api)"}}
	if end.Rounds != 3 || !slices.EqualFunc(asked, want, slices.Equal) {
		t.Errorf("%d rounds, asked %v, want %v", end.Rounds, asked, want)
	}
}

func TestStepByStepEachActionIsAskedFor(t *testing.T) {
	r := newRig(t, setup{})
	r.config.AskSteps = true
	var asked []string
	r.config.Ask = func(_ context.Context, q Question) (Answer, error) {
		if q.Step == nil {
			t.Error("asked for the plan in mode auto")
			return Answer{}, nil
		}
		asked = append(asked, q.Step.Action)
		return Answer{Asked: true, Yes: q.Step.Step < 3}, nil
	}
	r.yard.ok["api"] = false
	r.ends(r.run(), Escalated, "rejected")
	r.did("stop(api)", "mend(api)")
	if want := []string{"stop(api)", "mend(api)", "start(api)"}; !slices.Equal(asked, want) {
		t.Errorf("asked %v, want %v", asked, want)
	}
}

func TestTheApprovalIdentifiesModelGoalAndPlan(t *testing.T) {
	plan := parsed(t, "stop(api)", "start(api)")
	base := PlanHash("m", "healthy", plan)
	for what, other := range map[string]string{
		"model": PlanHash("m2", "healthy", plan), "goal": PlanHash("m", "up(api)", plan),
		"order": PlanHash("m", "healthy", parsed(t, "start(api)", "stop(api)")), "length": PlanHash("m", "healthy", plan[:1]),
	} {
		if other == base {
			t.Errorf("another %s has the same hash", what)
		}
	}
	if PlanHash("m", "healthy", parsed(t, "stop(api)", "start(api)")) != base {
		t.Error("the same has another hash")
	}
}
