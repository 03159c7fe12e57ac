package executor

import (
	"net/http"
	"slices"
	"testing"
	"time"
)

// What metrics are made of: how long a step waited for its leases and held
// them, and what its run does not know.

func TestEventsTellHowLongLeasesWereWaitedForAndHeld(t *testing.T) {
	r := newRig(t, setup{})
	r.yard.ok["api"] = false
	held := hold(r, x("up", "api"))
	var least time.Duration
	r.see = func(kind string, _ journalEvent) {
		if kind == StepWaiting {
			began := time.Now()
			must(t, held.Release(testCtx(t)))
			least = time.Since(began)
		}
	}
	r.ends(r.run(), Succeeded, "")
	steps, ended := all[Acquired](r, StepAcquired), all[Finished](r, StepFinished)
	if len(steps) != 3 || len(ended) != 3 || steps[0].WaitMS < ms(least) {
		t.Fatalf("acquired %+v, the release took %s", steps, least)
	}
	for i, s := range steps {
		if s.WaitMS > ended[i].MS-ended[i].HeldMS {
			t.Errorf("waited %v ms for what was held %v ms of %v ms", s.WaitMS, ended[i].HeldMS, ended[i].MS)
		}
	}
	for _, f := range ended {
		if f.HeldMS < f.ActMS || f.HeldMS > f.MS || f.HeldMS == 0 || f.Lost {
			t.Errorf("held %v ms of %v ms, acted %v ms, lost %v", f.HeldMS, f.MS, f.ActMS, f.Lost)
		}
	}
}

func TestARefusedStepTellsWhetherItHeldAnything(t *testing.T) {
	r := newRig(t, setup{policy: []string{"max_wait", `"50ms"`}})
	r.yard.ok["api"] = false
	held := hold(r, x("up", "api"))
	r.ends(r.run(), WaitingStatus, "busy")
	if f := one[Refused](r, StepRefused); f.HeldMS != 0 || f.Fence != 0 || f.Lost || f.MS < 50 {
		t.Errorf("refused %+v", f)
	}
	must(t, held.Release(testCtx(t)))

	r.see = func(kind string, e journalEvent) {
		if kind == StepAcquired && decoded[Acquired](r, e).Step == 2 {
			r.yard.set(func() { r.yard.up["db"] = false })
		}
	}
	r.plan("stop(api)", "mend(api)", "start(api)")
	r.run()
	if f := all[Refused](r, StepRefused)[0]; f.HeldMS <= 0 || f.HeldMS > f.MS || f.Lost {
		t.Errorf("refused %+v", f)
	}
}

func TestALeaseLostWhileObservingIsToldSo(t *testing.T) {
	r := newRig(t, setup{})
	r.yard.ok["api"] = false
	lost := false
	r.see = func(kind string, _ journalEvent) {
		if kind == StepAcquired && !lost {
			lost = true
			r.revoke()
		}
	}
	r.ends(r.run(), Succeeded, "")
	if f := all[Refused](r, StepRefused); len(f) == 0 || !f[0].Lost || f[0].HeldMS <= 0 {
		t.Errorf("refused %+v", f)
	}
}

func TestEventsTellWhatIsInDoubtUntilItIsResolved(t *testing.T) {
	r := newRig(t, setup{})
	r.yard.ok["api"] = false
	first := true
	r.yard.on = func(what string, req *http.Request) (int, bool) {
		if what == "mend(api)" && first {
			first = false
			r.revoke()
			<-req.Context().Done()
		}
		return http.StatusOK, true
	}
	r.ends(r.run(), Succeeded, "")
	f := all[Finished](r, StepFinished)[1]
	if e := one[RoundEnd](r, RoundEnded); e.Kind != unknown || !slices.Equal(e.InDoubt, []string{f.ActionID}) || !f.Lost {
		t.Errorf("round ended %+v, finished %+v", e, f)
	}
	if d := one[Resolved](r, DoubtResolved); d.HeldMS <= 0 {
		t.Errorf("resolved %+v", d)
	}
	for _, o := range all[Observation](r, Observed) {
		if len(o.InDoubt) > 0 {
			t.Errorf("in doubt after it was resolved: %v", o.InDoubt)
		}
	}
}
