package executor

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/validator"
)

func TestABrokenWorldIsRepaired(t *testing.T) {
	r := newRig(t, setup{policy: []string{"mode", `"approve"`}})
	r.config.Ask = yes
	r.yard.ok["api"] = false
	end := r.run()
	r.ends(end, Succeeded, "")
	r.did("stop(api)", "mend(api)", "start(api)")
	r.clean()

	want := []string{RunStarted, Observed, Decided, RoundStarted, Decided, AttemptMade, PlanAccepted, ApprovalAsked, Approval}
	for range 3 {
		want = append(want, Decided, StepAcquired, StepArmed, StepFinished)
	}
	want = append(want, Observed, RunEnded)
	if got := r.kinds(); !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
	if end.Rounds != 1 || end.Actions != 3 || len(end.InDoubt) > 0 || len(end.Undone) > 0 || len(end.Owed) > 0 {
		t.Errorf("end %+v", end)
	}
}

func TestSuccessCitesObservationsSampledAfterTheLastAction(t *testing.T) {
	r := newRig(t, setup{})
	r.yard.ok["api"] = false
	end := r.run()
	r.ends(end, Succeeded, "")
	acts := r.yard.deeds("act")
	last := acts[len(acts)-1].at
	var conditions []string
	for _, e := range end.Evidence {
		conditions = append(conditions, e.Condition)
		if e.Verified != "observed" || len(e.Facts) != 1 {
			t.Errorf("evidence %+v", e)
			continue
		}
		f := e.Facts[0]
		if f.Value != true || f.Sampled == nil || !f.Sampled.After(last) || !strings.HasSuffix(f.Source, "/state") {
			t.Errorf("%s rests on %+v, the last action was at %s", e.Condition, f, last)
		}
	}
	if want := []string{"up(api)", "ok(api)", "up(db)", "ok(db)"}; !slices.Equal(conditions, want) {
		t.Errorf("evidence for %v, want %v", conditions, want)
	}
}

func TestNoSampleFromBeforeTheLastActionIsAccepted(t *testing.T) {
	r := newRig(t, setup{})
	r.yard.ok["api"] = false
	looks := 0
	r.config.Observer = &witness{Observer: r.config.Observer, seen: func(notBefore time.Time) {
		looks++
		acts := r.yard.deeds("act")
		if len(acts) > 0 && !notBefore.After(acts[len(acts)-1].at) {
			t.Errorf("look %d accepts samples from %s, the last action was at %s", looks, notBefore, acts[len(acts)-1].at)
		}
	}}
	r.ends(r.run(), Succeeded, "")
	if looks < 8 { // At the start and the end, and before and after each of three actions.
		t.Errorf("%d looks", looks)
	}
}

func TestEachActionRaisesItsFenceObservesAndOnlyThenActs(t *testing.T) {
	r := newRig(t, setup{})
	r.yard.ok["api"] = false
	r.ends(r.run(), Succeeded, "")
	armed := all[Armed](r, StepArmed)
	log := r.yard.deeds()
	fence := int64(0)
	for i, act := range r.yard.deeds("act") {
		at := slices.Index(log, act)
		raise := slices.IndexFunc(log, func(d deed) bool { return d.kind == "raise" && d.id == act.id })
		if raise < 0 || log[raise].fence != act.fence {
			t.Errorf("%s acted with fence %d, raised was %+v", act.what, act.fence, log[max(0, raise)])
			continue
		}
		if !slices.ContainsFunc(log[raise:at], func(d deed) bool { return d.kind == "observe" }) {
			t.Errorf("%s: no observation between raising and acting: %+v", act.what, log[raise:at])
		}
		if act.fence <= fence {
			t.Errorf("fence %d of %s is not above %d", act.fence, act.what, fence)
		}
		fence = act.fence
		if armed[i].ActionID != act.id || armed[i].Fence != act.fence || armed[i].Action != act.what {
			t.Errorf("armed was %+v, acted %+v", armed[i], act)
		}
	}
}

func TestAnEffectThatNeverShowsIsADivergence(t *testing.T) {
	r := newRig(t, setup{settle: "40ms", policy: []string{"same_failure_retries", "2"}})
	r.yard.ok["api"] = false
	r.yard.on = func(what string, _ *http.Request) (int, bool) { return http.StatusOK, what != "mend(api)" }
	end := r.run()
	r.ends(end, Escalated, "no_progress")
	r.did("stop(api)", "mend(api)", "mend(api)")
	r.clean()

	rounds := all[RoundEnd](r, RoundEnded)
	if len(rounds) != 2 || rounds[0].Key != "diverged of mend(api) (ok(api))" || rounds[1].Key != rounds[0].Key {
		t.Fatalf("rounds ended %+v", rounds)
	}
	if want := "mend(api) said it was done, but ok(api) was not seen"; rounds[0].Reason != want {
		t.Errorf("reason %q, want %q", rounds[0].Reason, want)
	}
	for _, f := range all[Finished](r, StepFinished)[1:] {
		if f.Outcome != diverged || f.Status != "done" || f.Seen[0].Verified != "no" || f.Seen[0].Value != false {
			t.Errorf("finished %+v", f)
		}
	}
	if d := all[Resolved](r, DoubtResolved); len(d) != 0 {
		t.Errorf("its actuator had answered and its settle time was over, and yet it was in doubt: %+v", d)
	}
	var undone []string
	for _, m := range end.Undone {
		undone = append(undone, m.Condition)
	}
	if want := []string{"up(api)", "ok(api)"}; !slices.Equal(undone, want) {
		t.Errorf("undone %v, want %v", undone, want)
	}
	if len(end.Owed) == 0 {
		t.Error("nobody is told what is owed")
	}
}

func TestAnActionThatFailedButTookEffectIsNotRepeated(t *testing.T) {
	r := newRig(t, setup{})
	r.yard.ok["api"] = false
	r.yard.on = func(what string, _ *http.Request) (int, bool) {
		if what == "mend(api)" {
			return http.StatusInternalServerError, true
		}
		return http.StatusOK, true
	}
	end := r.run()
	r.ends(end, Succeeded, "")
	r.did("stop(api)", "mend(api)", "start(api)")
	r.clean()
	if end.Rounds != 2 {
		t.Errorf("%d rounds, want 2: the failure counts", end.Rounds)
	}
	f := all[Finished](r, StepFinished)[1]
	if f.Outcome != diverged || f.Status != "failed" || f.Seen[0].Verified != "observed" {
		t.Errorf("finished %+v", f)
	}
	if k := one[RoundEnd](r, RoundEnded).Key; k != "diverged of mend(api)" {
		t.Errorf("failure key %q", k)
	}
}

func TestASourceThatDiesStopsTheRunBeforeItActsOnTheUnknown(t *testing.T) {
	r := newRig(t, setup{})
	r.yard.ok["api"] = false
	r.see = func(kind string, e journal.Event) {
		if kind == StepAcquired && decoded[Acquired](r, e).Step == 2 {
			r.yard.set(func() { r.yard.dead = true })
		}
	}
	end := r.run()
	r.ends(end, Escalated, "unobservable")
	r.did("stop(api)")
	r.clean()
	f := one[Refused](r, StepRefused)
	if f.Kind != "unknown_value" || f.AtStep != 2 || !strings.Contains(f.Reason, "HTTP 503") {
		t.Errorf("refused %+v", f)
	}
	for _, m := range end.Undone {
		if !m.Unknown || m.Because[0].Error == "" {
			t.Errorf("undone %+v", m)
		}
	}
}

func TestAWorldThatChangesUnderThePlanIsPlannedForAgain(t *testing.T) {
	r := newRig(t, setup{})
	r.yard.ok["api"] = false
	r.see = func(kind string, e journal.Event) {
		if kind == StepAcquired && decoded[Acquired](r, e).Action == "mend(api)" && len(all[Refused](r, StepRefused)) == 0 {
			r.yard.set(func() { r.yard.up["api"] = true })
		}
	}
	end := r.run()
	r.ends(end, Succeeded, "")
	r.did("stop(api)", "stop(api)", "mend(api)", "start(api)")
	r.clean()
	f := one[Refused](r, StepRefused)
	if f.Kind != "precondition" || f.AtStep != 2 || f.Reason != "step 2: mend(api) not applicable; missing !up(api)" {
		t.Errorf("refused %+v", f)
	}
	if len(f.Facts) != 1 || f.Facts[0].Fluent != "up(api)" || f.Facts[0].Value != true || f.Changed["up(api)"] != true {
		t.Errorf("it rests on %+v, changed %v", f.Facts, f.Changed)
	}
}

func TestACritiqueOfTheRestNumbersTheStepsOfTheWholePlan(t *testing.T) {
	r := newRig(t, setup{policy: []string{"max_rounds", "1"}})
	r.yard.set(func() { r.yard.ok["api"], r.yard.ok["db"] = false, false })
	r.plan("stop(api)", "mend(api)", "start(api)", "stop(db)", "mend(db)", "start(db)")
	r.see = func(kind string, e journal.Event) {
		if kind == StepAcquired && decoded[Acquired](r, e).Step == 2 {
			r.yard.set(func() { r.yard.up["db"] = false })
		}
	}
	r.ends(r.run(), Escalated, "rounds")
	f := one[Refused](r, StepRefused)
	if f.Step != 2 || f.AtStep != 4 || f.Reason != "step 4: stop(db) not applicable; missing up(db)" {
		t.Errorf("refused %+v", f)
	}
	if k := one[RoundEnd](r, RoundEnded).Key; k != "precondition of stop(db) (up(db))" {
		t.Errorf("failure key %q", k)
	}
}

func TestRenumbering(t *testing.T) {
	for _, tt := range []struct {
		rep    validator.Report
		before int
		want   string
	}{
		{
			validator.Report{Kind: validator.Goal, Steps: 2, Critique: "goal not reached after 2 steps; missing up(api) (false since step 1: stop(api))"},
			3,
			"goal not reached after 5 steps; missing up(api) (false since step 4: stop(api))",
		},
		{
			validator.Report{Kind: validator.Goal, Steps: 1, Critique: "goal not reached after 1 step; missing up(api)"},
			1,
			"goal not reached after 2 steps; missing up(api)",
		},
		{
			validator.Report{Kind: validator.Invariant, Step: 12, Critique: "step 12: stop(db) breaks one_down: see step 7 of the handbook"},
			10,
			"step 22: stop(db) breaks one_down: see step 7 of the handbook",
		},
	} {
		if got := renumber(tt.rep, tt.before); got != tt.want {
			t.Errorf("%q became %q, want %q", tt.rep.Critique, got, tt.want)
		}
	}
}

func TestAStepWhoseEffectsHoldAlreadyIsSkipped(t *testing.T) {
	r := newRig(t, setup{})
	r.yard.ok["api"] = false
	r.see = func(kind string, e journal.Event) {
		if kind == StepFinished && decoded[Finished](r, e).Action == "stop(api)" {
			r.yard.set(func() { r.yard.ok["api"] = true })
		}
	}
	r.ends(r.run(), Succeeded, "")
	r.clean()
	r.did("stop(api)", "start(api)")
	// What the run knew of ok(api) was false: it saw under its lease that it holds.
	if s := one[Skipped](r, StepSkipped); s.Step != 2 || s.ActionID == "" || s.Because[0].Value != true || s.Changed["ok(api)"] != true {
		t.Errorf("skipped %+v", s)
	}

	r = newRig(t, setup{})
	r.yard.set(func() { r.yard.up["api"] = false })
	r.plan("mend(api)", "start(api)")
	r.ends(r.run(), Succeeded, "")
	r.did("start(api)")
	s := one[Skipped](r, StepSkipped)
	if s.Step != 1 || s.Action != "mend(api)" || len(s.Because) != 1 || s.Because[0].Fluent != "ok(api)" || s.Because[0].Value != true {
		t.Errorf("skipped %+v", s)
	}
}
