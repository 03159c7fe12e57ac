package lease

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

func TestBusySaysWhoHoldsWhatAndSinceWhen(t *testing.T) {
	a, b := pair(t)
	b.o.Now = func() time.Time { return time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC) }
	h, err := b.Acquire(testCtx(t), Owner{Run: "r7", Step: 3, Action: "drain(api)", Host: "ops1", PID: 42}, []Resource{x("in_lb", "api")})
	must(t, err)
	_, err = a.Acquire(testCtx(t), Owner{}, []Resource{s("up", "db"), s("in_lb", "")})
	busy := is[*BusyError](t, err)
	if len(busy.Holders) != 1 || busy.Holders[0].Fence != h.Fence() || busy.Holders[0].Owner.Step != 3 {
		t.Errorf("holders %+v", busy.Holders)
	}
	want := "lease: busy: in_lb(api) is held exclusively by run r7, drain(api), pid 42 on ops1 since 2026-07-01T10:00:00Z, token "
	if !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got  %s\nwant %s…", err, want)
	}
}

func TestTicketOfAWaiterGoesFirst(t *testing.T) {
	a, _ := pair(t)
	key := a.keys.Ticket("in_lb", 7)
	_, err := store.Client().Put(testCtx(t), key, "{}")
	must(t, err)
	_, err = a.Acquire(testCtx(t), Owner{}, []Resource{x("in_lb", "api")})
	failsWith[*BusyError](t, err)
	if want := "lease: busy: 1 other waits for in_lb"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	acquire(t, a, x("other", "api"))
}

func TestWriteSkewIsExcludedByTheReadsOfInvariants(t *testing.T) {
	a, b := pair(t)
	// drain(api) and drain(db) under count(service, !in_lb(#)) <= 1, which reads the whole of in_lb.
	drain := func(i string) []Resource { return []Resource{x("in_lb", i), s("in_lb", "")} }
	h := acquire(t, a, drain("api")...)
	_, err := b.Acquire(testCtx(t), Owner{}, drain("db"))
	failsWith[*BusyError](t, err)
	must(t, h.Release(testCtx(t)))
	acquire(t, b, drain("db")...)
}

func TestFenceStrictlyIncreasesInTheOrderOfAcquisition(t *testing.T) {
	a, b := pair(t)
	var mu sync.Mutex
	var tokens []int64
	var wg sync.WaitGroup
	for _, l := range []*Locker{a, b, a, b} {
		wg.Go(func() {
			for range 10 {
				h := eventually(t, l, x("f", "a"))
				mu.Lock() // Under the lease, so in its order.
				tokens = append(tokens, h.Fence())
				mu.Unlock()
				if err := h.Release(testCtx(t)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if len(tokens) != 40 || !slices.IsSorted(tokens) || len(slices.Compact(slices.Clone(tokens))) != 40 {
		t.Errorf("tokens %v", tokens)
	}
}

// eventually acquires as a caller does: try, wait for a change, try again.
func eventually(t *testing.T, l *Locker, rs ...Resource) *Held {
	for {
		h, err := l.Acquire(testCtx(t), Owner{}, rs)
		if err == nil {
			return h
		}
		failsWith[*BusyError](t, err)
		if err := l.AwaitChange(testCtx(t), rs); err != nil {
			t.Error(err)
		}
	}
}

func TestAwaitChangeEndsWhenTheHolderIsGone(t *testing.T) {
	a, b := pair(t)
	must(t, b.AwaitChange(testCtx(t), []Resource{s("f", "")})) // Nothing in the way.
	for _, end := range []func(h *Held){
		func(h *Held) { must(t, h.Release(testCtx(t))) },
		func(h *Held) { vanish(t, h) },
	} {
		h := acquire(t, a, x("f", "a"))
		done := make(chan error, 1)
		go func() { done <- b.AwaitChange(testCtx(t), []Resource{s("f", "")}) }()
		end(h)
		must(t, <-done)
	}
	acquire(t, a, x("f", "a"))
	ctx, cancel := context.WithTimeout(testCtx(t), 50*time.Millisecond)
	defer cancel()
	if err := b.AwaitChange(ctx, []Resource{s("f", "")}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("nothing changed: %v, want the end of the context", err)
	}
}

func TestOpsRideAlongOrNotAtAll(t *testing.T) {
	a, b := pair(t)
	key := string(a.keys) + "rides"
	h, err := a.Acquire(testCtx(t), Owner{}, []Resource{x("f", "")}, clientv3.OpPut(key, "1"))
	must(t, err)
	_, err = b.Acquire(testCtx(t), Owner{}, []Resource{x("f", "")}, clientv3.OpPut(key, "2"))
	failsWith[*BusyError](t, err)
	must(t, h.Release(testCtx(t), clientv3.OpPut(key+"/released", "3")))
	resp, err := store.Client().Get(testCtx(t), key, clientv3.WithPrefix())
	must(t, err)
	if len(resp.Kvs) != 2 || string(resp.Kvs[0].Value) != "1" || string(resp.Kvs[1].Value) != "3" {
		t.Errorf("got %v", resp.Kvs)
	}
}

func TestAcquireWithoutAnswerIsRevokedBeforeItMayBeTriedAgain(t *testing.T) {
	line := faulty(t)
	l := newLocker(t, line.cli, newScope(t), Options{})
	line.answerLost()
	_, err := l.Acquire(testCtx(t), Owner{}, []Resource{x("f", "a")})
	failsWith[*RetryableError](t, err)
	if left := keysBelow(t, string(l.keys)+"k/"); len(left) != 0 {
		t.Fatalf("a ghost holds %q", left)
	}
	acquire(t, l, x("f", "a"))
}

func TestAcquireThatArrivesLateGetsNothing(t *testing.T) {
	line := faulty(t)
	l := newLocker(t, line.cli, newScope(t), Options{})
	deliver := line.delayed()
	_, err := l.Acquire(testCtx(t), Owner{}, []Resource{x("f", "a")})
	failsWith[*RetryableError](t, err)
	if err := deliver(); err == nil {
		t.Error("the late transaction was accepted")
	}
	if left := keysBelow(t, string(l.keys)+"k/"); len(left) != 0 {
		t.Errorf("a ghost holds %q", left)
	}
}

func TestReleaseDeletesOnlyItsOwn(t *testing.T) {
	a, b := pair(t)
	h := acquire(t, a, x("f", "a"), s("g", ""))
	vanish(t, h)
	acquire(t, b, x("f", "a"))
	failsWith[*LostError](t, h.Release(testCtx(t)))
	if left := keysBelow(t, string(a.keys)+"k/f/"); !slices.Equal(left, []string{"x/a/l"}) {
		t.Errorf("the new holder's lock: %q", left)
	}
	if err := h.Release(testCtx(t)); !errors.Is(err, errOver) {
		t.Errorf("second release: %v", err)
	}
}

func TestClosedLockerGivesNothing(t *testing.T) {
	l := New(store.Client(), newScope(t), Options{})
	h := acquire(t, l, x("f", ""))
	must(t, l.Close())
	<-h.Lost()
	if _, err := l.Acquire(testCtx(t), Owner{}, []Resource{x("g", "")}); !errors.Is(err, errClosed) {
		t.Errorf("acquire after close: %v", err)
	}
	must(t, l.Close())
	vanish(t, h)
}

func TestHoldersAreListed(t *testing.T) {
	a, b := pair(t)
	h := acquire(t, a, x("f", "a"), s("g", ""))
	arm(t, h, "i")
	acquire(t, b, s("g", "b"))
	got, err := b.AllHolders(testCtx(t))
	must(t, err)
	var rs []Resource
	for _, one := range got {
		rs = append(rs, one.Resource)
	}
	if want := []Resource{x("f", "a"), s("g", ""), s("g", "b")}; !slices.Equal(rs, want) || got[0].Fence != h.Fence() {
		t.Errorf("holders %+v, want %v", got, want)
	}
	inTheWay, err := b.Holders(testCtx(t), []Resource{x("g", "b"), s("f", "c")})
	must(t, err)
	if len(inTheWay) != 2 || inTheWay[0].Resource != s("g", "") || inTheWay[1].Resource != s("g", "b") {
		t.Errorf("in the way %+v", inTheWay)
	}
}
