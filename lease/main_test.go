package lease

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/fettleops/fettle/lease/etcd"
)

// store is the etcd that all tests share, each in a scope of its own.
var store *etcd.Store

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) (code int) {
	dir, err := os.MkdirTemp("", "lease")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	store, err = etcd.Open(context.Background(), etcd.Config{StateDir: dir, OpenTimeout: 20 * time.Second})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code = m.Run()
	err = errors.Join(store.Close(), goleak.Find())
	if code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

var scopes atomic.Int64

func newScope(t testing.TB) string {
	return store.Scope(fmt.Sprintf("%s-%d", t.Name(), scopes.Add(1)))
}

func newLocker(t testing.TB, cli *clientv3.Client, scope string, o Options) *Locker {
	t.Helper()
	l := New(cli, scope, o)
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// pair returns two controllers in one scope.
func pair(t testing.TB) (*Locker, *Locker) {
	scope := newScope(t)
	return newLocker(t, store.Client(), scope, Options{}), newLocker(t, store.Client(), scope, Options{})
}

func testCtx(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func x(f, i string) Resource { return Resource{Fluent: f, Instance: i, Exclusive: true} }
func s(f, i string) Resource { return Resource{Fluent: f, Instance: i} }

func acquire(t testing.TB, l *Locker, rs ...Resource) *Held {
	t.Helper()
	h, err := l.Acquire(testCtx(t), Owner{Run: "r1", Action: "act"}, rs)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func arm(t testing.TB, h *Held, id string) {
	t.Helper()
	if err := h.Arm(testCtx(t), Intent{ID: id}, nil, nil); err != nil {
		t.Fatal(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func is[E error](t testing.TB, err error) E {
	t.Helper()
	var want E
	if !errors.As(err, &want) {
		t.Fatalf("error is %v (%T), want a %T", err, err, want)
	}
	return want
}

func failsWith[E error](t testing.TB, err error) {
	t.Helper()
	_ = is[E](t, err)
}

// vanish ends the lease of h behind its back, as after a crash and the TTL.
func vanish(t testing.TB, h *Held) {
	t.Helper()
	_, err := store.Client().Revoke(testCtx(t), h.grant.id)
	must(t, err)
}

// keysBelow returns the keys below a prefix.
func keysBelow(t testing.TB, prefix string) []string {
	t.Helper()
	resp, err := store.Client().Get(testCtx(t), prefix, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	must(t, err)
	out := []string{}
	for _, kv := range resp.Kvs {
		out = append(out, string(kv.Key)[len(prefix):])
	}
	return out
}

// fault is a line to etcd that loses requests or answers when told to.
type fault struct {
	cli  *clientv3.Client
	next atomic.Pointer[func(invoke func() error) error] // What befalls the next transaction.
	only atomic.Bool                                     // The next one that writes.
}

func faulty(t *testing.T) *fault {
	t.Helper()
	f := &fault{}
	cli, err := clientv3.New(clientv3.Config{
		Endpoints: store.Endpoints(), Logger: zap.NewNop(),
		DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(f.intercept)},
	})
	must(t, err)
	t.Cleanup(func() { _ = cli.Close() })
	f.cli = cli
	return f
}

func (f *fault) intercept(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	call := func() error { return invoke(ctx, method, req, reply, cc, opts...) }
	writes := func() bool {
		return len(req.(*etcdserverpb.TxnRequest).GetSuccess()) > 0 && len(req.(*etcdserverpb.TxnRequest).GetCompare()) > 0
	}
	if method == "/etcdserverpb.KV/Txn" && (!f.only.Load() || writes()) {
		if befall := f.next.Swap(nil); befall != nil {
			late := func() error { return invoke(context.WithoutCancel(ctx), method, req, reply, cc, opts...) }
			return (*befall)(late)
		}
	}
	return call()
}
