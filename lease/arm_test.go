package lease

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

func TestArmLeavesARecordThatOutlivesTheLease(t *testing.T) {
	a, b := pair(t)
	h := acquire(t, a, x("f", "a"), x("lock", "db"), s("g", ""))
	in := Intent{ID: "01ARM", Writes: []Resource{x("f", "a")}, Observed: json.RawMessage(`{"f(a)":true}`), Digest: "d", Timeout: 7, Unfenced: true}
	must(t, h.Arm(testCtx(t), in, nil, nil))
	vanish(t, h)
	got, ok, err := b.Intent(testCtx(t), "01ARM")
	if err != nil || !ok || got.State != StateArmed || got.Fence != h.Fence() || got.Owner.Run != "r1" || string(got.Observed) != `{"f(a)":true}` || got.Timeout != 7 || !got.Unfenced {
		t.Errorf("record %+v, %v, %v", got, ok, err)
	}
	if left := keysBelow(t, string(a.keys)+"k/"); !slices.Equal(left, []string{"f/x/a/d"}) {
		t.Errorf("left after the crash: %q, want the mark on what is written alone", left)
	}
	_, err = b.Acquire(testCtx(t), Owner{}, []Resource{s("f", "a")})
	if doubt := is[*InDoubtError](t, err); len(doubt.Intents) != 1 || doubt.Intents[0].ID != "01ARM" {
		t.Errorf("in doubt: %+v", doubt.Intents)
	}
}

func TestArmIsRefused(t *testing.T) {
	a, b := pair(t)
	put := func(key, value string) int64 {
		resp, err := store.Client().Put(testCtx(t), key, value)
		must(t, err)
		return resp.Header.Revision
	}
	owner := put(a.keys.RunOwner("r1"), "me")
	approval := put(a.keys.Approval("p1"), "yes")
	guards := []clientv3.Cmp{a.keys.OwnsRun("r1", owner), a.keys.NotPaused(), a.keys.ApprovalStands("p1", approval)}
	h := acquire(t, a, x("f", "a"))
	refuse := func(name string, exists bool) {
		t.Helper()
		if err := is[*RefusedError](t, h.Arm(testCtx(t), Intent{ID: "i"}, guards, nil)); err.Exists != exists {
			t.Errorf("%s: %v", name, err)
		}
	}
	put(a.keys.Pause(), "stop")
	refuse("paused", false)
	_, err := store.Client().Delete(testCtx(t), a.keys.Pause())
	must(t, err)
	put(a.keys.Approval("p1"), "withdrawn")
	refuse("approval changed", false)
	guards = guards[:2]
	other := acquire(t, b, x("g", "a"))
	arm(t, other, "i")
	refuse("same id", true)
	must(t, other.Finish(testCtx(t), Outcome{Result: Applied}, nil))
	refuse("same id, done", true)
	must(t, h.Arm(testCtx(t), Intent{ID: "j"}, guards, nil))
	if err := h.Arm(testCtx(t), Intent{ID: "k"}, nil, nil); !errors.Is(err, errArmed) {
		t.Errorf("armed twice: %v", err)
	}
	if err := h.Release(testCtx(t)); !errors.Is(err, errArmed) {
		t.Errorf("released while armed: %v", err)
	}
}

func TestArmIsRefusedAfterTheLeaseWasRevoked(t *testing.T) {
	a, b := pair(t)
	h := acquire(t, a, x("f", "a"))
	a.eyes.remove(h.hold) // The watch has not seen it yet: Arm's own transaction must tell.
	vanish(t, h)
	again := acquire(t, b, x("f", "a"))
	failsWith[*LostError](t, h.Arm(testCtx(t), Intent{ID: "i"}, nil, nil))
	<-h.Lost()
	if in, ok, err := b.Intent(testCtx(t), "i"); ok || err != nil {
		t.Errorf("an intent was left: %v, %v", in, err)
	}
	arm(t, again, "i")
}

func TestArmChecksWhatMayBeWritten(t *testing.T) {
	a, _ := pair(t)
	h := acquire(t, a, x("f", "a"), s("g", "b"))
	for want, in := range map[string]Intent{
		"lease: the action may write g(b), which is not held exclusively": {ID: "i", Writes: []Resource{x("g", "b")}},
		"lease: an intent without an id":                                  {},
	} {
		if err := h.Arm(testCtx(t), in, nil, nil); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	arm(t, h, "i")
}

func TestArmWithoutAnswerThatWasCommittedIsFoundAndWithdrawn(t *testing.T) {
	line := faulty(t)
	l := newLocker(t, line.cli, newScope(t), Options{})
	h := acquire(t, l, x("f", "a"))
	line.answerLost()
	unknown := is[*ArmUnknownError](t, h.Arm(testCtx(t), Intent{ID: "i"}, nil, nil))
	if unknown.Armed != Yes || h.Remaining() != 0 {
		t.Fatalf("%v, remaining %v", unknown, h.Remaining())
	}
	must(t, h.Withdraw(testCtx(t), Outcome{Note: "never begun"}))
	if left := keysBelow(t, string(l.keys)+"k/"); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
	acquire(t, l, x("f", "a"))
}

func TestArmThatArrivesAfterTheLookDoesNotHappen(t *testing.T) {
	line := faulty(t)
	l := newLocker(t, line.cli, newScope(t), Options{})
	h := acquire(t, l, x("f", "a"))
	deliver := line.delayed()
	unknown := is[*ArmUnknownError](t, h.Arm(testCtx(t), Intent{ID: "i"}, nil, nil))
	if unknown.Armed != No {
		t.Fatalf("%v", unknown)
	}
	must(t, deliver()) // Accepted, but its conditions do not hold.
	if in, ok, err := l.Intent(testCtx(t), "i"); ok || err != nil {
		t.Errorf("armed after the look: %v, %v", in, err)
	}
	acquire(t, l, x("f", "a"))
}

func TestActionThatTouchesNothingIsGuardedAllTheSame(t *testing.T) {
	a, b := pair(t)
	h, again := acquire(t, a), acquire(t, b) // Not in each other's way.
	if again.Fence() <= h.Fence() {
		t.Errorf("tokens %d, %d", h.Fence(), again.Fence())
	}
	arm(t, h, "i")
	list, err := b.Intents(testCtx(t))
	must(t, err)
	_, err = b.TakeOver(testCtx(t), Owner{}, list[0])
	failsWith[*BusyError](t, err)
	vanish(t, h)
	taken, err := b.TakeOver(testCtx(t), Owner{}, list[0])
	must(t, err)
	must(t, taken.Resolve(testCtx(t), Outcome{Result: Applied}, nil))
	vanish(t, again)
	failsWith[*LostError](t, again.Arm(testCtx(t), Intent{ID: "j"}, nil, nil))
}
