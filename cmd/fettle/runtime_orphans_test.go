package main

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/lease/etcd"
)

// What a process held that has ended goes with the next start of the etcd, but
// for what may go on without it.
func TestTheNextStartBuriesWhatTheDeadHeld(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	cfg := etcd.Config{StateDir: dir, OpenTimeout: 20 * time.Second}
	s, err := etcd.Open(ctx, cfg)
	must(err)
	scope, other := s.Scope("m"), s.Scope("other")
	foreign := lease.New(s.Client(), other, lease.Options{})
	l := lease.New(s.Client(), scope, lease.Options{})
	lock := func(l *lease.Locker, run, name string) *lease.Held {
		t.Helper()
		held, err := l.Acquire(ctx, lease.Owner{Run: run, Step: 1}, []lease.Resource{{Fluent: name, Exclusive: true}})
		must(err)
		return held
	}
	claim := func(run string) {
		t.Helper()
		_, err := l.ClaimRun(ctx, run, lease.Owner{})
		must(err)
	}
	claim("idle")
	lock(l, "idle", "prepared")
	claim("acting")
	lock(l, "acting", "beside")
	held := lock(l, "acting", "written")
	must(held.Arm(ctx, lease.Intent{ID: "acting-001", Timeout: time.Second, Writes: []lease.Resource{{Fluent: "written", Exclusive: true}}}, nil, nil))
	lock(l, "", "person")
	claim("waiting")
	_, err = l.AcquireNamed(ctx, lease.Owner{Run: "waiting"}, "deploy", "", nil)
	must(err)
	_, err = l.Keep(ctx, "waiting", time.Now().Add(time.Hour))
	must(err)
	lock(foreign, "r", "elsewhere")
	must(s.Close()) // First: what the lockers would still give back stays, as where a process is killed.
	must(l.Close())
	must(foreign.Close())

	cfg.OnOrphaned = func(ctx context.Context, cli *clientv3.Client) { bury(ctx, cli, scope) }
	s, err = etcd.Open(ctx, cfg)
	must(err)
	defer s.Close()
	resp, err := s.Client().Get(ctx, "", clientv3.WithPrefix())
	must(err)
	var got []string
	for _, kv := range resp.Kvs {
		if kv.Lease != 0 {
			got = append(got, strings.TrimPrefix(string(kv.Key), scope))
		}
	}
	want := []string{"k/beside/x//l", "k/deploy/x//l", "k/person/x//l", "k/written/x//l", other + "k/elsewhere/x//l"}
	if !slices.Equal(got, want) {
		t.Errorf("left %q, want %q", got, want)
	}
	if in, err := lease.New(s.Client(), scope, lease.Options{}).Intents(ctx); err != nil || len(in) != 1 {
		t.Errorf("in doubt %v, %v", in, err)
	}
}
