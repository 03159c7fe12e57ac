package lease

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

var driver = Owner{Run: "r", Host: "ops1", PID: 42, Action: "take_lock(api)"}

func named(t *testing.T, l *Locker, run, name, forWhat string) *Named {
	t.Helper()
	n, err := l.AcquireNamed(testCtx(t), Owner{Run: run}, name, forWhat, nil)
	must(t, err)
	return n
}

func TestNameIsTheResourceThatLocksAndPeopleTake(t *testing.T) {
	a, b := pair(t)
	for _, c := range []struct {
		name string
		want Resource
	}{{"deploy", x("deploy", "")}, {"rack(1)", x("rack", "1")}, {"odd(", x("odd(", "")}, {"()", x("()", "")}} {
		if got := ParseResource(c.name); got != c.want {
			t.Errorf("%q reads as %+v, want %+v", c.name, got, c.want)
		}
		n := named(t, a, "r", c.name, "")
		_, err := b.Acquire(testCtx(t), Owner{}, []Resource{c.want})
		failsWith[*BusyError](t, err)
		must(t, n.Release(testCtx(t), nil))
		h := acquire(t, b, c.want)
		_, err = a.AcquireNamed(testCtx(t), driver, c.name, "", nil)
		failsWith[*BusyError](t, err)
		must(t, h.Release(testCtx(t)))
	}
	if _, err := a.AcquireNamed(testCtx(t), Owner{}, "deploy", "", nil); err == nil {
		t.Error("bound to no run")
	}
}

func TestNameNeverBlocksItsOwnRun(t *testing.T) {
	a, b := pair(t)
	rack := named(t, a, "r", "rack(1)", "")
	named(t, a, "r", "deploy", "api")
	for i, want := range [][]Resource{
		{x("deploy", "")},
		{x("rack", "1"), s("deploy", "")},
		{x("rack", "")}, // Around the instance that it holds.
		{s("rack", ""), x("rack", "2"), x("deploy", "")},
	} {
		h, err := a.Acquire(testCtx(t), Owner{Run: "r"}, want)
		must(t, err)
		arm(t, h, fmt.Sprint("i", i))
		must(t, h.Finish(testCtx(t), Outcome{Result: Applied}, nil))
		_, err = b.Acquire(testCtx(t), Owner{Run: "q"}, want)
		failsWith[*BusyError](t, err)
	}
	other := acquire(t, b, s("rack", "2"))
	_, err := a.Acquire(testCtx(t), Owner{Run: "r"}, []Resource{x("rack", "")})
	if busy := is[*BusyError](t, err); len(busy.Holders) != 1 || busy.Holders[0].Fence != other.Fence() {
		t.Errorf("in the way: %v", busy)
	}
	must(t, rack.Release(testCtx(t), nil))
}

func TestEndOfANameEndsTheActionThatReliesOnIt(t *testing.T) {
	a, b := pair(t)
	n := named(t, a, "r", "deploy", "api")
	h, err := a.Acquire(testCtx(t), Owner{Run: "r"}, []Resource{x("deploy", ""), x("f", "a")})
	must(t, err)
	_, err = b.Break(testCtx(t), x("deploy", ""), n.Fence(), "ann", "urgent")
	must(t, err)
	<-n.Lost()
	<-h.Lost()
	failsWith[*LostError](t, h.Arm(testCtx(t), Intent{ID: "i"}, nil, nil))
	n = named(t, a, "r", "deploy", "api")
	h, err = a.Acquire(testCtx(t), Owner{Run: "r"}, []Resource{x("deploy", ""), x("f", "b")})
	must(t, err)
	a.eyes.remove(n.hold) // Not seen by the watch: comparing finds it.
	_, err = store.Client().Delete(testCtx(t), n.key())
	must(t, err)
	failsWith[*LostError](t, h.Arm(testCtx(t), Intent{ID: "i"}, nil, nil))
	_, err = a.Acquire(testCtx(t), Owner{Run: "r"}, []Resource{x("deploy", "")})
	failsWith[*LostError](t, err)
}

func TestActionMayGiveBackTheNameThatItReliesOn(t *testing.T) {
	a, _ := pair(t)
	n := named(t, a, "r", "deploy", "api")
	h, err := a.Acquire(testCtx(t), Owner{Run: "r"}, []Resource{x("deploy", ""), x("f", "")})
	must(t, err)
	arm(t, h, "i")
	must(t, n.Release(testCtx(t), []clientv3.Cmp{a.keys.StillArmed("i", h.Intent().Revision)}))
	must(t, h.Finish(testCtx(t), Outcome{Result: Applied}, nil))
	if err := n.Release(testCtx(t), nil); !errors.Is(err, errOver) {
		t.Errorf("second release: %v", err)
	}
}

func TestLateTakingOfANameIsRefused(t *testing.T) {
	a, b := pair(t)
	h := acquire(t, a, x("f", ""))
	arm(t, h, "i")
	armed := a.keys.StillArmed("i", h.Intent().Revision)
	vanish(t, h)
	in, _, err := b.Intent(testCtx(t), "i")
	must(t, err)
	taken, err := b.TakeOver(testCtx(t), Owner{}, in)
	must(t, err)
	_, err = a.AcquireNamed(testCtx(t), driver, "deploy", "api", []clientv3.Cmp{armed})
	if refused := is[*RefusedError](t, err); len(refused.Keys) != 1 || refused.Keys[0] != a.keys.Intent("i") {
		t.Errorf("refused: %+v", refused)
	}
	must(t, taken.Resolve(testCtx(t), Outcome{Result: NotApplied}, nil))
	n := named(t, a, "r", "deploy", "api")
	failsWith[*RefusedError](t, n.Release(testCtx(t), []clientv3.Cmp{armed}))
	if n.Remaining() <= 0 {
		t.Error("a refused release gave it back")
	}
}

func TestStateOfANameSaysWhoHoldsItAndWhatFor(t *testing.T) {
	a, b := pair(t)
	state := func(l *Locker) NamedState {
		t.Helper()
		st, err := l.NamedState(testCtx(t), "deploy")
		must(t, err)
		return st
	}
	if st := state(b); st != (NamedState{}) {
		t.Errorf("nobody: %+v", st)
	}
	n, err := a.AcquireNamed(testCtx(t), driver, "deploy", "api", nil)
	must(t, err)
	again, err := a.AcquireNamed(testCtx(t), driver, "deploy", "db", nil)
	must(t, err)
	st := state(b)
	if again != n || n.For() != "db" || !st.Held || st.Run != "r" || st.For != "db" || st.Fence != n.Fence() || st.Since.IsZero() ||
		st.Holder != "run r, take_lock(api), pid 42 on ops1" {
		t.Errorf("named: %+v", st)
	}
	must(t, n.Release(testCtx(t), nil))
	h, err := a.Acquire(testCtx(t), Owner{Reason: "by hand", PID: 7, Host: "ops2"}, []Resource{x("deploy", "")})
	must(t, err)
	if st := state(b); !st.Held || st.Run != "" || st.Holder != "pid 7 on ops2" || st.Owner.Reason != "by hand" {
		t.Errorf("a person: %+v", st)
	}
	if st := state(a); st.Held {
		t.Errorf("an action finds itself in the way: %+v", st)
	}
	must(t, h.Release(testCtx(t)))
}

func TestKeptNamesAreAdoptedByTheSameRun(t *testing.T) {
	a, b := pair(t)
	owner, err := a.ClaimRun(testCtx(t), "r", driver)
	must(t, err)
	n := named(t, a, "r", "deploy", "api")
	named(t, a, "r", "rack(1)", "")
	until := time.Now().Add(time.Hour)
	names, err := a.Keep(testCtx(t), "r", until)
	must(t, err)
	must(t, owner.Release(testCtx(t)))
	must(t, a.Close()) // The process ends, its leases are kept.
	if !slices.Equal(names, []string{"deploy", "rack(1)"}) {
		t.Errorf("kept %q", names)
	}
	ttl, err := store.Client().TimeToLive(testCtx(t), leaseOf(t, n.key()))
	must(t, err)
	if ttl.GrantedTTL < 3590 || ttl.GrantedTTL > 3601 {
		t.Errorf("kept for %d s", ttl.GrantedTTL)
	}
	if st, err := b.NamedState(testCtx(t), "deploy"); err != nil || st.Until.Sub(until).Abs() > time.Second || st.Run != "r" {
		t.Errorf("state %+v, %v", st, err)
	}
	if _, err := b.Adopt(testCtx(t), "r"); err == nil || !strings.Contains(err.Error(), "claim it first") {
		t.Errorf("adopted without driving it: %v", err)
	}
	_, err = b.ClaimRun(testCtx(t), "r", Owner{})
	must(t, err)
	got, err := b.Adopt(testCtx(t), "r")
	must(t, err)
	if len(got) != 2 || got[0].Name() != "deploy" || got[0].For() != "api" || got[0].Fence() != n.Fence() || leaseOf(t, n.key()) != got[0].grant.id {
		t.Errorf("adopted %+v", got)
	}
	if again, err := b.Adopt(testCtx(t), "r"); err != nil || len(again) != 0 {
		t.Errorf("adopted twice: %v, %v", again, err)
	}
	h, err := b.Acquire(testCtx(t), Owner{Run: "r"}, []Resource{x("deploy", "")})
	must(t, err)
	must(t, h.Release(testCtx(t)))
	must(t, b.ReleaseAllNamed(testCtx(t), "r"))
	if left := keysBelow(t, string(b.keys)+"k/"); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

func leaseOf(t *testing.T, key string) clientv3.LeaseID {
	t.Helper()
	resp, err := store.Client().Get(testCtx(t), key)
	must(t, err)
	return clientv3.LeaseID(resp.Kvs[0].Lease)
}

func TestAdoptedNameIsNoLongerTheOldProcess(t *testing.T) {
	a, b := pair(t)
	owner, err := a.ClaimRun(testCtx(t), "r", driver)
	must(t, err)
	n := named(t, a, "r", "deploy", "api")
	h, err := a.Acquire(testCtx(t), Owner{Run: "r"}, []Resource{x("deploy", "")})
	must(t, err)
	vanishOwner(t, owner) // It was stopped for longer than its TTL, as far as the store knows.
	_, err = b.ClaimRun(testCtx(t), "r", Owner{})
	must(t, err)
	_, err = b.Adopt(testCtx(t), "r")
	must(t, err)
	failsWith[*LostError](t, h.Arm(testCtx(t), Intent{ID: "i"}, nil, nil))
	failsWith[*LostError](t, n.Release(testCtx(t), nil))
	if st, err := b.NamedState(testCtx(t), "deploy"); err != nil || !st.Held {
		t.Errorf("the new process's lease: %+v, %v", st, err)
	}
	_, err = a.AcquireNamed(testCtx(t), driver, "other", "", nil)
	if refused := is[*RefusedError](t, err); !refused.NotOwner {
		t.Errorf("refused: %+v", refused)
	}
}

func vanishOwner(t *testing.T, r *RunOwner) {
	t.Helper()
	_, err := store.Client().Revoke(testCtx(t), r.grant.id)
	must(t, err)
	<-r.Lost()
}

func TestNameIsTakenWithoutGhosts(t *testing.T) {
	line := faulty(t)
	l := newLocker(t, line.cli, newScope(t), Options{})
	line.answerLost()
	_, err := l.AcquireNamed(testCtx(t), driver, "deploy", "", nil)
	failsWith[*RetryableError](t, err)
	n := named(t, l, "r", "deploy", "")
	line.answerLost()
	must(t, n.Release(testCtx(t), nil)) // Looked for, and gone.
	n = named(t, l, "r", "deploy", "")
	line.delayed()
	failsWith[*RetryableError](t, n.Release(testCtx(t), nil))
	if n.Remaining() <= 0 || l.NamedOf("r", "deploy") != n {
		t.Error("not held on")
	}
	line.answerLost()
	failsWith[*RetryableError](t, n.Release(testCtx(t), nil, clientv3.OpPut(string(l.keys)+"rides", "")))
	named(t, l, "r", "deploy", "")
	line.answerLost()
	must(t, l.ReleaseAllNamed(testCtx(t), "r"))
	if left := keysBelow(t, string(l.keys)+"k/"); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestRunIsClaimedWithoutGhosts(t *testing.T) {
	line := faulty(t)
	l := newLocker(t, line.cli, newScope(t), Options{})
	line.answerLost()
	_, err := l.ClaimRun(testCtx(t), "r", driver)
	failsWith[*RetryableError](t, err)
	r, err := l.ClaimRun(testCtx(t), "r", driver)
	must(t, err)
	line.answerLost()
	must(t, r.Release(testCtx(t)))
	if e, err := l.RunOwnerOf(testCtx(t), "r"); e != nil || err != nil {
		t.Errorf("driven by %v, %v", e, err)
	}
	r, err = l.ClaimRun(testCtx(t), "r", driver)
	must(t, err)
	_, err = l.ClaimRun(testCtx(t), "r", driver)
	want := "lease: run r is driven by take_lock(api), pid 42 on ops1 since "
	if e := is[*OwnedError](t, err); !strings.HasPrefix(e.Error(), want) {
		t.Errorf("got %q, want %q…", e, want)
	}
	vanishOwner(t, r)
	failsWith[*LostError](t, r.Release(testCtx(t)))
	if _, err := l.ClaimRun(testCtx(t), "", driver); err == nil {
		t.Error("claimed no run")
	}
}
