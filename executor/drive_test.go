package executor

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/lease"
)

func canceller(r *rig) Canceller {
	return Canceller{Client: store.Client(), Locker: r.other(), Journal: r.journal()}
}

var byEve = Cancellation{By: "eve", Reason: "wrong service"}

func TestACancelledRunFinishesItsActionAndEnds(t *testing.T) {
	r := newRig(t, setup{})
	r.yard.ok["api"] = false
	asked := make(chan Ended, 1)
	r.yard.on = func(what string, _ *http.Request) (int, bool) {
		if what == "mend(api)" {
			id := r.events[0].Run
			go func() {
				end, err := canceller(r).Cancel(testCtx(t), id, byEve)
				if err != nil {
					t.Error(err)
				}
				asked <- end
			}()
			awaitKey(t, cancelKey(r.keys, id))
		}
		return http.StatusOK, true
	}
	end := r.run()
	r.ends(end, Cancelled, "")
	r.did("stop(api)", "mend(api)")
	r.clean()
	if f := all[Finished](r, StepFinished); len(f) != 2 || f[1].Outcome != applied {
		t.Errorf("finished %+v", f)
	}
	if end.Message != "cancelled by eve: wrong service" {
		t.Errorf("message %q", end.Message)
	}
	if told := <-asked; told.Status != Cancelled || told.Message != end.Message || told.Actions != 2 {
		t.Errorf("who cancelled was told %+v", told)
	}
	if left := r.keysBelow("run/" + r.events[0].Run + "/cancel"); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// awaitKey returns once the key is in the store.
func awaitKey(t *testing.T, key string) {
	ctx := testCtx(t)
	resp, err := store.Client().Get(ctx, key)
	if err != nil || len(resp.Kvs) > 0 {
		return
	}
	for range store.Client().Watch(ctx, key, clientv3.WithRev(resp.Header.Revision+1)) {
		return
	}
}

func TestARunThatNobodyDrivesIsCancelledAtOnce(t *testing.T) {
	waiting := newRig(t, setup{policy: []string{"mode", `"approve"`}})
	waiting.yard.ok["api"] = false
	waiting.ends(waiting.run(), WaitingStatus, "approval")
	killed := killAt(t, setup{}, StepArmed, "mend(api)", nil)
	for _, r := range []*rig{waiting, killed} {
		id := r.events[0].Run
		next, _ := r.next(setup{})
		end, err := canceller(next).Cancel(testCtx(t), id, byEve)
		must(t, err)
		if end.Status != Cancelled || end.Rounds != 1 || r == killed && (len(end.InDoubt) != 1 || end.Actions != 2) {
			t.Errorf("ended %+v", end)
		}
		if _, err := next.tryResume(testCtx(t), id); err == nil || !strings.Contains(err.Error(), "has ended: cancelled") {
			t.Errorf("resumed: %v", err)
		}
		_, err = canceller(next).Cancel(testCtx(t), id, byEve)
		if err == nil || !strings.Contains(err.Error(), "has ended: cancelled; there is nothing to cancel") {
			t.Errorf("cancelled again: %v", err)
		}
	}
}

func TestAfterACancellationNothingIsArmed(t *testing.T) {
	r := newRig(t, setup{})
	r.yard.ok["api"] = false
	r.see = func(kind string, e journalEvent) {
		if kind == StepAcquired { // The watch may be late: Arm is not.
			raw, err := json.Marshal(byEve)
			must(t, err)
			_, err = store.Client().Put(testCtx(t), cancelKey(r.keys, e.Run), string(raw))
			must(t, err)
		}
	}
	end := r.run()
	r.ends(end, Cancelled, "")
	r.did()
	r.clean()
}

// The round that it was in ends, and the next one is planned from what is observed.
func TestARunThatLostTheRightToBeDrivenTakesOverFromItself(t *testing.T) {
	for _, at := range []string{RoundStarted, StepAcquired, StepArmed} {
		r := newRig(t, setup{})
		r.yard.ok["api"] = false
		once := true
		r.see = func(kind string, _ journalEvent) {
			if kind == at && once {
				once = false
				r.unclaim()
			}
		}
		end := r.run()
		r.ends(end, Succeeded, "")
		r.did("stop(api)", "mend(api)", "start(api)") // What was armed before is finished and recorded.
		r.clean()
		if e := one[Resumed](r, RunResumed); e.Was != Stalled || e.PID == 0 {
			t.Errorf("gone on with: %+v", e)
		}
		kinds := r.kinds()
		if n := slices.Index(kinds, RunResumed); kinds[n-1] != RoundEnded || kinds[n+1] != Observed {
			t.Errorf("lost at %s: %v", at, kinds)
		}
		if end.Rounds != 2 {
			t.Errorf("lost at %s: %d rounds", at, end.Rounds)
		}
	}
}

// What others did meanwhile is no news that this process could tell.
func TestARunThatAnotherEndedMeanwhileIsLeftToIt(t *testing.T) {
	r := newRig(t, setup{})
	r.yard.ok["api"] = false
	once := true
	r.see = func(kind string, e journalEvent) {
		if kind == StepAcquired && once {
			once = false
			r.revoke()
			r.unclaim()
			next, id := r.next(setup{})
			next.ends(next.resume(id), Succeeded, "")
		}
	}
	end, err := r.try(testCtx(t))
	must(t, err)
	r.ends(end, Escalated, LeaseLost)
	r.did("stop(api)", "mend(api)", "start(api)")
	want := "this process lost the right to drive the run: it or etcd stood still for too long, and it has ended meanwhile: succeeded; " +
		"nothing more is done here, see fettle show " + r.events[0].Run
	if end.Message != want || len(end.Undone)+len(end.Owed)+len(end.InDoubt) > 0 {
		t.Errorf("end %+v, want the message %s", end, want)
	}
	last, err := lastEnd(testCtx(t), r.journal(), r.events[0].Run)
	must(t, err)
	if last.Status != Succeeded {
		t.Errorf("the journal ends with %+v", last)
	}
	r.clean()
}

// Another that went on with the run and died at once has written one event, whose
// number this process had in use for one that was not written.
func TestARunThatAnotherWentOnWithIsNotTakenBack(t *testing.T) {
	r := newRig(t, setup{})
	r.yard.ok["api"] = false
	held := hold(r, x("up", "api"))
	r.see = func(kind string, e journalEvent) {
		if kind == StepWaiting {
			r.unclaim()
			w, err := r.journal().Resume(testCtx(t), e.Run)
			must(t, err)
			must(t, w.Append(testCtx(t), RunResumed, Resumed{By: "eve"}))
			_, err = r.writer.Ride(StepAcquired, nil)
			must(t, err)
			must(t, held.Release(testCtx(t)))
		}
	}
	end, err := r.try(testCtx(t))
	must(t, err)
	r.ends(end, Escalated, LeaseLost)
	r.did()
	if !strings.Contains(end.Message, "went on with it; nothing more is done here") {
		t.Errorf("message %q", end.Message)
	}
	r.clean()
}

// Another process that drives the run by now is the one that writes of it.
func TestTheFormerDriverWritesNothingOnceAnotherHasTheRun(t *testing.T) {
	r := newRig(t, setup{})
	r.yard.ok["api"] = false
	var taken *rig
	r.see = func(kind string, e journalEvent) {
		if kind == StepArmed && decoded[Armed](r, e).Action == "mend(api)" {
			r.unclaim()
			taken, _ = r.next(setup{})
			must(t, taken.config.Locker.Close())
			taken.config.Locker = r.other()
			_, err := taken.config.Locker.ClaimRun(testCtx(t), e.Run, lease.Owner{})
			must(t, err)
			w, err := taken.journal().Resume(testCtx(t), e.Run)
			must(t, err)
			must(t, w.Append(testCtx(t), RunResumed, Resumed{By: "eve"}))
		}
	}
	end, err := r.try(testCtx(t))
	must(t, err)
	r.ends(end, Escalated, LeaseLost)
	if !strings.Contains(end.Message, " drives it since ") || len(end.Undone) > 0 {
		t.Errorf("end %+v", end)
	}
	r.did("stop(api)", "mend(api)")
	var kinds []string
	for e, err := range r.journal().Events(testCtx(t), r.events[0].Run) {
		must(t, err)
		kinds = append(kinds, e.Kind)
	}
	if n := len(kinds); kinds[n-1] != RunResumed || kinds[n-2] != StepArmed {
		t.Errorf("the journal has %v", kinds)
	}
	head, err := readHead(testCtx(t), r.journal(), r.events[0].Run)
	must(t, err)
	if head.Status != Running {
		t.Errorf("the head says %s", head.Status)
	}
	if in := r.intents(); len(in) > 0 {
		t.Errorf("the outcome is not recorded: %v", in)
	}
}

func TestAnUnprotectedStepIsAskedAboutInEveryMode(t *testing.T) {
	r, dir := newShelf(t, `printf ok > "DIR/$1"`, setup{timeout: "1m"})
	end := r.run()
	r.ends(end, WaitingStatus, "approval")
	if ran(t, dir) != 0 || !one[Plan](r, PlanAccepted).Steps[0].Unprotected {
		t.Errorf("ran %d times", ran(t, dir))
	}
	next, id := r.next(setup{model: r.text, timeout: "1m"})
	next.config.Ask = yes
	next.ends(next.resume(id), Succeeded, "")
	if ran(t, dir) != 1 {
		t.Errorf("ran %d times", ran(t, dir))
	}
}

func TestThePauseSaysWhoAndIsAskedBeforeEachAction(t *testing.T) {
	r := newRig(t, setup{})
	r.yard.ok["api"] = false
	people := r.other()
	r.see = func(kind string, e journalEvent) {
		if kind == StepFinished && decoded[Finished](r, e).Action == "stop(api)" {
			_, _, err := people.Pause(testCtx(t), "eve", "hands off")
			must(t, err)
		}
	}
	end := r.run()
	r.ends(end, WaitingStatus, "paused")
	r.did("stop(api)")
	if !strings.Contains(end.Message, "paused by eve") || !strings.Contains(end.Message, "hands off") {
		t.Errorf("message %q", end.Message)
	}
	if n := len(all[Acquired](r, StepAcquired)); n != 1 {
		t.Errorf("%d steps took leases", n)
	}

	// Another process finds it paused still, and after the release goes on.
	next, id := r.next(setup{})
	next.ends(next.resume(id), WaitingStatus, "paused")
	next.did("stop(api)")
	_, _, err := people.Unpause(testCtx(t), "eve", "over")
	must(t, err)
	last, _ := r.next(setup{})
	last.ends(last.resume(id), Succeeded, "")
	last.did("stop(api)", "mend(api)", "start(api)")
}

// named makes the run hold a named lease from its first action on.
func named(r *rig) {
	r.see = func(kind string, e journalEvent) {
		if kind == RoundStarted && r.config.Locker.NamedOf(e.Run, "deploy") == nil {
			_, err := r.config.Locker.AcquireNamed(testCtx(r), lease.Owner{Run: e.Run}, "deploy", "api", nil)
			must(r, err)
		}
	}
}

func TestNamedLeasesEndWithTheRun(t *testing.T) {
	r := newRig(t, setup{})
	r.yard.ok["api"] = false
	named(r)
	end := r.run()
	r.ends(end, Succeeded, "")
	r.clean()
	if !slices.Equal(end.Released, []string{"deploy"}) {
		t.Errorf("released %v", end.Released)
	}
}

func TestNamedLeasesOfAWaitingRunAreKeptUntilItsApprovalExpires(t *testing.T) {
	for _, expires := range []bool{false, true} {
		s := setup{policy: []string{"mode", `"approve"`}}
		if expires {
			s.policy = append(s.policy, "approval_expires", `"1h"`)
		}
		r := newRig(t, s)
		r.yard.ok["api"] = false
		named(r)
		end := r.run()
		r.ends(end, WaitingStatus, "approval")
		state, err := r.other().NamedState(testCtx(t), "deploy")
		must(t, err)
		if !expires {
			if state.Held || !slices.Equal(end.Released, []string{"deploy"}) {
				t.Errorf("held %+v, end %+v", state, end)
			}
			continue
		}
		id := r.events[0].Run
		if left := time.Until(state.Until); state.Run != id || left < 59*time.Minute || left > time.Hour || !slices.Equal(end.Kept, []string{"deploy"}) {
			t.Errorf("held %+v, end %+v", state, end)
		}
		next, _ := r.next(s)
		next.config.Ask = func(context.Context, Question) (Answer, error) {
			if n := next.config.Locker.NamedOf(id, "deploy"); n == nil || n.For() != "api" {
				t.Errorf("the lease was not taken back: %v", n)
			}
			return Answer{Asked: true, Yes: true}, nil
		}
		next.ends(next.resume(id), Succeeded, "")
		if e := one[Resumed](next, RunResumed); !slices.Equal(e.Adopted, []string{"deploy"}) {
			t.Errorf("resumed %+v", e)
		}
		next.clean()
	}
}

func TestACancelledWaitingRunGivesItsNamedLeasesBack(t *testing.T) {
	r := newRig(t, setup{policy: []string{"mode", `"approve"`, "approval_expires", `"1h"`}})
	r.yard.ok["api"] = false
	named(r)
	r.ends(r.run(), WaitingStatus, "approval")
	end, err := canceller(r).Cancel(testCtx(t), r.events[0].Run, byEve)
	must(t, err)
	if !slices.Equal(end.Released, []string{"deploy"}) {
		t.Errorf("ended %+v", end)
	}
	r.clean()
}

func TestStepsWaitTheirTurn(t *testing.T) {
	r := newRig(t, setup{})
	r.yard.ok["api"] = false
	held := hold(r, x("up", "api"))
	others, did := r.other(), make(chan int, 1)
	begun := false
	r.see = func(kind string, _ journalEvent) {
		if kind != StepWaiting || begun {
			return
		}
		begun = true // The run may wait again, for the one that comes later.
		queued := make(chan struct{})
		go func() { // Comes later, and gets it later.
			h, err := others.AcquireWait(testCtx(t), lease.Owner{Run: "late"}, []lease.Resource{x("up", "api")}, lease.Wait{
				OnBusy: func(*lease.BusyError) { close(queued) },
			})
			if err != nil {
				t.Error(err)
				return
			}
			did <- len(r.yard.acts())
			_ = h.Release(testCtx(t))
		}()
		<-queued
		must(t, held.Release(testCtx(t)))
	}
	r.ends(r.run(), Succeeded, "")
	if n := <-did; n == 0 {
		t.Error("who came later was served first")
	}
}

func TestAnApprovalThatIsTakenBackStopsTheNextAction(t *testing.T) {
	s := setup{policy: []string{"mode", `"approve"`}}
	r := newRig(t, s)
	r.config.Ask = yes
	r.yard.ok["api"] = false
	r.see = func(kind string, e journalEvent) {
		if kind == StepAcquired && decoded[Acquired](r, e).Action == "mend(api)" {
			id := approvalID(e.Run, one[Plan](r, PlanAccepted).PlanHash)
			resp, err := store.Client().Delete(testCtx(t), r.keys.Approval(id))
			must(t, err)
			if resp.Deleted != 1 {
				t.Error("the approval was not kept")
			}
		}
	}
	r.ends(r.run(), WaitingStatus, "approval")
	r.did("stop(api)")
	r.clean()

	next, id := r.next(s)
	next.config.Ask = yes
	next.ends(next.resume(id), Succeeded, "")
	next.did("stop(api)", "mend(api)", "start(api)")
	if left := next.keysBelow("approval/"); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}
