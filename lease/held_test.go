package lease

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/fettleops/fettle/lease/etcd"
)

func TestDeadlineCountsFromTheSendingAndIsFinal(t *testing.T) {
	const sec = time.Second
	d := deadline{margin: 2 * sec}
	d.extend(100*sec, 15*sec, 101*sec)
	if got := d.remaining(105 * sec); got != 8*sec {
		t.Fatalf("remaining %v, want 8s: sent at 100 + 15 - 2 - 105", got)
	}
	d.extend(99*sec, 15*sec, 106*sec) // An older renewal answered later.
	if got := d.remaining(106 * sec); got != 7*sec {
		t.Fatalf("remaining %v, want 7s: never moved back", got)
	}
	d.extend(105*sec, 15*sec, 112*sec)
	if got := d.remaining(117 * sec); got != sec {
		t.Fatalf("remaining %v, want 1s", got)
	}
	d.extend(117*sec, 15*sec, 118*sec) // Sent in time, answered at the deadline.
	if got := d.remaining(118 * sec); got != 0 {
		t.Fatalf("remaining %v, want 0: passed is final", got)
	}
	if got := d.remaining(100 * sec); got != 0 {
		t.Fatalf("remaining %v after the clock went back, want 0", got)
	}
}

func TestOptionsHaveSafeDefaults(t *testing.T) {
	for _, c := range []struct{ ttl, margin, wantTTL, wantMargin time.Duration }{
		{0, 0, 15 * time.Second, 1500 * time.Millisecond},
		{5 * time.Second, 0, 5 * time.Second, time.Second},
		{1500 * time.Millisecond, 0, 2 * time.Second, time.Second},
		{time.Second, 0, time.Second, 500 * time.Millisecond},
		{60 * time.Second, 3 * time.Second, 60 * time.Second, 3 * time.Second},
	} {
		o := Options{TTL: c.ttl, Margin: c.margin}.filled()
		if o.TTL != c.wantTTL || o.Margin != c.wantMargin {
			t.Errorf("TTL %v, margin %v: %v, %v; want %v, %v", c.ttl, c.margin, o.TTL, o.Margin, c.wantTTL, c.wantMargin)
		}
	}
}

func TestRevokedLeaseIsFoundOutWithoutWaitingForTheRenewal(t *testing.T) {
	a, _ := pair(t)
	h := acquire(t, a, x("f", "a"))
	ctx, cancel := h.Context(testCtx(t))
	defer cancel()
	vanish(t, h)
	<-ctx.Done()
	<-h.Lost()
	if cause := context.Cause(ctx); !errors.Is(cause, ErrBroken) || !errors.Is(h.Err(), ErrBroken) || h.Remaining() != 0 {
		t.Errorf("cause %v, Err %v, remaining %v", cause, h.Err(), h.Remaining())
	}
}

func TestRenewalNoticesAnExpiredLease(t *testing.T) {
	a, _ := pair(t)
	h := acquire(t, a, x("f", "a"))
	a.eyes.remove(h.hold) // Not seen by the watch.
	vanish(t, h)
	k := keeper{h: h.hold}
	if k.answered(<-k.renew()) {
		t.Error("the keeper goes on with a lease that is gone")
	}
	if !errors.Is(h.Err(), ErrExpired) {
		t.Errorf("lost for %v, want %v", h.Err(), ErrExpired)
	}
}

func TestOneBrokenLockLosesAllOfThem(t *testing.T) {
	a, b := pair(t)
	h := acquire(t, a, x("f", "a"), s("g", "b"))
	other := acquire(t, b, x("f", "b"))
	_, err := store.Client().Delete(testCtx(t), a.keys.Shared("g", "b", h.grant.id))
	must(t, err)
	<-h.Lost()
	lost := is[*LostError](t, h.Arm(testCtx(t), Intent{ID: "i"}, nil, nil))
	if !errors.Is(lost, ErrBroken) {
		t.Errorf("cause %v", lost.Cause)
	}
	if other.Remaining() <= 0 {
		t.Error("another's lease is lost with it")
	}
}

func TestContextEndsWithTheParentAndWhenGivenBack(t *testing.T) {
	a, _ := pair(t)
	h := acquire(t, a, x("f", "a"))
	parent, stop := context.WithCancel(testCtx(t))
	ctx, cancel := h.Context(parent)
	defer cancel()
	stop()
	<-ctx.Done()
	must(t, h.Release(testCtx(t)))
	for range 50 { // Its own deletes are seen by its own watch, before or after the answer.
		h := acquire(t, a, x("f", "a"))
		ctx, cancel := h.Context(testCtx(t))
		must(t, h.Release(testCtx(t)))
		<-ctx.Done()
		if cause := context.Cause(ctx); !errors.Is(cause, ErrReleased) {
			t.Fatalf("cause %v, want %v", cause, ErrReleased)
		}
		cancel()
		select {
		case <-h.Lost():
			t.Fatal("given back counts as lost")
		default:
		}
	}
}

// clock is boot time plus what the test adds. Once stopped it goes on only by that.
type clock struct{ ahead, stopped atomic.Int64 }

func (c *clock) now() time.Duration {
	base := boottime()
	if at := c.stopped.Load(); at != 0 {
		base = time.Duration(at)
	}
	return base + time.Duration(c.ahead.Load())
}

func (c *clock) stop() { c.stopped.Store(int64(boottime())) }

func TestRenewalsCarryAHolderPastItsFirstDeadline(t *testing.T) {
	c := &clock{}
	cli, renewals := renewing(t)
	l := newLocker(t, cli, newScope(t), Options{Clock: c.now})
	h := acquire(t, l, x("f", "a"))
	first := h.grant.remaining(c.now())
	c.ahead.Add(int64(6 * time.Second)) // More than a third of the TTL: time to renew.
	late := testCtx(t).Done()
	for h.grant.remaining(c.now()) < first-time.Second {
		select {
		case call := <-renewals:
			<-call.Done()
		case <-h.Lost():
			t.Fatal(h.Err())
		case <-late:
			t.Fatal("it is not renewed")
		}
	}
}

// renewing returns a line to etcd, and the context of each renewal's call over
// it, which ends when its answer has been reckoned with.
func renewing(t *testing.T) (*clientv3.Client, <-chan context.Context) {
	t.Helper()
	calls := make(chan context.Context, 100) // More than the test makes.
	see := func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
		if method == "/etcdserverpb.Lease/LeaseKeepAlive" {
			calls <- ctx
		}
		return open(ctx, desc, cc, method, opts...)
	}
	cli, err := clientv3.New(clientv3.Config{
		Endpoints: store.Endpoints(), Logger: zap.NewNop(), DialOptions: []grpc.DialOption{grpc.WithChainStreamInterceptor(see)},
	})
	must(t, err)
	t.Cleanup(func() { _ = cli.Close() })
	return cli, calls
}

func TestHolderCutOffFromEtcdStopsBeforeItsKeysExpire(t *testing.T) {
	host, l, c := doomed(t)
	h := acquire(t, l, x("f", "a"))
	armed := acquire(t, l, x("g", "a"))
	must(t, armed.Arm(testCtx(t), Intent{ID: "i"}, nil, nil))
	ctx, cancel := h.Context(testCtx(t))
	defer cancel()
	c.stop()
	must(t, host.Close())
	c.ahead.Add(int64(10 * time.Second))
	if h.Remaining() <= 0 || ctx.Err() != nil {
		t.Fatalf("ended early: remaining %v, %v", h.Remaining(), context.Cause(ctx))
	}
	c.ahead.Add(int64(3600 * time.Millisecond)) // 13.6 s: past TTL - margin = 13.5 s, before the TTL of 15 s.
	<-ctx.Done()
	if cause := context.Cause(ctx); !errors.Is(cause, ErrDeadline) {
		t.Errorf("cause %v, want %v", cause, ErrDeadline)
	}
	for name, call := range map[string]func(ctx context.Context) error{
		"acquire": func(ctx context.Context) error {
			_, err := l.Acquire(ctx, Owner{}, []Resource{x("f", "b")})
			return err
		},
		"await":   func(ctx context.Context) error { return l.AwaitChange(ctx, []Resource{x("f", "b")}) },
		"arm":     func(ctx context.Context) error { return h.Arm(ctx, Intent{ID: "j"}, nil, nil) },
		"release": func(ctx context.Context) error { return h.Release(ctx) },
		"finish":  func(ctx context.Context) error { return armed.Finish(ctx, Outcome{Result: Applied}, nil) },
		"unknown": func(ctx context.Context) error { return armed.Unknown(ctx, Outcome{}) },
		"intents": func(ctx context.Context) error { _, err := l.Intents(ctx); return err },
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		if err := call(ctx); err == nil { // Hangs, and fails by the test's time-out, where it does not end.
			t.Errorf("%s succeeded without etcd", name)
		}
		cancel()
	}
}

// doomed returns a Locker at an etcd of its own, which the test may end.
func doomed(t *testing.T) (host *etcd.Store, l *Locker, c *clock) {
	t.Helper()
	open := func(cfg etcd.Config) *etcd.Store {
		cfg.OpenTimeout = 20 * time.Second
		s, err := etcd.Open(testCtx(t), cfg)
		must(t, err)
		t.Cleanup(func() { must(t, s.Close()) })
		return s
	}
	host, c = open(etcd.Config{StateDir: t.TempDir()}), &clock{}
	line := open(etcd.Config{Endpoints: host.Endpoints()}) // One who joined would take the host's place.
	o := Options{Clock: c.now, RequestTimeout: 300 * time.Millisecond}
	return host, newLocker(t, line.Client(), newScope(t), o), c
}
