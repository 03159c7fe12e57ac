package lease

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

func TestBreakTakesWhatTheTokenNamesAndNothingElse(t *testing.T) {
	a, b := pair(t)
	h := acquire(t, a, x("f", "a"), s("g", ""))
	other := acquire(t, a, s("g", ""))
	arm(t, h, "i")
	_, err := b.Break(testCtx(t), x("f", "a"), other.Fence(), "ann", "it hangs")
	want := "lease: f(a) is not held with token "
	if e := is[*TokenError](t, err); len(e.Holders) != 1 || e.Holders[0].Fence != h.Fence() || !strings.HasPrefix(e.Error(), want) {
		t.Errorf("got %q, want %q…", e, want)
	}
	_, err = b.Break(testCtx(t), x("nobody", ""), 7, "ann", "it hangs")
	if want := "lease: nobody holds nobody; nothing was broken"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
	if _, err := b.Break(testCtx(t), x("f", "a"), h.Fence(), "ann", ""); err == nil || !strings.Contains(err.Error(), "say who does it and why") {
		t.Errorf("without a reason: %v", err)
	}
	broken, err := b.Break(testCtx(t), x("f", "a"), h.Fence(), "ann", "it hangs")
	must(t, err)
	<-h.Lost()
	if len(broken.Holders) != 2 || broken.Fence <= h.Fence() {
		t.Errorf("broken: %+v", broken)
	}
	if left := keysBelow(t, string(a.keys)+"k/"); !slices.Equal(left, []string{"f/x/a/d", "g/s//" + leaseName(other.grant.id)}) {
		t.Errorf("left: %q, want the mark and the other's lock", left)
	}
	_, err = b.Acquire(testCtx(t), Owner{}, []Resource{x("f", "a")})
	failsWith[*InDoubtError](t, err)
	log, err := b.AuditLog(testCtx(t))
	must(t, err)
	if len(log) != 1 || log[0].By != "ann" || log[0].Reason != "it hangs" || log[0].Token != h.Fence() || log[0].Holder.Run != "r1" ||
		!slices.Equal(log[0].Resources, []Resource{x("f", "a"), s("g", "")}) {
		t.Errorf("audit log: %+v", log)
	}
}

func TestPauseStopsArmingUntilUnpaused(t *testing.T) {
	a, b := pair(t)
	b.o.Now = func() time.Time { return time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC) }
	if _, paused, err := a.Paused(testCtx(t)); paused || err != nil {
		t.Errorf("paused %v, %v", paused, err)
	}
	_, already, err := b.Pause(testCtx(t), "ann", "storm")
	must(t, err)
	rec, again, err := a.Pause(testCtx(t), "bob", "me too")
	if already || !again || rec.By != "ann" || err != nil {
		t.Errorf("first %v, second %v: %+v, %v", already, again, rec, err)
	}
	h := acquire(t, a, x("f", ""))
	err = h.Arm(testCtx(t), Intent{ID: "i"}, []clientv3.Cmp{a.keys.NotPaused()}, nil)
	if want := "lease: refused: actions are paused by ann since 2026-07-01T10:00:00Z: storm"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
	was, paused, err := a.Unpause(testCtx(t), "bob", "over")
	if was.Reason != "storm" || !paused || err != nil {
		t.Errorf("unpaused %+v, %v, %v", was, paused, err)
	}
	if _, paused, err := a.Unpause(testCtx(t), "bob", "over"); paused || err != nil {
		t.Errorf("unpaused twice: %v, %v", paused, err)
	}
	must(t, h.Arm(testCtx(t), Intent{ID: "i"}, []clientv3.Cmp{a.keys.NotPaused()}, nil))
	must(t, h.Finish(testCtx(t), Outcome{Result: Applied}, nil))
	log, err := a.AuditLog(testCtx(t))
	must(t, err)
	if len(log) != 2 || log[0].Deed != DeedPause || log[1].Deed != DeedUnpause || log[1].By != "bob" {
		t.Errorf("audit log: %+v", log)
	}
	_, err = store.Client().Put(testCtx(t), a.keys.Pause(), "by hand")
	must(t, err)
	if rec, paused, err := a.Paused(testCtx(t)); !paused || err != nil || rec.String() != "actions are paused" {
		t.Errorf("by hand: %v, %v, %v", rec, paused, err)
	}
}

func TestResolvingByHandNeedsTheLocksGone(t *testing.T) {
	a, b := pair(t)
	h := acquire(t, a, x("f", "a"), s("g", ""))
	arm(t, h, "i")
	resolve := func(result Result) (Intent, error) {
		return b.ResolveByHand(testCtx(t), "i", result, "ann", "looked", clientv3.OpPut(string(b.keys)+"belief", "1"))
	}
	_, err := resolve(Applied)
	failsWith[*BusyError](t, err)
	if _, err := resolve(UnknownResult); err == nil || !strings.Contains(err.Error(), `as applied or not_applied, not as "unknown"`) {
		t.Errorf("unknown: %v", err)
	}
	if _, err := b.ResolveByHand(testCtx(t), "absent", Applied, "ann", "looked"); err == nil || !strings.Contains(err.Error(), "no action absent") {
		t.Errorf("absent: %v", err)
	}
	vanish(t, h)
	in, _, err := b.Intent(testCtx(t), "i")
	must(t, err)
	taken, err := a.TakeOver(testCtx(t), Owner{}, in)
	must(t, err)
	_, err = resolve(Applied)
	failsWith[*BusyError](t, err) // The taker-over is at it.
	vanish(t, taken)
	in, err = resolve(Applied)
	must(t, err)
	if in.State != StateDone || in.Outcome.Result != Applied || in.Outcome.Note != "resolved by ann: looked" {
		t.Errorf("resolved: %+v", in.Outcome)
	}
	if left := append(keysBelow(t, string(a.keys)+"k/"), keysBelow(t, string(a.keys)+"belief")...); !slices.Equal(left, []string{""}) {
		t.Errorf("left: %q, want the belief alone", left)
	}
	_, err = resolve(NotApplied)
	failsWith[*ChangedError](t, err)
	log, err := b.AuditLog(testCtx(t))
	must(t, err)
	if len(log) != 1 || log[0].Deed != DeedResolve || log[0].Intent != "i" || log[0].Result != Applied {
		t.Errorf("audit log: %+v", log)
	}
}

func TestAbandonedActionIsLeftInDoubt(t *testing.T) {
	a, b := pair(t)
	h := acquire(t, a, x("f", "a"))
	arm(t, h, "i")
	h.Abandon()
	h.Abandon() // Twice is fine.
	<-h.Lost()
	if !errors.Is(h.Err(), ErrUnsure) {
		t.Errorf("lost for %v", h.Err())
	}
	_, err := b.AcquireWait(testCtx(t), Owner{}, []Resource{x("f", "a")}, Wait{}) // Its lease is revoked behind.
	failsWith[*InDoubtError](t, err)
	if err := h.Unknown(testCtx(t), Outcome{}); !errors.Is(err, errOver) {
		t.Errorf("recorded after it was abandoned: %v", err)
	}
}

func TestRecordsOfARunAreForgottenOnceAllAreResolved(t *testing.T) {
	a, _ := pair(t)
	for _, id := range []string{"i1", "i2"} {
		h := acquire(t, a, x("f", id))
		arm(t, h, id)
		if id == "i2" {
			vanish(t, h)
			break
		}
		must(t, h.Finish(testCtx(t), Outcome{Result: Applied}, nil))
	}
	if err := a.ForgetRun(testCtx(t), "r1"); err == nil || !strings.Contains(err.Error(), "not forgotten, because unresolved: action i2") {
		t.Errorf("got %v", err)
	}
	_, err := a.ResolveByHand(testCtx(t), "i2", NotApplied, "ann", "looked")
	must(t, err)
	must(t, a.ForgetRun(testCtx(t), "other"))
	must(t, a.ForgetRun(testCtx(t), "r1"))
	if left := keysBelow(t, string(a.keys)+"intent/"); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}
