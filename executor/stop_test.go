package executor

import (
	"context"
	"net/http"
	"strings"
	"testing"
)

func TestStoppedInMidActionTheActionIsFinishedFirst(t *testing.T) {
	r := newRig(t, setup{})
	stop := make(chan struct{})
	r.config.Stop = stop
	r.yard.ok["api"] = false
	r.yard.on = func(what string, _ *http.Request) (int, bool) {
		if what == "mend(api)" {
			close(stop)
		}
		return http.StatusOK, true
	}
	end := r.run()
	r.ends(end, Cancelled, "")
	r.did("stop(api)", "mend(api)")
	r.clean()
	f := all[Finished](r, StepFinished)
	if len(f) != 2 || f[1].Outcome != applied {
		t.Errorf("finished %+v", f)
	}
	if len(end.Undone) != 1 || end.Undone[0].Condition != "up(api)" {
		t.Errorf("undone %+v", end.Undone)
	}
}

func TestACancelledRunCutsItsActionAndLeavesItInDoubt(t *testing.T) {
	r := newRig(t, setup{})
	r.yard.ok["api"] = false
	ctx, cancel := context.WithCancel(testCtx(t))
	r.yard.on = func(what string, req *http.Request) (int, bool) {
		if what == "mend(api)" {
			cancel()
			<-req.Context().Done()
		}
		return http.StatusOK, true
	}
	end, err := r.try(ctx)
	must(t, err)
	r.recorded(end)
	r.ends(end, Cancelled, "")
	if end.Message != "stopped, and the action in flight cut off, as asked" {
		t.Errorf("message %q", end.Message)
	}
	f := all[Finished](r, StepFinished)[1]
	if f.Outcome != unknown || f.Status != "unknown" {
		t.Errorf("finished %+v", f)
	}
	if len(end.InDoubt) != 1 || !strings.HasPrefix(end.InDoubt[0], "mend(api) (") || len(end.Owed) != 2 {
		t.Errorf("in doubt %v, owed %v", end.InDoubt, end.Owed)
	}
	if in := r.intents(); len(in) != 1 || in[0].Owner.Action != "mend(api)" {
		t.Errorf("recorded in doubt: %v", in)
	}

	// The next run resolves it, and goes on from what it sees.
	r.yard.set(func() { r.yard.ok["api"] = true })
	r.yard.on = nil
	r.ends(r.run(), Succeeded, "")
	r.did("stop(api)", "cut mend(api)", "start(api)")
	d := one[Resolved](r, DoubtResolved)
	if d.Outcome != "applied" || d.Action != "mend(api)" || d.ActionID != f.ActionID {
		t.Errorf("resolved %+v", d)
	}
	r.clean()
}

func TestStoppedWhileItWaitsForOthersARunEndsAtOnce(t *testing.T) {
	r := newRig(t, setup{})
	stop := make(chan struct{})
	r.config.Stop = stop
	r.yard.ok["api"] = false
	hold(r, x("up", "api"))
	r.see = func(kind string, _ journalEvent) {
		if kind == StepWaiting {
			close(stop)
		}
	}
	r.ends(r.run(), Cancelled, "")
	r.did()
}

func TestStoppedBetweenLeaseAndActionNothingIsDone(t *testing.T) {
	r := newRig(t, setup{})
	stop := make(chan struct{})
	r.config.Stop = stop
	r.yard.ok["api"] = false
	r.see = func(kind string, _ journalEvent) {
		if kind == StepAcquired {
			close(stop)
		}
	}
	r.ends(r.run(), Cancelled, "")
	r.did()
	r.clean()
}
