package executor

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/lease/etcd"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/world"
)

func TestALeaseLostInMidActionIsTakenOverByTheRunItself(t *testing.T) {
	for _, effect := range []bool{true, false} {
		r := newRig(t, setup{})
		r.yard.ok["api"] = false
		first := true
		r.yard.on = func(what string, req *http.Request) (int, bool) {
			if what == "mend(api)" && first {
				first = false
				r.revoke()
				<-req.Context().Done() // The loss of the lease cuts the action.
				return http.StatusOK, effect
			}
			return http.StatusOK, true
		}
		end := r.run()
		r.ends(end, Succeeded, "")
		r.clean()
		want := []string{"stop(api)", "cut mend(api)", "start(api)"}
		outcome := "applied"
		if !effect {
			want = slices.Insert(want, 2, "mend(api)")
			outcome = "not_applied"
		}
		r.did(want...)
		f := all[Finished](r, StepFinished)[1]
		if f.Outcome != unknown || !strings.Contains(f.Message, "lease") {
			t.Errorf("finished %+v", f)
		}
		d := one[Resolved](r, DoubtResolved)
		if d.Outcome != outcome || d.ActionID != f.ActionID || d.Fence <= f.Fence {
			t.Errorf("resolved %+v, finished with fence %d", d, f.Fence)
		}
		if !slices.ContainsFunc(r.yard.deeds("raise"), func(e deed) bool { return e.id == f.ActionID && e.fence == d.Fence }) {
			t.Error("the fence was not raised again before it was resolved")
		}
		if len(end.InDoubt) > 0 {
			t.Errorf("in doubt %v", end.InDoubt)
		}
	}
}

// witness tells when an observation is over.
type witness struct {
	Observer
	seen func(notBefore time.Time)
}

func (w *witness) Observe(ctx context.Context, u *model.Universe, refs []model.Ref, notBefore time.Time) []world.Reading {
	defer w.seen(notBefore)
	return w.Observer.Observe(ctx, u, refs, notBefore)
}

func (w *witness) Confirm(ctx context.Context, u *model.Universe, refs []model.Ref, after time.Time) []world.Reading {
	defer w.seen(after)
	return w.Observer.Confirm(ctx, u, refs, after)
}

// The actuator's answer arrives, and only then the lease is found lost: what
// was seen was not seen under lease, and the plan does not go on from it.
func TestALeaseLostBeforeTheOutcomeIsRecordedMakesItUnknown(t *testing.T) {
	r := newRig(t, setup{})
	r.yard.ok["api"] = false
	once := true
	r.config.Observer = &witness{Observer: r.config.Observer, seen: func(time.Time) {
		if acts := r.yard.acts(); once && len(acts) == 2 {
			once = false
			r.revoke()
		}
	}}
	end := r.run()
	r.ends(end, Succeeded, "")
	r.did("stop(api)", "mend(api)", "start(api)")
	if f := all[Finished](r, StepFinished)[1]; f.Outcome != unknown || end.Rounds != 2 {
		t.Errorf("finished %+v, %d rounds", f, end.Rounds)
	}
	if d := one[Resolved](r, DoubtResolved); d.Outcome != "applied" {
		t.Errorf("resolved %+v", d)
	}
	r.clean()
}

// kill starts a run that loses its store right after the action was armed, as
// if its process were killed after acting, and lets its locks expire.
func kill(t *testing.T, s setup, action string) *rig {
	t.Helper()
	s.cli = connect(t, store)
	s.lease = lease.Options{RequestTimeout: 200 * time.Millisecond}
	r := newRig(t, s)
	r.yard.ok["api"] = false
	r.see = func(kind string, e journalEvent) {
		if kind == StepArmed && decoded[Armed](r, e).Action == action {
			must(t, r.cli.Close())
		}
	}
	end, err := r.try(testCtx(t))
	if err == nil || end.Status != FailedStatus || len(end.InDoubt) != 1 || !strings.HasPrefix(end.InDoubt[0], action) {
		t.Fatalf("the run that lost its store ended %+v: %v", end, err)
	}
	r.revoke()
	if in := r.intents(); len(in) != 1 || in[0].State != lease.StateArmed {
		t.Fatalf("left in doubt: %v", in)
	}
	return r
}

func TestTheNextRunTakesOverWhatAKilledOneLeft(t *testing.T) {
	r := kill(t, setup{}, "mend(api)")
	next := newRig(t, setup{beside: r})
	end := next.run()
	next.ends(end, Succeeded, "")
	next.did("stop(api)", "mend(api)", "start(api)")
	next.clean()
	d := one[Resolved](next, DoubtResolved)
	if d.Outcome != "applied" || d.Run == next.events[0].Run || d.Action != "mend(api)" {
		t.Errorf("resolved %+v", d)
	}
}

func TestAnUnfencedActionInDoubtIsGivenItsTimeOutToLand(t *testing.T) {
	run := map[string]string{"mend": `timeout = "1s"
  settle {
    timeout  = "20ms"
    interval = "5ms"
  }
  run "http" { url = "{{yard}}/mend/${s}" }`}
	r := kill(t, setup{run: run, futile: "mend(api)"}, "mend(api)")
	next := newRig(t, setup{run: run, beside: r})
	var waited, resolved time.Time
	next.see = func(kind string, e journalEvent) {
		switch kind {
		case StepWaiting:
			waited = e.Time
			next.yard.set(func() { next.yard.ok["api"] = true }) // It lands late.
		case DoubtResolved:
			resolved = e.Time
		}
	}
	next.yard.on = nil
	next.ends(next.run(), Succeeded, "")
	next.did("stop(api)", "mend(api)", "start(api)")
	if d := one[Resolved](next, DoubtResolved); d.Outcome != "applied" {
		t.Errorf("resolved %+v", d)
	}
	if w := one[Waiting](next, StepWaiting); !strings.Contains(w.Busy, "keeps no fence") {
		t.Errorf("waiting %+v", w)
	}
	if resolved.Sub(waited) < time.Second {
		t.Errorf("resolved %s after it was seen, its time-out is 1s", resolved.Sub(waited))
	}
	next.clean()
}

func TestAHigherFenceAtTheActuatorRefusesTheStep(t *testing.T) {
	r := newRig(t, setup{policy: []string{"same_failure_retries", "2"}})
	r.yard.ok["api"] = false
	r.yard.fences["up(api)"] = 1 << 60
	end := r.run()
	r.ends(end, Escalated, "no_progress")
	if len(end.Owed) != 1 || !strings.Contains(end.Owed[0], "--bump-revision") || !strings.Contains(end.Owed[0], "1152921504606846976") {
		t.Errorf("owed %q", end.Owed)
	}
	r.did()
	r.clean()
	for _, f := range all[Refused](r, StepRefused) {
		if f.Kind != "fence" || !strings.Contains(f.Reason, "--bump-revision") || !strings.Contains(f.Reason, "1152921504606846976") {
			t.Errorf("refused %+v", f)
		}
	}
}

func TestAnActThatTheFenceRejectsDidNothing(t *testing.T) {
	r := newRig(t, setup{})
	r.yard.ok["api"] = false
	once := true
	r.see = func(kind string, e journalEvent) {
		if kind == StepArmed && decoded[Armed](r, e).Action == "mend(api)" && once {
			once = false
			r.yard.set(func() { r.yard.fences["ok(api)"]++ }) // A newer holder raised it.
		}
	}
	r.ends(r.run(), Succeeded, "")
	r.did("stop(api)", "late mend(api)", "mend(api)", "start(api)")
	if f := all[Finished](r, StepFinished)[1]; f.Outcome != notApplied || f.Status != "rejected" {
		t.Errorf("finished %+v", f)
	}
	r.clean()
}

func TestWithoutEtcdTheRunEndsAndNothingIsDoneLate(t *testing.T) {
	own, err := etcd.Open(testCtx(t), etcd.Config{StateDir: t.TempDir(), OpenTimeout: 20 * time.Second})
	must(t, err)
	ttl := 3 * time.Second
	r := newRig(t, setup{cli: connect(t, own), lease: lease.Options{TTL: ttl, RequestTimeout: 300 * time.Millisecond}})
	r.yard.ok["api"] = false
	var lost, cut time.Time
	closed := make(chan error, 1)
	r.yard.on = func(what string, req *http.Request) (int, bool) {
		if what != "mend(api)" {
			return http.StatusOK, true
		}
		lost = time.Now() // No renewal is acknowledged that was sent later.
		go func() { closed <- own.Close() }()
		<-req.Context().Done()
		cut = time.Now()
		return http.StatusOK, false
	}
	var unwritten []string
	r.config.OnUnwritten = func(e journalEvent) {
		unwritten = append(unwritten, e.Kind)
		if e.Kind == StepFinished && decoded[Finished](r, e).Outcome != unknown {
			t.Errorf("finished %s", e.Data)
		}
	}
	end, err := r.try(testCtx(t))
	want := "the outcome of mend(api) could not be recorded, it stays in doubt: " +
		"stopped at its own deadline, 2.0 s after the last renewal that etcd acknowledged"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if !slices.Equal(unwritten, []string{StepFinished, RunEnded}) {
		t.Errorf("told of %v although the store was gone", unwritten)
	}
	if len(end.Undone) == 0 || len(end.Owed) != 1 || !strings.Contains(end.Owed[0], "`fettle resume "+r.events[0].Run+"`") {
		t.Errorf("undone %v, owed %q", end.Undone, end.Owed)
	}
	must(t, <-closed)
	r.yard.Close() // All its requests are over.
	r.ends(end, FailedStatus, "error")
	if len(end.InDoubt) != 1 || !strings.HasPrefix(end.InDoubt[0], "mend(api)") {
		t.Errorf("in doubt %v", end.InDoubt)
	}
	r.did("stop(api)", "cut mend(api)")
	if log := r.yard.deeds(); log[len(log)-1].kind != "cut" {
		t.Errorf("something came after the action was cut: %+v", log[len(log)-1])
	}
	if after := cut.Sub(lost); after >= ttl {
		t.Errorf("the action went on for %s, the lease's time is %s", after, ttl)
	}
}

func TestPausedNothingIsArmed(t *testing.T) {
	r := newRig(t, setup{})
	r.yard.ok["api"] = false
	_, err := r.cli.Put(testCtx(t), r.keys.Pause(), "{}")
	must(t, err)
	r.ends(r.run(), WaitingStatus, "paused")
	r.did()
	r.clean()
}

// A process that stood still between arming and acting sees by its own clock
// that its time is over. The action was not begun, and is taken back.
func TestAnActionThatComesTooLateIsWithdrawn(t *testing.T) {
	var late atomic.Int64
	began := time.Now()
	clock := func() time.Duration { return time.Since(began) + time.Duration(late.Load()) }
	r := newRig(t, setup{lease: lease.Options{Clock: clock}})
	r.yard.ok["api"] = false
	r.see = func(kind string, e journalEvent) {
		if kind == StepArmed && decoded[Armed](r, e).Action == "mend(api)" && late.Load() == 0 {
			late.Store(int64(time.Hour))
		}
	}
	end := r.run()
	r.ends(end, Succeeded, "") // The right to drive the run had ended, too: it was still its own.
	r.did("stop(api)", "mend(api)", "start(api)")
	f := one[Refused](r, StepRefused)
	if f.Kind != "lease" || !strings.Contains(f.Reason, "nothing was done") {
		t.Errorf("refused %+v", f)
	}
	if e := one[Resumed](r, RunResumed); e.Was != Stalled || len(e.InDoubt) > 0 {
		t.Errorf("gone on with: %+v", e)
	}
	if end.Actions != 3 || end.Rounds != 2 {
		t.Errorf("counted %d actions, %d rounds", end.Actions, end.Rounds)
	}
	r.clean()
}
