package lease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Store is what the conformance suite runs on.
type Store interface {
	Client() *clientv3.Client
	Scope(name string) string
}

// Suite holds a store to the protocol: embedded or a cluster, whole or with a member gone.
func Suite(t *testing.T, open func(t *testing.T) Store) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, a, b *Locker)
	}{
		{"one owner of conflicting resources, with increasing tokens", suiteExclusion},
		{"all or nothing, and what rides along with it", suiteAllOrNothing},
		{"first come, first served", suiteOrder},
		{"an armed action outlives its controller, in doubt", suiteDoubt},
		{"a lost lock ends the action as unknown", suiteLost},
		{"one process drives a run", suiteRunOwner},
		{"a named lease lives across steps", suiteNamed},
		{"people pause and break", suitePeople},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t)
			scope := s.Scope(fmt.Sprintf("%s-%d", t.Name(), scopes.Add(1)))
			o := Options{RequestTimeout: 10 * time.Second}
			c.run(t, newLocker(t, s.Client(), scope, o), newLocker(t, s.Client(), scope, o))
		})
	}
}

func TestEmbeddedConforms(t *testing.T) {
	Suite(t, func(*testing.T) Store { return store })
}

func suiteExclusion(t *testing.T, a, b *Locker) {
	var mu sync.Mutex
	var tokens []int64
	inside := 0
	var wg sync.WaitGroup
	for i, l := range []*Locker{a, b, a, b} {
		wg.Go(func() {
			for range 5 {
				h, err := l.AcquireWait(testCtx(t), Owner{Run: fmt.Sprint("r", i)}, []Resource{x("f", "a"), s("g", "")}, Wait{})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				inside++
				if inside != 1 {
					t.Errorf("%d at once", inside)
				}
				tokens = append(tokens, h.Fence())
				mu.Unlock()
				mu.Lock()
				inside--
				mu.Unlock()
				if err := h.Release(testCtx(t)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if len(tokens) != 20 || !slices.IsSorted(tokens) || len(slices.Compact(slices.Clone(tokens))) != 20 {
		t.Errorf("tokens %v", tokens)
	}
}

func suiteAllOrNothing(t *testing.T, a, b *Locker) {
	h := acquire(t, a, x("f", "a"))
	_, err := b.Acquire(testCtx(t), Owner{}, []Resource{x("e", ""), x("f", "")}, clientv3.OpPut(string(b.keys)+"rides", "1"))
	failsWith[*BusyError](t, err)
	resp, err := b.cli.Get(testCtx(t), string(b.keys), clientv3.WithPrefix(), clientv3.WithKeysOnly())
	must(t, err)
	if len(resp.Kvs) != 1 {
		t.Errorf("left behind: %v", resp.Kvs)
	}
	must(t, h.Release(testCtx(t)))
}

// waits starts to wait, and returns once its ticket is drawn.
func waits(t *testing.T, l *Locker, run string, rs ...Resource) <-chan *Held {
	t.Helper()
	out, drawn := make(chan *Held, 1), make(chan struct{})
	ctx := testCtx(t)
	go func() {
		h, err := l.AcquireWait(ctx, Owner{Run: run}, rs, Wait{OnBusy: func(*BusyError) { close(drawn) }})
		if err != nil {
			t.Error(run, err)
		}
		out <- h
	}()
	<-drawn
	return out
}

func suiteOrder(t *testing.T, a, b *Locker) {
	h := acquire(t, a, x("f", "a"))
	whole := waits(t, b, "whole", x("f", ""))
	late := waits(t, a, "late", x("f", "b")) // Free, and yet behind the one who wants all of it.
	_, err := a.Acquire(testCtx(t), Owner{}, []Resource{x("f", "c")})
	failsWith[*BusyError](t, err)
	must(t, h.Release(testCtx(t)))
	first := <-whole
	select {
	case <-late:
		t.Error("the later one went first")
	default:
	}
	must(t, first.Release(testCtx(t)))
	second := <-late
	if second.Fence() <= first.Fence() {
		t.Errorf("tokens %d, then %d", first.Fence(), second.Fence())
	}
	must(t, second.Release(testCtx(t)))
}

func suiteDoubt(t *testing.T, a, b *Locker) {
	h := acquire(t, a, x("f", "a"))
	arm(t, h, "i")
	_, err := a.cli.Revoke(testCtx(t), h.grant.id)
	must(t, err)
	for _, try := range []func() error{
		func() error { _, err := b.Acquire(testCtx(t), Owner{}, []Resource{s("f", "a")}); return err },
		func() error { _, err := b.AcquireWait(testCtx(t), Owner{}, []Resource{x("f", "")}, Wait{}); return err },
	} {
		doubt := is[*InDoubtError](t, try())
		if len(doubt.Intents) != 1 || doubt.Intents[0].ID != "i" {
			t.Fatalf("in doubt: %+v", doubt.Intents)
		}
	}
	in, _, err := b.Intent(testCtx(t), "i")
	must(t, err)
	taken, err := b.TakeOver(testCtx(t), Owner{}, in)
	must(t, err)
	if taken.Fence() <= h.Fence() {
		t.Errorf("token %d of the taker-over, %d before", taken.Fence(), h.Fence())
	}
	must(t, taken.Resolve(testCtx(t), Outcome{Result: NotApplied}, nil))
	must(t, acquire(t, a, x("f", "")).Release(testCtx(t)))
}

func suiteLost(t *testing.T, a, b *Locker) {
	h := acquire(t, a, x("f", "a"))
	arm(t, h, "i")
	_, err := a.cli.Delete(testCtx(t), h.locks[0])
	must(t, err)
	<-h.Lost()
	failsWith[*LostError](t, h.Finish(testCtx(t), Outcome{Result: Applied}, nil))
	must(t, h.Unknown(testCtx(t), Outcome{}))
	in, _, err := b.Intent(testCtx(t), "i")
	must(t, err)
	if in.State != StateUnknown {
		t.Errorf("state %s", in.State)
	}
}

func suiteRunOwner(t *testing.T, a, b *Locker) {
	first, err := a.ClaimRun(testCtx(t), "r", Owner{Host: "ops1", PID: 42})
	must(t, err)
	_, err = b.ClaimRun(testCtx(t), "r", Owner{})
	if e := is[*OwnedError](t, err); e.Owner.PID != 42 || e.Owner.Host != "ops1" {
		t.Errorf("driven by %+v", e)
	}
	done := make(chan error, 1)
	ctx := testCtx(t)
	go func() { done <- b.AwaitUnclaimed(ctx, "r") }()
	h := acquire(t, a, x("f", ""))
	must(t, first.Release(testCtx(t)))
	must(t, <-done)
	second, err := b.ClaimRun(testCtx(t), "r", Owner{})
	must(t, err)
	refused := is[*RefusedError](t, h.Arm(testCtx(t), Intent{ID: "i"}, []clientv3.Cmp{first.Cmp()}, nil))
	if !refused.NotOwner {
		t.Errorf("refused: %+v", refused)
	}
	must(t, second.Release(testCtx(t)))
}

func suiteNamed(t *testing.T, a, b *Locker) {
	n, err := a.AcquireNamed(testCtx(t), Owner{Run: "r"}, "deploy", "api", nil)
	must(t, err)
	_, err = b.AcquireNamed(testCtx(t), Owner{Run: "q"}, "deploy", "db", nil)
	failsWith[*BusyError](t, err)
	person := waits(t, b, "", x("deploy", ""))
	for range 2 { // Across its steps, and whoever waits.
		h, err := a.Acquire(testCtx(t), Owner{Run: "r"}, []Resource{x("deploy", ""), x("f", "")})
		must(t, err)
		arm(t, h, fmt.Sprint("i", h.Fence()))
		must(t, h.Finish(testCtx(t), Outcome{Result: Applied}, nil))
	}
	must(t, n.Release(testCtx(t), nil))
	must(t, (<-person).Release(testCtx(t)))
}

func suitePeople(t *testing.T, a, b *Locker) {
	h := acquire(t, a, x("f", "a"), s("g", ""))
	_, _, err := b.Pause(testCtx(t), "ann", "the balancer is odd")
	must(t, err)
	refused := is[*RefusedError](t, h.Arm(testCtx(t), Intent{ID: "i"}, []clientv3.Cmp{a.keys.NotPaused()}, nil))
	if refused.Paused == nil || refused.Paused.By != "ann" {
		t.Errorf("refused: %+v", refused)
	}
	_, err = b.Break(testCtx(t), x("f", "a"), h.Fence(), "ann", "it hangs")
	must(t, err)
	<-h.Lost()
	if !errors.Is(h.Err(), ErrBroken) {
		t.Errorf("lost for %v", h.Err())
	}
	must(t, acquire(t, b, x("f", ""), x("g", "")).Release(testCtx(t)))
	log, err := b.AuditLog(context.Background())
	must(t, err)
	if len(log) != 2 || log[0].Deed != DeedPause || log[1].Deed != DeedBreak {
		t.Errorf("audit log %+v", log)
	}
}
