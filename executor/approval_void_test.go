package executor

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/policy"
)

func answersOf(r *rig) []string {
	r.Helper()
	var out []string
	for _, a := range all[Approved](r, Approval) {
		out = append(out, a.Answer)
	}
	return out
}

// The same plan, made anew after it failed, is another that a person is asked about.
func TestAnApprovalEndsWithItsRound(t *testing.T) {
	r := newRig(t, asking())
	var kept []string
	r.config.By, r.yard.ok["api"] = "bob", false
	r.config.Ask = func(ctx context.Context, _ Question) (Answer, error) {
		kept = r.keysBelow("approval/" + approvalID(r.id(), ""))
		return yes(ctx, Question{})
	}
	r.yard.on = failing("stop(api)", 1)
	r.ends(r.run(), Succeeded, "")
	if got := answersOf(r); !slices.Equal(got, []string{"yes", "void", "yes"}) {
		t.Fatalf("answers %v", got)
	}
	plans := all[Plan](r, PlanAccepted)
	void := all[Approved](r, Approval)[1]
	if plans[0].PlanHash != plans[1].PlanHash || void.PlanHash != plans[0].PlanHash || void.By != "eve" || void.Reason != RoundOver || void.Round != 1 {
		t.Errorf("void %+v, plans %s and %s", void, plans[0].PlanHash, plans[1].PlanHash)
	}
	if len(kept) != 1 || !strings.HasSuffix(kept[0], "-question") {
		t.Errorf("kept while it was asked again: %v", kept)
	}
}

// What is not valid on one look is not carried out unasked because it is on the next.
func TestAVoidApprovalStaysVoid(t *testing.T) {
	for name, begun := range map[string]bool{"a plan": false, "what is left of a plan": true} {
		s := asking()
		var r *rig
		if begun {
			r = killAt(t, s, StepAcquired, "stop(api)", yes)
		} else {
			r = askedAndLeft(t, s)
			r.approves(r.id(), "eve")
		}
		r.yard.set(func() { r.yard.up["db"] = false })
		then, id := r.next(s)
		then.ends(then.resume(id), WaitingStatus, "approval")
		if got := answersOf(then); !slices.Contains(got, "void") {
			t.Errorf("%s: answers %v", name, got)
		}
		r.yard.set(func() { r.yard.up["db"] = true })
		next, _ := then.next(s)
		next.ends(next.resume(id), WaitingStatus, "approval")
		next.did()
	}
}

// killedAfter is a run that was killed at the end of its first round, in which the
// plan that was approved failed.
func killedAfter(t *testing.T, s setup) *rig {
	t.Helper()
	return killAt(t, s, RoundEnded, "stop(api)", yes, func(r *rig) {
		r.yard.on = func(what string, _ *http.Request) (int, bool) {
			if what == "stop(api)" {
				return http.StatusInternalServerError, false
			}
			return http.StatusOK, true
		}
	})
}

func TestAnApprovalOfTheRoundBeforeIsVoidAfterACrash(t *testing.T) {
	s := asking()
	r := killedAfter(t, s)
	r.yard.set(func() { r.yard.on = nil })
	next, id := r.next(s)
	next.ends(next.resume(id), WaitingStatus, "approval")
	next.did("stop(api)") // Which failed.
	if got := answersOf(next); !slices.Equal(got, []string{"void", "none"}) {
		t.Errorf("answers %v", got)
	}
}

// With approval_covers the round before is no reason to ask, the bounds are.
func TestBoundsHoldForTheSamePlanToo(t *testing.T) {
	for bounds, asked := range map[string]int{"same_actions = true": 1, "max_steps = 2": 2} {
		r := newRig(t, asking("max_rounds", "5\napproval_covers {\n "+bounds+"\n }\n"))
		n := 0
		r.config.Ask = func(context.Context, Question) (Answer, error) {
			n++
			return Answer{Asked: true, Yes: true, By: "eve"}, nil
		}
		r.yard.ok["api"], r.yard.on = false, failing("stop(api)", 1)
		r.ends(r.run(), Succeeded, "")
		if n != asked {
			t.Errorf("%s: asked %d times, want %d", bounds, n, asked)
		}
	}
}

// A rule that asks by now about a plan that was approved before it did so is heard.
func TestAnotherReasonIsAskedAbout(t *testing.T) {
	s := asking("max_rounds", `5
rule "again" {
  when   = "times('stop', '1h') >= 1"
  effect = approve
  reason = "ask the DB team"
}
`)
	r := askedAndLeft(t, s)
	r.approves(r.id(), "eve")
	other, _ := r.next(s) // Which stops it, too.
	other.config.Ask = yes
	other.ends(other.run(), Succeeded, "")
	r.yard.set(func() { r.yard.ok["api"] = false })
	then, id := r.next(s)
	then.ends(then.resume(id), WaitingStatus, "approval")
	then.did("stop(api)", "mend(api)", "start(api)") // By the other.
	want := []string{"rule again: ask the DB team", modeAsks}
	if q := one[Asked](then, ApprovalAsked); !slices.Equal(q.Why, want) {
		t.Errorf("asked because of %v", q.Why)
	}
	if rep := r.approves(id, "bob"); !slices.Equal(rep.Why, want) {
		t.Errorf("approved %v", rep.Why)
	}
	next, _ := then.next(s)
	next.ends(next.resume(id), Succeeded, "")
	next.did("stop(api)", "mend(api)", "start(api)", "stop(api)", "mend(api)", "start(api)")
}

func TestReasonsAreComparedByTheirRules(t *testing.T) {
	r := newRig(t, setup{})
	r.config.Policy.Rules = []policy.Rule{{Name: "a"}, {Name: "a: b"}, {Name: "a (b)"}}
	run := newRun(r.config)
	for _, tt := range []struct {
		why, before string
		unheard     bool
	}{
		{"rule a", "rule a", false},
		{"rule a: 5 minutes", "rule a: 6 minutes", false},
		{"rule a (stop(x)): 5", "rule a (stop(x)): 6", false},
		{"rule a (stop(x))", "rule a (stop(x)): it could not be evaluated", false},
		{"rule a (stop(x)): 5", "rule a: 6", false}, // It asked about every step.
		{"rule a (stop(x)): 5", "rule a (stop(y)): 5", true},
		{"rule a: 5", "rule a (stop(x)): 5", true},
		{"rule a: b: 5", "rule a: c", true},
		{"rule a (b): 5", "rule a: 5", true},
		{"going back: rule a (stop(x)): 5", "going back: rule a (stop(x)): 6", false},
		{"going back: rule a (stop(x)): 5", "rule a (stop(x)): 5", true}, // To go back is another thing.
		{"pause_before = [\"plan\"]", "pause_before = [\"plan\"]", false},
		{"pause_before = [\"plan\"]", modeAsks, true},
	} {
		if got := run.unheard([]string{tt.why}, []string{"mode", tt.before}); got != tt.unheard {
			t.Errorf("%q after %q: %t", tt.why, tt.before, got)
		}
	}
	names := []string{"move(a, b)", "stop(a)"}
	for why, want := range map[string]int{"move(a, b)": 1, "move(a, c), move(d, b)": 0, "stop(a), move(a, b)": 2, "unstop(a)": 0} {
		if got := saidUnprotected(names, []string{modeAsks, unprotectedAsks + why}); len(got) != want {
			t.Errorf("of %q: %v", why, got)
		}
	}
}

// Whoever says yes to every plan beforehand is named, and written down once.
func TestAYesToEveryPlanBeforehandNamesWhoGaveIt(t *testing.T) {
	r := newRig(t, asking())
	r.config.Preapproved, r.config.By, r.yard.ok["api"] = "--approve", "eve", false
	r.yard.on = failing("mend(api)", 1)
	r.ends(r.run(), Succeeded, "")
	got := all[Approved](r, Approval)
	if len(got) != 2 {
		t.Fatalf("the journal tells %+v", got)
	}
	for _, a := range got {
		if a.Answer != "yes" || a.By != "eve" || a.How != "--approve" || a.Host == "" {
			t.Errorf("the journal tells %+v", a)
		}
	}
	log := r.deedsOfPeople()
	if len(log) != 1 || log[0].Deed != lease.DeedApprove || log[0].By != "eve" || log[0].Run != r.id() || log[0].Plan != got[0].PlanHash ||
		log[0].Reason != "--approve, to every plan of the run beforehand" {
		t.Errorf("written down: %+v", log)
	}
}

func TestNoPlanIsGivenInPlaceOfAWayBack(t *testing.T) {
	r := askedAndLeft(t, asking())
	p := r.person()
	q, err := p.Pending(testCtx(t), r.id())
	must(t, err)
	q.Restore = true
	_, err = p.Approve(testCtx(t), *q, q.ModelHash, Word{By: "eve", Plan: []string{"stop(api)"}, Hash: "other"})
	if err == nil || !strings.Contains(err.Error(), "asks about going back: no plan can be given in its place") {
		t.Errorf("error %v", err)
	}
	if left := r.keysBelow("approval/"); len(left) != 1 {
		t.Errorf("kept %v", left)
	}
}

// What is approved can be seen: the steps as the journal tells of them.
func TestTheStepsOfAQuestionAreShown(t *testing.T) {
	r := askedAndLeft(t, asking())
	p := r.person()
	q, err := p.Pending(testCtx(t), r.id())
	must(t, err)
	steps, err := p.Shown(testCtx(t), *q)
	must(t, err)
	if want := one[Plan](r, PlanAccepted).Steps; len(steps) != 3 || fmt.Sprint(steps) != fmt.Sprint(want) {
		t.Errorf("shown %+v, want %+v", steps, want)
	}
	q.PlanHash = "another"
	if steps, err := p.Shown(testCtx(t), *q); err != nil || steps != nil {
		t.Errorf("of another: %v, %v", steps, err)
	}
}

// What is taken back is told of once, whatever is armed after it.
func TestWhatIsTakenBackIsToldOfOnce(t *testing.T) {
	w := newWard(t, setup{policy: []string{"mode", `"approve"`, "on_stop", `"restore"`}})
	w.config.Ask = yes
	w.see = func(kind string, e journalEvent) {
		if kind == StepAcquired && decoded[Acquired](t, e).Step == 2 {
			_, err := w.person().Reject(testCtx(t), e.Run, Word{By: "bob"})
			must(t, err)
		}
	}
	w.ends(w.run(), Escalated, "rejected")
	if got := answersOf(w.rig); slices.Index(got, "no") != 1 || slices.Contains(got[2:], "no") {
		t.Errorf("answers %v", got)
	}
}
