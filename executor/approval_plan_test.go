package executor

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/fettleops/fettle/planner"
)

// listener is a planner that keeps what it was told, and proposes plan after plan.
type listener struct {
	plans [][]string
	heard [][]planner.Rejection
	t     testing.TB
}

func (*listener) Name() string { return "listener" }

func (l *listener) Propose(_ context.Context, req planner.Request) (planner.Proposal, error) {
	l.heard = append(l.heard, req.Rejected)
	if len(l.plans) == 0 {
		return planner.Proposal{}, errors.New("asked too often")
	}
	plan := l.plans[0]
	l.plans = l.plans[1:]
	return planner.Proposal{Steps: parsed(l.t, plan...)}, nil
}

func TestFeedbackIsToldToThePlannersAndTheRejectedPlanIsNotTakenAgain(t *testing.T) {
	short := []string{"stop(api)", "mend(api)", "start(api)"}
	long := []string{"stop(db)", "start(db)", "stop(api)", "mend(api)", "start(api)"}
	for _, live := range []bool{true, false} {
		s := asking()
		r := newRig(t, s)
		r.yard.ok["api"] = false
		l := &listener{plans: [][]string{short, short, long}, t: t}
		r.config.Proposers = []planner.Proposer{l}
		reject := func(id string) {
			_, err := r.person().Reject(testCtx(t), id, Word{By: "bob", Feedback: "restart db first"})
			must(t, err)
		}
		if live {
			r.config.Wait = true
			asked := 0
			r.see = func(kind string, e journalEvent) {
				if kind != ApprovalAsked {
					return
				}
				if asked++; asked == 1 {
					reject(e.Run)
				} else {
					r.approves(e.Run, "eve")
				}
			}
			r.ends(r.run(), Succeeded, "")
		} else {
			r.ends(r.run(), WaitingStatus, "approval")
			reject(r.id())
			next, id := r.next(s)
			next.config.Proposers, next.config.Ask = r.config.Proposers, yes
			next.ends(next.resume(id), Succeeded, "")
			r = next
		}
		r.did(long...)
		if n := len(l.heard); n != 3 || len(l.heard[0]) != 0 || len(l.heard[1]) != 1 {
			t.Fatalf("live %v: the planner heard %+v", live, l.heard)
		}
		rej := l.heard[2][0]
		if rej.By != "bob" || rej.Feedback != "restart db first" || len(rej.Steps) != 3 || rej.Steps[0].String() != "stop(api)" {
			t.Errorf("the planner heard %+v", rej)
		}
		again := all[Attempt](r, AttemptMade)
		if a := again[len(again)-2]; a.Verdict != "fail" || a.Kind != "rejected" || a.Critique != "bob rejected this plan: restart db first; propose another" {
			t.Errorf("the rejected plan again: %+v", a)
		}
	}
}

func TestAnotherPlanIsGivenInPlaceOfTheOneThatWaits(t *testing.T) {
	mine := []string{"stop(db)", "start(db)", "stop(api)", "mend(api)", "start(api)"}
	for _, live := range []bool{true, false} {
		s := asking()
		r := newRig(t, s)
		r.yard.ok["api"] = false
		give := func(id string) {
			p := r.person()
			q, err := p.Pending(testCtx(t), id)
			must(t, err)
			c := r.config
			tried, err := CheckPlan(testCtx(t), c, r.journal(), id, &PlanFile{Name: "mine", Text: []byte(strings.Join(mine, "\n"))})
			must(t, err)
			if tried.Critique != "" || len(tried.Read) != len(mine) || len(tried.Planned) != len(mine) || !slices.Equal(tried.Why, []string{modeAsks}) {
				t.Fatalf("it was checked: %+v", tried)
			}
			hash := PlanHash(c.ModelHash, "healthy", tried.Read)
			_, err = p.Approve(testCtx(t), *q, c.ModelHash, Word{By: "eve", Plan: mine, Hash: hash})
			must(t, err)
		}
		if live {
			r.config.Wait = true
			r.see = func(kind string, e journalEvent) {
				if kind == ApprovalAsked {
					give(e.Run)
				}
			}
			r.ends(r.run(), Succeeded, "")
		} else {
			r.ends(r.run(), WaitingStatus, "approval")
			give(r.id())
			next, id := r.next(s)
			next.ends(next.resume(id), Succeeded, "")
			r = next
		}
		r.did(mine...)
		a := one[Approved](r, Approval)
		if a.Answer == "none" || !a.Edited || a.By != "eve" {
			t.Errorf("the journal tells %+v", a)
		}
	}
}

func TestAPlanThatIsNotValidIsNotApproved(t *testing.T) {
	s := asking("max_plan_steps", "4")
	r := askedAndLeft(t, s)
	for text, want := range map[string]string{
		"mend(api)\nstart(api)": "step 1: mend(api) not applicable; missing !up(api)",
		"stop(api)":             "goal not reached after 1 step; missing up(api)",
		"stop(api) now":         "line 1: ",
		"stop(db)\nstart(db)\nstop(api)\nmend(api)\nstart(api)":   "denied by max_plan_steps",
		"stop(api)\nmend(api)\nstop(db)\nstart(db)\nstart(api)\n": "one service may be down",
	} {
		tried, err := CheckPlan(testCtx(t), r.config, r.journal(), r.id(), &PlanFile{Name: "mine", Text: []byte(text)})
		must(t, err)
		if !strings.Contains(tried.Critique, want) {
			t.Errorf("%q: %q, want %q", text, tried.Critique, want)
		}
	}
}

func TestAStepIsApprovedWhileTheRunWaits(t *testing.T) {
	for _, no := range []bool{false, true} {
		s := setup{}
		r := newRig(t, s)
		r.config.AskSteps, r.yard.ok["api"] = true, false
		r.config.Ask = func(_ context.Context, q Question) (Answer, error) {
			return Answer{Asked: q.Step.Step == 1, Yes: true, By: "eve"}, nil
		}
		r.ends(r.run(), WaitingStatus, "approval")
		r.did("stop(api)")
		q, err := r.person().Pending(testCtx(t), r.id())
		must(t, err)
		if q.Step != 2 || q.Action != "mend(api)" {
			t.Errorf("it waits %+v", q)
		}
		next, id := r.next(s)
		next.config.AskSteps = true
		var asked []string
		next.config.Ask = func(_ context.Context, q Question) (Answer, error) {
			asked = append(asked, q.Step.Action)
			return Answer{Asked: true, Yes: true, By: "eve"}, nil
		}
		if no {
			_, err := r.person().Reject(testCtx(t), id, Word{By: "bob"})
			must(t, err)
			end := next.resume(id)
			next.ends(end, Escalated, "rejected")
			if want := "step 2, mend(api) was not approved"; end.Message != want {
				t.Errorf("%q, want %q", end.Message, want)
			}
			continue
		}
		r.approves(id, "bob")
		next.ends(next.resume(id), Succeeded, "")
		next.did("stop(api)", "mend(api)", "start(api)")
		if want := []string{"start(api)"}; !slices.Equal(asked, want) {
			t.Errorf("asked about %v, want %v", asked, want)
		}
	}
}

// What is left of an approved plan is carried out after a crash in its midst,
// without asking; another plan is asked about.
func TestTheRestOfAnApprovedPlanIsApproved(t *testing.T) {
	s := asking()
	r := killAt(t, s, StepAcquired, "mend(api)", yes)
	next, id := r.next(s)
	next.ends(next.resume(id), Succeeded, "")
	next.did("stop(api)", "mend(api)", "start(api)")
	a := one[Approved](next, Approval)
	if a.Answer != "covered" || a.Covers != one[Plan](r, PlanAccepted).PlanHash || a.By != "eve" || a.Bounds != "the rest of the approved plan" {
		t.Errorf("the journal tells %+v", a)
	}
}

func TestAnApprovalCoversLaterPlansWithinTheBounds(t *testing.T) {
	for bounds, want := range map[string]int{
		"": 2, "approval_covers {\n same_actions = true\n }\n": 1, "approval_covers {\n max_steps = 1\n }\n": 2,
	} {
		r := newRig(t, setup{policy: []string{"mode", `"approve"` + "\n" + bounds}})
		asked := 0
		r.config.Ask, r.yard.ok["api"] = func(context.Context, Question) (Answer, error) {
			asked++
			return Answer{Asked: true, Yes: true, By: "eve"}, nil
		}, false
		r.yard.on = failing("mend(api)", 1)
		r.ends(r.run(), Succeeded, "")
		if asked != want {
			t.Errorf("%q: asked %d times, want %d", bounds, asked, want)
		}
		var covered []Approved
		for _, a := range all[Approved](r, Approval) {
			if a.Answer == "covered" {
				covered = append(covered, a)
			}
		}
		if len(covered) != 2-want {
			t.Fatalf("%q: covered %+v", bounds, covered)
		}
		if want == 1 {
			plans := all[Plan](r, PlanAccepted)
			if c := covered[0]; c.Covers != plans[0].PlanHash || c.PlanHash != plans[1].PlanHash || c.By != "eve" || c.Bounds != "approval_covers" {
				t.Errorf("covered %+v", c)
			}
		}
	}
}

// Whoever takes back the approval that covers a plan stops that plan too.
func TestAPlanIsCoveredForAsLongAsTheApprovalStands(t *testing.T) {
	r := newRig(t, setup{policy: []string{"mode", `"approve"` + "\napproval_covers {\n same_actions = true\n }\n"}})
	r.config.Ask, r.yard.ok["api"] = yes, false
	r.yard.on = failing("mend(api)", 1)
	r.see = func(kind string, e journalEvent) {
		if kind == StepAcquired && decoded[Acquired](t, e).Round == 2 {
			_, err := r.person().Reject(testCtx(t), e.Run, Word{By: "bob"})
			must(t, err)
		}
	}
	r.ends(r.run(), Escalated, "rejected")
	r.did("stop(api)", "mend(api)") // Which failed.
}

func TestWhatTheRulesAskOfAPlanIsAsked(t *testing.T) {
	for name, tt := range map[string]struct {
		mode    string
		asks    []string
		allowed bool
		want    []string
	}{
		"approve":               {`"approve"`, nil, false, []string{modeAsks}},
		"approve, allowed":      {`"approve"`, nil, true, nil},
		"approve, a rule asks":  {`"approve"`, []string{"rule r: why"}, true, []string{"rule r: why", modeAsks}},
		"auto":                  {`"auto"`, nil, false, nil},
		"auto, a rule asks":     {`"auto"`, []string{"rule r: why"}, false, []string{"rule r: why"}},
		"auto, allowed, a rule": {`"auto"`, []string{"rule r: why"}, true, []string{"rule r: why"}},
	} {
		r := newRig(t, setup{policy: []string{"mode", tt.mode}})
		run := newRun(r.config)
		got := run.whyAsk(&accepted{asks: tt.asks, allowed: tt.allowed})
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		unsafe := Plan{Steps: []PlannedStep{{Action: "stop(api)", Unprotected: true}}}
		if got := run.whyAsk(&accepted{event: unsafe, asks: tt.asks, allowed: tt.allowed}); len(got) == 0 || !slices.Contains(got, unprotectedAsks+"stop(api)") {
			t.Errorf("%s, unprotected: %q", name, got)
		}
	}
}

// failing makes an act fail so often before it works.
func failing(what string, times int) func(string, *http.Request) (int, bool) {
	return func(act string, _ *http.Request) (int, bool) {
		if act == what {
			times--
		}
		if act == what && times >= 0 {
			return http.StatusInternalServerError, false
		}
		return http.StatusOK, true
	}
}

// Another plan that is given to the run counts, not the approved one.
func TestAPlanThatIsGivenToTheRunIsAskedAbout(t *testing.T) {
	s := asking()
	r := askedAndLeft(t, s)
	r.approves(r.id(), "eve")
	next, id := r.next(s)
	mine := []string{"stop(db)", "start(db)", "stop(api)", "mend(api)", "start(api)"}
	next.plan(mine...)
	next.config.PlanFile = &PlanFile{Name: "mine", Text: []byte(strings.Join(mine, "\n"))}
	next.ends(next.resume(id), WaitingStatus, "approval")
	next.did()
	q, err := next.person().Pending(testCtx(t), id)
	must(t, err)
	if !slices.Equal(q.Plan, mine) {
		t.Errorf("asked about %v", q.Plan)
	}
}

// Planners that have nothing but a rejected plan are not asked round after round.
func TestARunWhosePlannersHaveNothingElseEnds(t *testing.T) {
	r := newRig(t, asking())
	r.config.Ask, r.yard.ok["api"] = func(context.Context, Question) (Answer, error) {
		return Answer{Asked: true, By: "eve", Feedback: "not now"}, nil
	}, false
	end := r.run()
	r.ends(end, Escalated, "rejected")
	if !strings.Contains(end.Message, "nothing but plans that were rejected") || end.Rounds != 2 {
		t.Errorf("%d rounds: %s", end.Rounds, end.Message)
	}
}
