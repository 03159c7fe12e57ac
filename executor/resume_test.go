package executor

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/policy"
)

// resume goes on with a run of another rig on the same world, in a process of its own.
func (r *rig) resume(id string) Ended {
	r.Helper()
	end, err := r.tryResume(testCtx(r), id)
	must(r, err)
	return end
}

func (r *rig) tryResume(ctx context.Context, id string) (Ended, error) {
	r.Helper()
	r.events = nil
	c := r.config
	c.OnEvent = func(e journal.Event) {
		r.events = append(r.events, e)
		if r.see != nil {
			r.see(e.Kind, e)
		}
	}
	return Resume(ctx, c, r.journal(), id)
}

// next is another process on the same world, for the run that this one had.
func (r *rig) next(s setup) (*rig, string) {
	r.Helper()
	s.beside = r
	next := newRig(r.TB, s)
	return next, r.events[0].Run
}

func TestARunThatWaitedForApprovalIsGoneOnWith(t *testing.T) {
	s := setup{policy: []string{"mode", `"approve"`, "max_rounds", "1", "max_repeats", "1"}}
	r := newRig(t, s)
	r.yard.ok["api"] = false
	r.ends(r.run(), WaitingStatus, "approval")

	next, id := r.next(s)
	next.config.Ask, next.config.By = yes, "eve"
	end := next.resume(id)
	next.ends(end, Succeeded, "")
	next.did("stop(api)", "mend(api)", "start(api)")
	next.clean()
	if end.Rounds != 1 || end.Actions != 3 {
		t.Errorf("%d rounds and %d actions, want 1 and 3", end.Rounds, end.Actions)
	}
	if e := one[Resumed](next, RunResumed); e.By != "eve" || e.Was != WaitingStatus || e.Changed {
		t.Errorf("resumed %+v", e)
	}
	if next.events[0].Kind != RunResumed || next.events[0].Seq != r.events[len(r.events)-1].Seq+1 {
		t.Errorf("the journal goes on with %s, number %d", next.events[0].Kind, next.events[0].Seq)
	}
	if left := next.keysBelow("run/" + id + "/owner"); len(left) > 0 {
		t.Errorf("the run is still driven: %v", left)
	}

	// What has ended is not gone on with.
	again, _ := r.next(s)
	_, err := again.tryResume(testCtx(t), id)
	if want := "run " + id + " has ended: succeeded; start a new run"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestAnApprovalStandsForThatPlanAfterACrash(t *testing.T) {
	s := setup{policy: []string{"mode", `"approve"`}}
	r := killAt(t, s, StepAcquired, "stop(api)", yes)
	next, id := r.next(s)
	next.config.Ask = func(context.Context, Question) (Answer, error) {
		t.Error("asked again for the plan that was approved")
		return Answer{}, nil
	}
	next.ends(next.resume(id), Succeeded, "")
	next.did("stop(api)", "mend(api)", "start(api)")
}

func TestNoApprovalStandsOnceTheModelHasChanged(t *testing.T) {
	s := setup{policy: []string{"mode", `"approve"`}}
	r := killAt(t, s, StepAcquired, "stop(api)", yes)
	next, id := r.next(s)
	next.config.ModelHash = "another"
	next.ends(next.resume(id), WaitingStatus, "approval")
	if e := one[Resumed](next, RunResumed); !e.Changed {
		t.Errorf("resumed %+v", e)
	}
}

func TestAnApprovalExpires(t *testing.T) {
	s := setup{policy: []string{"mode", `"approve"`, "approval_expires", `"1h"`}}
	r := killAt(t, s, StepAcquired, "stop(api)", yes)
	next, id := r.next(s)
	next.config.Policy.ApprovalExpires = policy.AtMost(time.Nanosecond)
	next.ends(next.resume(id), WaitingStatus, "approval")
}

// killAt starts a run that comes to its end at an event of an action, without a
// store to say anything to, as if its process were killed then. Its leases expire.
func killAt(t *testing.T, s setup, at, action string, ask func(context.Context, Question) (Answer, error), before ...func(*rig)) *rig {
	t.Helper()
	s.cli = connect(t, store)
	s.lease = lease.Options{RequestTimeout: 200 * time.Millisecond}
	r := newRig(t, s)
	r.config.Ask = ask
	r.yard.set(func() { r.yard.ok["api"] = false })
	for _, f := range before {
		f(r)
	}
	r.see = func(kind string, e journalEvent) {
		if kind == at && decoded[Armed](r, e).Action == action {
			must(t, r.cli.Close())
			runtime.Goexit()
		}
	}
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		_, err := r.try(testCtx(t))
		t.Errorf("the run was not killed, but ended: %v", err)
	}()
	<-killed
	r.revoke()
	r.unclaim()
	return r
}

// unclaim lets the right to drive the run expire, as the TTL does.
func (r *rig) unclaim() {
	r.Helper()
	resp, err := store.Client().Delete(testCtx(r), r.keys.RunOwner(r.events[0].Run))
	must(r, err)
	if resp.Deleted != 1 {
		r.Fatal("nobody drove the run")
	}
}

func TestWhatAKilledProcessLeftInDoubtIsResolvedByTheRunItself(t *testing.T) {
	for _, landed := range []bool{true, false} {
		r := killAt(t, setup{}, StepArmed, "mend(api)", nil)
		if landed { // The act was on its way.
			r.yard.set(func() { r.yard.ok["api"] = true })
			r.yard.note(deed{kind: "act", what: "mend(api)", id: r.events[0].Run + "-002"})
		}
		next, id := r.next(setup{})
		end := next.resume(id)
		next.ends(end, Succeeded, "")
		next.clean()
		outcome := "applied"
		if !landed {
			outcome = "not_applied"
		}
		next.did("stop(api)", "mend(api)", "start(api)") // Nothing twice.
		d := one[Resolved](next, DoubtResolved)
		if d.Outcome != outcome || d.Run != id || d.ActionID != id+"-002" {
			t.Errorf("resolved %+v", d)
		}
		if e := one[Resumed](next, RunResumed); e.Was != Running || !slices.Equal(e.InDoubt, []string{id + "-002"}) {
			t.Errorf("resumed %+v", e)
		}
		if kinds := next.kinds(); slices.Index(kinds, DoubtResolved) > slices.Index(kinds, Observed) {
			t.Errorf("it was observed before what was in doubt was resolved: %v", kinds)
		}
		if want := map[bool]int{true: 3, false: 4}[landed]; end.Rounds != 1 || end.Actions != want {
			t.Errorf("%d rounds, %d actions", end.Rounds, end.Actions)
		}
	}
}

// The locks of the killed process expire first; patience with others is no bound for that.
func TestTheFormerProcessesLocksAreWaitedFor(t *testing.T) {
	s := setup{policy: []string{"max_wait", `"10ms"`}}
	r := newRig(t, s)
	r.yard.ok["api"] = false
	var held *lease.Held
	ctx, cancel := context.WithCancel(testCtx(t))
	r.see = func(kind string, e journalEvent) {
		if kind == RoundStarted {
			var err error
			held, err = r.other().Acquire(testCtx(t), lease.Owner{Run: e.Run, Action: "stop(api)"}, []lease.Resource{x("up", "api")})
			must(t, err)
			_, err = store.Client().Put(testCtx(t), string(r.keys)+"pause", "{}")
			must(t, err)
		}
	}
	defer cancel()
	end, err := r.try(ctx)
	must(t, err)
	r.ends(end, WaitingStatus, "paused")
	_, err = store.Client().Delete(testCtx(t), string(r.keys)+"pause")
	must(t, err)
	next, id := r.next(s)
	next.see = func(kind string, _ journalEvent) {
		if kind == StepWaiting {
			must(t, held.Release(testCtx(t)))
		}
	}
	next.ends(next.resume(id), Succeeded, "")
	next.did("stop(api)", "mend(api)", "start(api)")
	if w := one[Waiting](next, StepWaiting); !strings.Contains(w.Busy, "still has up(api)") {
		t.Errorf("waiting %+v", w)
	}
}

func TestOfTwoThatResumeARunOneWins(t *testing.T) {
	s := setup{policy: []string{"mode", `"approve"`}}
	r := newRig(t, s)
	r.yard.ok["api"] = false
	r.ends(r.run(), WaitingStatus, "approval")
	first, id := r.next(s)
	first.config.Ask = func(context.Context, Question) (Answer, error) {
		second, _ := r.next(s)
		_, err := second.tryResume(testCtx(t), id)
		var owned *lease.OwnedError
		if !errors.As(err, &owned) || owned.Owner.PID == 0 || !strings.Contains(err.Error(), "is driven by") {
			t.Errorf("the second one got %v", err)
		}
		if len(second.events) > 0 {
			t.Errorf("the second one wrote %v", second.kinds())
		}
		return Answer{Asked: true, Yes: true}, nil
	}
	first.ends(first.resume(id), Succeeded, "")
	first.did("stop(api)", "mend(api)", "start(api)")
}

// What was used of the limits stays used, however often a run is gone on with.
func TestARunGoneOnWithKeepsWhatItHasUsed(t *testing.T) {
	s := setup{policy: []string{"same_failure_retries", "9", "max_errors", "9", "max_actions", "4", "no_evidence_rounds", "9", "max_repeats", "9"}}
	r := newRig(t, s)
	r.yard.ok["api"] = false
	r.yard.on = func(what string, _ *http.Request) (int, bool) {
		return http.StatusInternalServerError, what != "mend(api)"
	}
	paused := 0
	r.see = func(kind string, e journalEvent) {
		if kind == RoundEnded && paused == 0 {
			paused++
			_, err := store.Client().Put(testCtx(t), string(r.keys)+"pause", "{}")
			must(t, err)
		}
	}
	r.ends(r.run(), WaitingStatus, "paused")
	_, err := store.Client().Delete(testCtx(t), string(r.keys)+"pause")
	must(t, err)
	before := r.yard.acts()

	next, id := r.next(s)
	end := next.resume(id)
	next.ends(end, Escalated, "budget")
	if all := r.yard.acts(); len(all) != 4 || end.Actions != 4 || len(before) != 1 {
		t.Errorf("acted %v, before %v, counted %d", all, before, end.Actions)
	}
	ids := map[string]bool{}
	for _, d := range r.yard.deeds("act") {
		if ids[d.id] {
			t.Errorf("the action id %s was used twice", d.id)
		}
		ids[d.id] = true
	}
	last := all[Decision](next, Decided)
	p := last[len(last)-1].Progress
	if p.Round < 2 || p.Actions != 4 {
		t.Errorf("progress %+v", p)
	}
}

// The tracker is restored to what it was: the decision after a resume sees what
// the one before the crash saw.
func TestAResumedRunDecidesFromTheSameProgress(t *testing.T) {
	s := setup{policy: []string{"same_failure_retries", "9", "max_errors", "9", "no_evidence_rounds", "9", "max_repeats", "9"}}
	r := newRig(t, s)
	r.yard.ok["api"] = false
	r.yard.on = func(what string, _ *http.Request) (int, bool) {
		if what == "mend(api)" {
			return http.StatusInternalServerError, false
		}
		return http.StatusOK, true
	}
	rounds := 0
	r.see = func(kind string, _ journalEvent) {
		if kind == RoundEnded {
			if rounds++; rounds == 3 {
				_, err := store.Client().Put(testCtx(t), string(r.keys)+"pause", "{}")
				must(t, err)
			}
		}
	}
	r.ends(r.run(), WaitingStatus, "paused")
	_, err := store.Client().Delete(testCtx(t), string(r.keys)+"pause")
	must(t, err)
	was := all[Decision](r, Decided)
	before := was[len(was)-1].Progress

	next, id := r.next(s)
	next.yard.set(func() { next.yard.on = nil })
	next.ends(next.resume(id), Succeeded, "")
	now := all[Decision](next, Decided)[0].Progress
	before.Started, before.Now, now.Started, now.Now = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	before.Paused, before.Attempts, now.Attempts = false, 0, 0
	if before != now {
		t.Errorf("decided from\n%+v, before the pause from\n%+v", now, before)
	}
	if now.SameFailure < 2 || now.Failure == "" {
		t.Errorf("the failure in a row was forgotten: %+v", now)
	}
}

func TestTheDeadlineCountsTheTimeInWhichTheRunWasDriven(t *testing.T) {
	s := setup{policy: []string{"mode", `"approve"`, "deadline", `"1m"`}, ago: 24 * time.Hour}
	r := newRig(t, s)
	r.yard.ok["api"] = false
	r.ends(r.run(), WaitingStatus, "approval")
	next, id := r.next(s)
	next.ago, next.config.Ask = 0, yes // A day has passed.
	end := next.resume(id)
	next.ends(end, Succeeded, "")
	if end.Seconds > 60 {
		t.Errorf("%v s are said to be used", end.Seconds)
	}
}
