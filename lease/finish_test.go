package lease

import (
	"slices"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

func TestFinishGivesEverythingBackAndKeepsTheOutcome(t *testing.T) {
	a, b := pair(t)
	h := acquire(t, a, x("f", "a"), s("f", ""), s("g", "b"))
	arm(t, h, "i")
	belief := a.keys.Belief("f(a)")
	must(t, h.Finish(testCtx(t), Outcome{Result: Applied, Note: "seen"}, []clientv3.Op{clientv3.OpPut(belief, "true")}))
	if left := keysBelow(t, string(a.keys)); !slices.Equal(left, []string{"belief/f%28a%29", "intent/i"}) {
		t.Errorf("left: %q", left)
	}
	in, _, err := b.Intent(testCtx(t), "i")
	if err != nil || in.State != StateDone || in.Outcome.Result != Applied || in.Outcome.Note != "seen" || in.Outcome.By.Run != "r1" {
		t.Errorf("record %+v, %v", in, err)
	}
	if list, err := b.Intents(testCtx(t)); err != nil || len(list) != 0 {
		t.Errorf("unresolved: %v, %v", list, err)
	}
	must(t, b.Forget(testCtx(t), "i", "absent"))
	if left := keysBelow(t, a.keys.intents()); len(left) != 0 {
		t.Errorf("not forgotten: %q", left)
	}
}

func TestFinishWithUnknownOutcomeLeavesTheMarks(t *testing.T) {
	a, b := pair(t)
	h := acquire(t, a, x("f", "a"))
	arm(t, h, "i")
	must(t, h.Finish(testCtx(t), Outcome{Result: UnknownResult}, nil))
	_, err := b.Acquire(testCtx(t), Owner{}, []Resource{x("f", "a")})
	failsWith[*InDoubtError](t, err)
	if err := b.Forget(testCtx(t), "i"); err == nil {
		t.Error("an unresolved intent was forgotten")
	}
}

func TestFinishAfterLossGoesToUnknownAndTheRunTakesOverFromItself(t *testing.T) {
	a, _ := pair(t)
	h := acquire(t, a, x("f", "a"))
	arm(t, h, "i")
	vanish(t, h)
	failsWith[*LostError](t, h.Finish(testCtx(t), Outcome{Result: Applied}, nil))
	event := string(a.keys) + "event"
	must(t, h.Unknown(testCtx(t), Outcome{Note: "exit 0"}, clientv3.OpPut(event, "e")))
	list, err := a.Intents(testCtx(t))
	must(t, err)
	if len(list) != 1 || list[0].State != StateUnknown || list[0].Outcome.Note != "exit 0" {
		t.Fatalf("intents %+v", list)
	}
	taken, err := a.TakeOver(testCtx(t), Owner{Run: "r1"}, list[0])
	must(t, err)
	if taken.Fence() <= h.Fence() {
		t.Errorf("token %d after %d", taken.Fence(), h.Fence())
	}
	must(t, taken.Resolve(testCtx(t), Outcome{Result: Applied}, nil))
	acquire(t, a, x("f", "a"))
}

func TestTakeOverWaitsUntilTheLocksAreFree(t *testing.T) {
	a, b := pair(t)
	h := acquire(t, a, x("f", "a"), s("g", "c"))
	must(t, h.Arm(testCtx(t), Intent{ID: "i", Writes: []Resource{x("f", "a")}}, nil, nil))
	list, err := b.Intents(testCtx(t))
	must(t, err)
	_, err = b.TakeOver(testCtx(t), Owner{}, list[0])
	if busy := is[*BusyError](t, err); len(busy.Holders) != 2 {
		t.Errorf("holders %+v", busy.Holders)
	}
	_, err = store.Client().Delete(testCtx(t), a.keys.Exclusive("f", "a"))
	must(t, err)
	_, err = b.TakeOver(testCtx(t), Owner{}, list[0]) // One lock is broken, the holder may still be acting.
	failsWith[*BusyError](t, err)
	vanish(t, h)
	taken, err := b.TakeOver(testCtx(t), Owner{Run: "r2"}, list[0])
	must(t, err)
	if got := taken.Resources(); !slices.Equal(got, []Resource{x("f", "a")}) {
		t.Errorf("holds %v", got)
	}
	if in := taken.Intent(); in.Taken == nil || in.Taken.Owner.Run != "r2" || in.Owner.Run != "r1" {
		t.Errorf("intent %+v", in)
	}
	_, err = a.Acquire(testCtx(t), Owner{}, []Resource{s("f", "a")})
	failsWith[*BusyError](t, err)
}

func TestTakeOverIsOfTheIntentAsItWasRead(t *testing.T) {
	a, b := pair(t)
	h := acquire(t, a, x("f", "a"))
	arm(t, h, "i")
	vanish(t, h)
	list, err := b.Intents(testCtx(t))
	must(t, err)
	must(t, h.Unknown(testCtx(t), Outcome{Note: "exit 1"}))
	_, err = b.TakeOver(testCtx(t), Owner{}, list[0])
	changed := is[*ChangedError](t, err)
	if changed.Intent.Outcome == nil || changed.Intent.Outcome.Note != "exit 1" {
		t.Errorf("intent %+v", changed.Intent)
	}
	_, err = b.TakeOver(testCtx(t), Owner{}, changed.Intent)
	must(t, err)
}

func TestOnlyOneTakesOver(t *testing.T) {
	a, b := pair(t)
	h := acquire(t, a, x("f", ""))
	arm(t, h, "i")
	vanish(t, h)
	list, err := a.Intents(testCtx(t))
	must(t, err)
	taken, err := a.TakeOver(testCtx(t), Owner{}, list[0])
	must(t, err)
	_, err = b.TakeOver(testCtx(t), Owner{}, list[0])
	failsWith[*ChangedError](t, err)
	// The one who lost it comes back late.
	failsWith[*ChangedError](t, h.Unknown(testCtx(t), Outcome{}))
	// The taker dies too, and is taken over from.
	vanish(t, taken)
	list, err = b.Intents(testCtx(t))
	must(t, err)
	second, err := b.TakeOver(testCtx(t), Owner{}, list[0])
	must(t, err)
	failsWith[*ChangedError](t, taken.Resolve(testCtx(t), Outcome{Result: NotApplied}, nil))
	must(t, second.Resolve(testCtx(t), Outcome{Result: NotApplied}, nil))
	_, err = b.TakeOver(testCtx(t), Owner{}, second.Intent())
	if err == nil {
		t.Error("what is resolved was taken over")
	}
}

func TestResolvedAsUnknownStaysInDoubt(t *testing.T) {
	a, b := pair(t)
	h := acquire(t, a, x("f", "a"))
	arm(t, h, "i")
	vanish(t, h)
	for range 2 {
		list, err := b.Intents(testCtx(t))
		must(t, err)
		taken, err := b.TakeOver(testCtx(t), Owner{}, list[0])
		must(t, err)
		must(t, taken.Resolve(testCtx(t), Outcome{Result: UnknownResult}, nil))
		_, err = a.Acquire(testCtx(t), Owner{}, []Resource{s("f", "")})
		failsWith[*InDoubtError](t, err)
	}
	list, err := b.Intents(testCtx(t))
	must(t, err)
	taken, err := b.TakeOver(testCtx(t), Owner{}, list[0])
	must(t, err)
	must(t, taken.Release(testCtx(t))) // Given back unresolved.
	_, err = a.Acquire(testCtx(t), Owner{}, []Resource{s("f", "")})
	failsWith[*InDoubtError](t, err)
}

func TestFinishWithoutAnswerTellsTruly(t *testing.T) {
	line := faulty(t)
	l := newLocker(t, line.cli, newScope(t), Options{})
	h := acquire(t, l, x("f", "a"))
	arm(t, h, "i")
	line.answerLost()
	must(t, h.Finish(testCtx(t), Outcome{Result: Applied}, nil)) // Committed, and found so.

	h = acquire(t, l, x("f", "a"))
	arm(t, h, "j")
	deliver := line.delayed()
	failsWith[*LostError](t, h.Finish(testCtx(t), Outcome{Result: Applied}, nil))
	must(t, deliver()) // Accepted, but its conditions do not hold any more.
	if in, _, err := l.Intent(testCtx(t), "j"); err != nil || in.State != StateArmed {
		t.Errorf("after the late Finish: %v, %v", in, err)
	}
	must(t, h.Unknown(testCtx(t), Outcome{}))
}

func TestUnknownWithoutAnswerIsRecordedOnce(t *testing.T) {
	line := faulty(t)
	l := newLocker(t, line.cli, newScope(t), Options{})
	h := acquire(t, l, x("f", "a"))
	arm(t, h, "i")
	vanish(t, h)
	line.answerLost()
	must(t, h.Unknown(testCtx(t), Outcome{Note: "once"}))
	if in, _, err := l.Intent(testCtx(t), "i"); err != nil || in.State != StateUnknown || in.Outcome.Note != "once" {
		t.Errorf("record %v, %v", in, err)
	}
}
