package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/lease/etcd"
	"github.com/fettleops/fettle/policy"
)

// store is the etcd that all tests share, each in a scope of its own.
var store *etcd.Store

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) (code int) {
	dir, err := os.MkdirTemp("", "ledger")
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
	if err := errors.Join(store.Close(), goleak.Find()); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

var scopes atomic.Int64

func newKeys(t testing.TB) lease.Keys {
	return lease.Keys(store.Scope(fmt.Sprintf("%s-%d", t.Name(), scopes.Add(1))))
}

// clock is a wall clock that a test sets.
type clock struct{ at time.Time }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func (c *clock) now() time.Time { return c.at }

// controller is one of many, with a connection, leases and a clock of its own.
type controller struct {
	*Ledger
	locker *lease.Locker
	clock  *clock
}

func newController(t testing.TB, k lease.Keys) *controller {
	t.Helper()
	cli, err := clientv3.New(clientv3.Config{Endpoints: store.Endpoints(), Logger: zap.NewNop()})
	must(t, err)
	t.Cleanup(func() { must(t, cli.Close()) })
	c := &controller{locker: lease.New(cli, string(k), lease.Options{}), clock: &clock{noon}}
	t.Cleanup(func() { must(t, c.locker.Close()) })
	c.Ledger = New(cli, k, c.clock.now)
	return c
}

// deed is an action by a run, on objects.
func deed(run, action string, objects ...string) policy.Deed {
	return policy.Deed{ID: fmt.Sprintf("%s-%03d", run, scopes.Add(1)), Run: run, Action: action, Objects: objects, Ground: fmt.Sprintf("%s%v", action, objects)}
}

// did counts an action at the controller's time, whatever the limits.
func (c *controller) did(t testing.TB, d policy.Deed) policy.Deed {
	t.Helper()
	ticket, no, err := c.Reserve(testCtx(t), policy.Shared{}, d)
	must(t, err)
	if no != nil {
		t.Fatalf("refused without a limit: %s", no.Reason)
	}
	_, err = c.cli.Txn(testCtx(t)).If(ticket.Cmps...).Then(ticket.Ops...).Commit()
	must(t, err)
	return ticket.Deed
}

// drive makes the controller the one that drives a run, until the function returned is called.
func (c *controller) drive(t testing.TB, run string) func() {
	t.Helper()
	owner, err := c.locker.ClaimRun(testCtx(t), run, lease.Owner{})
	must(t, err)
	return func() { must(t, owner.Release(testCtx(t))) }
}

func testCtx(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
