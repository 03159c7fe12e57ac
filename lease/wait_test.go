package lease

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

func TestWholeFluentIsNotStarvedByItsInstances(t *testing.T) {
	a, b := pair(t)
	ctx, stop := context.WithCancel(testCtx(t))
	defer stop()
	writers := make(chan error, 8)
	for i := range 8 { // Together they always hold some instance.
		go func() {
			for ctx.Err() == nil {
				h, err := a.AcquireWait(ctx, Owner{}, []Resource{x("f", fmt.Sprint(i))}, Wait{})
				if err == nil {
					err = h.Release(testCtx(t))
				}
				if err != nil {
					writers <- ignoring(ctx, err)
					return
				}
			}
			writers <- nil
		}()
	}
	for range 5 {
		h, err := b.AcquireWait(testCtx(t), Owner{}, []Resource{x("f", "")}, Wait{})
		must(t, err) // By retry alone it never gets there.
		must(t, h.Release(testCtx(t)))
	}
	stop()
	for range 8 {
		must(t, <-writers)
	}
}

// ignoring passes over errors that come with the end of ctx.
func ignoring(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func TestDeadWaiterBlocksNoLongerThanItsTicket(t *testing.T) {
	a, b := pair(t)
	h := acquire(t, a, x("f", "a"))
	dead, err := store.Client().Grant(testCtx(t), 60) // All that is left of it, until its TTL.
	must(t, err)
	_, err = store.Client().Put(testCtx(t), a.keys.Ticket("f", dead.ID), "{}", clientv3.WithLease(dead.ID))
	must(t, err)
	next := waits(t, b, "next", x("f", "b"))
	must(t, h.Release(testCtx(t)))
	_, err = a.Acquire(testCtx(t), Owner{}, []Resource{x("f", "c")})
	failsWith[*BusyError](t, err)
	select {
	case <-next:
		t.Error("it did not wait its turn")
	default:
	}
	_, err = store.Client().Revoke(testCtx(t), dead.ID)
	must(t, err)
	must(t, (<-next).Release(testCtx(t)))
}

func TestEndOfTheContextRemovesTheTickets(t *testing.T) {
	a, b := pair(t)
	h := acquire(t, a, x("f", "a"))
	ctx, cancel := context.WithCancelCause(testCtx(t))
	enough := errors.New("enough")
	_, err := b.AcquireWait(ctx, Owner{}, []Resource{x("f", ""), s("g", "")}, Wait{OnBusy: func(busy *BusyError) {
		if len(keysBelow(t, string(a.keys)+"q/")) != 2 || len(busy.Holders) != 1 {
			t.Errorf("tickets %q, holders %+v", keysBelow(t, string(a.keys)+"q/"), busy.Holders)
		}
		cancel(enough)
	}})
	if busy := is[*BusyError](t, err); !errors.Is(err, enough) || busy.Holders[0].Fence != h.Fence() {
		t.Errorf("error %v", err)
	}
	if left := keysBelow(t, string(a.keys)+"q/"); len(left) != 0 {
		t.Errorf("tickets left: %q", left)
	}
}

func TestDoubtEndsTheWaitAtOnce(t *testing.T) {
	a, b := pair(t)
	h := acquire(t, a, x("f", "a"))
	arm(t, h, "i")
	_, err := b.AcquireWait(testCtx(t), Owner{}, []Resource{x("f", "")}, Wait{OnBusy: func(*BusyError) { vanish(t, h) }})
	failsWith[*InDoubtError](t, err)
	if left := keysBelow(t, string(a.keys)+"q/"); len(left) != 0 {
		t.Errorf("tickets left: %q", left)
	}
}

func TestOpsAreMadeAnewForEachTryAndToldWhatCameOfIt(t *testing.T) {
	a, b := pair(t)
	h := acquire(t, a, x("f", "a"))
	var made int
	var told []bool
	w := Wait{
		OnBusy: func(*BusyError) { must(t, h.Release(testCtx(t))) },
		Ops: func() ([]clientv3.Op, func(bool), error) {
			made++
			op := clientv3.OpPut(fmt.Sprint(string(b.keys), "try", made), "")
			return []clientv3.Op{op}, func(ok bool) { told = append(told, ok) }, nil
		},
	}
	_, err := b.AcquireWait(testCtx(t), Owner{}, []Resource{x("f", "")}, w)
	must(t, err)
	if fmt.Sprint(told) != "[false true]" || fmt.Sprint(keysBelow(t, string(b.keys)+"try")) != "[2]" {
		t.Errorf("told %v, put %v", told, keysBelow(t, string(b.keys)+"try"))
	}
	w.Ops = func() ([]clientv3.Op, func(bool), error) { return nil, nil, errors.New("no journal") }
	if _, err := b.AcquireWait(testCtx(t), Owner{}, []Resource{x("g", "")}, w); err == nil || !strings.Contains(err.Error(), "no journal") {
		t.Errorf("error %v", err)
	}
}

func TestLostTicketIsDrawnAgain(t *testing.T) {
	a, b := pair(t)
	h := acquire(t, a, x("f", "a"))
	got := waits(t, b, "b", x("f", ""))
	queue := a.keys.Queue("f")
	before, err := store.Client().Get(testCtx(t), queue, clientv3.WithPrefix())
	must(t, err)
	_, err = store.Client().Delete(testCtx(t), string(before.Kvs[0].Key))
	must(t, err)
	changes := store.Client().Watch(testCtx(t), queue, clientv3.WithPrefix(), clientv3.WithRev(before.Header.Revision+1), clientv3.WithFilterDelete())
	<-changes // Its next one.
	must(t, h.Release(testCtx(t)))
	must(t, (<-got).Release(testCtx(t)))
}

func TestWaitWithoutAnswerLeavesNoGhost(t *testing.T) {
	line := faulty(t)
	scope := newScope(t)
	a, b := newLocker(t, store.Client(), scope, Options{}), newLocker(t, line.cli, scope, Options{})
	h := acquire(t, a, x("f", "a"))
	_, err := b.AcquireWait(testCtx(t), Owner{}, []Resource{x("f", "")}, Wait{OnBusy: func(*BusyError) {
		must(t, h.Release(testCtx(t)))
		line.putLost()
	}})
	failsWith[*RetryableError](t, err)
	if left := append(keysBelow(t, scope+"q/"), keysBelow(t, scope+"k/")...); len(left) != 0 {
		t.Errorf("ghosts: %q", left)
	}
}

func TestThoseWhoWaitAreListed(t *testing.T) {
	a, b := pair(t)
	h := acquire(t, a, x("f", "a"))
	one, two := waits(t, b, "one", x("f", "")), waits(t, a, "two", x("f", ""))
	got, err := a.AllWaiting(testCtx(t))
	must(t, err)
	if len(got) != 2 || got[0].Owner.Run != "one" || got[1].Owner.Run != "two" || !got[0].Waiting {
		t.Errorf("waiting: %+v", got)
	}
	must(t, h.Release(testCtx(t)))
	must(t, (<-one).Release(testCtx(t)))
	must(t, (<-two).Release(testCtx(t)))
}

func TestClosedLockerEndsTheWait(t *testing.T) {
	a, _ := pair(t)
	acquire(t, a, x("f", "a"))
	l := New(store.Client(), string(a.keys), Options{})
	done, drawn := make(chan error, 1), make(chan struct{})
	go func() {
		_, err := l.AcquireWait(context.Background(), Owner{}, []Resource{x("f", "")}, Wait{OnBusy: func(*BusyError) { close(drawn) }})
		done <- err
	}()
	<-drawn
	must(t, l.Close())
	if err := <-done; !errors.Is(err, errClosed) {
		t.Errorf("error %v", err)
	}
	if left := keysBelow(t, string(a.keys)+"q/"); len(left) != 0 {
		t.Errorf("tickets left: %q", left)
	}
}

func BenchmarkWholeFluentAmongWriters(b *testing.B) {
	l := newLocker(b, store.Client(), newScope(b), Options{})
	ctx, stop := context.WithCancel(testCtx(b))
	done := make(chan struct{})
	for i := range 16 {
		go func() {
			defer func() { done <- struct{}{} }()
			for ctx.Err() == nil {
				if h, err := l.AcquireWait(ctx, Owner{}, []Resource{x("f", fmt.Sprint(i))}, Wait{}); err == nil {
					_ = h.Release(context.WithoutCancel(ctx))
				}
			}
		}()
	}
	for b.Loop() {
		h, err := l.AcquireWait(ctx, Owner{}, []Resource{x("f", "")}, Wait{})
		must(b, err)
		must(b, h.Release(ctx))
	}
	b.ReportMetric(float64(b.Elapsed()/time.Millisecond)/float64(b.N), "ms/wait")
	stop()
	for range 16 {
		<-done
	}
}
