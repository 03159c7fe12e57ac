package executor

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/lease"
)

type journalEvent = journal.Event

func x(fluent, instance string) lease.Resource {
	return lease.Resource{Fluent: fluent, Instance: instance, Exclusive: true}
}

// hold takes a resource as somebody else.
func hold(r *rig, want lease.Resource) *lease.Held {
	r.Helper()
	held, err := r.other().Acquire(testCtx(r), lease.Owner{Run: "other", Action: "tend(api)"}, []lease.Resource{want})
	must(r, err)
	return held
}

func TestARunWaitsForWhatOthersHoldAndGoesOn(t *testing.T) {
	r := newRig(t, setup{})
	r.yard.ok["api"] = false
	held := hold(r, x("up", "api"))
	r.see = func(kind string, _ journalEvent) {
		if kind == StepWaiting {
			must(t, held.Release(testCtx(t)))
		}
	}
	r.ends(r.run(), Succeeded, "")
	r.did("stop(api)", "mend(api)", "start(api)")
	w := one[Waiting](r, StepWaiting)
	if w.Action != "stop(api)" || !strings.Contains(w.Busy, "up(api) is held exclusively by run other, tend(api)") {
		t.Errorf("waiting %+v", w)
	}
	r.clean()
}

func TestARunDoesNotWaitBeyondMaxWait(t *testing.T) {
	r := newRig(t, setup{policy: []string{"max_wait", `"50ms"`}})
	r.yard.ok["api"] = false
	held := hold(r, x("up", "api"))
	end := r.run()
	r.ends(end, WaitingStatus, "busy")
	r.did()
	if f := one[Refused](r, StepRefused); f.Kind != "busy" || !strings.Contains(end.Message, "run other") {
		t.Errorf("refused %+v, end %+v", f, end)
	}
	must(t, held.Release(testCtx(t)))
	r.ends(r.run(), Succeeded, "")
}

// hopeless is the fleet without a way to mend.
var hopeless = strings.Replace(fleetModel, `precondition = ["!up(s)"]
  effect { add = ["ok(s)"] }`, `precondition = ["!up(s)", "up(s)"]
  effect { add = ["ok(s)"] }`, 1)

func TestAnUnsolvableGoalEscalatesAtOnce(t *testing.T) {
	r := newRig(t, setup{model: hopeless})
	r.yard.ok["api"] = false
	end := r.run()
	r.ends(end, Escalated, "unsolvable")
	r.did()
	if a := one[Attempt](r, AttemptMade); a.Verdict != "needs-person" || end.Rounds != 1 {
		t.Errorf("attempt %+v, %d rounds", a, end.Rounds)
	}
}

func TestAnUnsolvableGoalWaitsForOthersAtWork(t *testing.T) {
	r := newRig(t, setup{model: hopeless})
	r.yard.ok["api"] = false
	held := hold(r, x("ok", "api"))
	r.see = func(kind string, _ journalEvent) {
		if kind == StepWaiting {
			r.yard.set(func() { r.yard.ok["api"] = true })
			must(t, held.Release(testCtx(t)))
		}
	}
	end := r.run()
	r.ends(end, Succeeded, "")
	r.did()
	if end.Rounds != 1 {
		t.Errorf("%d rounds", end.Rounds)
	}
	if n := len(all[Observation](r, Observed)); n != 2 {
		t.Errorf("observed %d times, want once before and once after the wait: %v", n, r.kinds())
	}
}

func TestAnUnsolvableGoalDoesNotWaitForOthersBeyondMaxWait(t *testing.T) {
	r := newRig(t, setup{model: hopeless, policy: []string{"max_wait", `"50ms"`}})
	r.yard.ok["api"] = false
	hold(r, x("ok", "api"))
	r.ends(r.run(), WaitingStatus, "busy")
	r.did()
}

func TestAProofFromAWorldThatHasChangedSinceIsNotTrusted(t *testing.T) {
	r := newRig(t, setup{model: hopeless})
	r.yard.ok["api"] = false
	r.see = func(kind string, _ journalEvent) {
		if kind == AttemptMade {
			r.yard.set(func() { r.yard.ok["api"] = true })
		}
	}
	r.ends(r.run(), Succeeded, "")
}

func TestTwoRunsOnOneWorldKeepItsInvariantAndDoNothingTwice(t *testing.T) {
	patient := []string{"max_rounds", "40", "no_evidence_rounds", "40", "same_failure_retries", "40", "max_actions", "40", "max_repeats", "40"}
	one := newRig(t, setup{policy: patient})
	two := newRig(t, setup{policy: patient, beside: one})
	one.yard.set(func() { one.yard.ok["api"], one.yard.ok["db"] = false, false })
	var wg sync.WaitGroup
	ends := make([]Ended, 2)
	for i, r := range []*rig{one, two} {
		wg.Go(func() {
			end, err := r.try(testCtx(t))
			if err != nil {
				t.Error(err)
			}
			ends[i] = end
		})
	}
	wg.Wait()
	one.ends(ends[0], Succeeded, "")
	two.ends(ends[1], Succeeded, "")
	one.recorded(ends[0])
	two.recorded(ends[1])
	one.clean()
	if one.yard.worst != 1 {
		t.Errorf("%d services were down at a time", one.yard.worst)
	}
	var changed []string
	for _, d := range one.yard.deeds("act", "late", "cut") {
		if d.kind != "act" || !d.change {
			t.Errorf("%s %s changed nothing: %+v", d.kind, d.what, d)
		}
		changed = append(changed, d.what)
	}
	slices.Sort(changed)
	mended := slices.DeleteFunc(changed, func(s string) bool { return !strings.HasPrefix(s, "mend") })
	if want := []string{"mend(api)", "mend(db)"}; !slices.Equal(mended, want) {
		t.Errorf("mended %v, want each once", mended)
	}
}
