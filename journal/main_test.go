package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/fettleops/fettle/lease/etcd"
)

var store *etcd.Store

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "journal")
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
	code := m.Run()
	if err := errors.Join(store.Close(), goleak.Find()); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

var scopes atomic.Int64

func newJournal(t testing.TB) *Journal {
	j := Open(store.Client(), store.Scope(fmt.Sprint(t.Name(), scopes.Add(1))))
	now := time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC)
	j.Now = func() time.Time {
		now = now.Add(time.Second)
		return now
	}
	return j
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

func start(t testing.TB, j *Journal) *Run {
	t.Helper()
	r, err := j.Start(testCtx(t), map[string]string{"status": "running"})
	must(t, err)
	return r
}

// kinds reads a run as "seq kind" texts.
func kinds(t testing.TB, j *Journal, id string) []string {
	t.Helper()
	var out []string
	for ev, err := range j.Events(testCtx(t), id) {
		must(t, err)
		out = append(out, fmt.Sprintf("%d %s", ev.Seq, ev.Kind))
	}
	return out
}
