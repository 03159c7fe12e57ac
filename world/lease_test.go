package world

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/lease/etcd"
)

// deployModel observes the deploy lock in two ways, and takes it and gives it back.
const deployModel = `
fluent "open" {
  observe "lease" {
    name  = "deploy"
    value = "!held"
  }
}
fluent "in_lb" {
  observe "lease" {
    name  = "deploy"
    value = "mine && for == s"
  }
}
fluent "version" {
  observe "lease" {
    name  = "deploy"
    value = "held ? for + ' by ' + holder : 'nobody'"
  }
}
action "drain" {
  run "lease" {
    acquire = "deploy"
    for     = s
  }
}
action "restart" {
  run "lease" { release = "deploy" }
}
`

// leaseYard is an embedded etcd and one scope in it.
type leaseYard struct {
	*testModel
	cli   *clientv3.Client
	scope string
}

func newLeaseYard(t *testing.T) *leaseYard {
	t.Helper()
	s, err := etcd.Open(t.Context(), etcd.Config{StateDir: t.TempDir(), OpenTimeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &leaseYard{newTestModel(t), s.Client(), s.Scope("test")}
}

func (y *leaseYard) locker(t *testing.T) *lease.Locker {
	t.Helper()
	l := lease.New(y.cli, y.scope, lease.Options{})
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// leaseRunner is a run that acts through the kind as the executor does: armed.
type leaseRunner struct {
	*leaseYard
	w   *World
	l   *lease.Locker
	run string
}

func (y *leaseYard) runner(t *testing.T, run string) *leaseRunner {
	t.Helper()
	r := &leaseRunner{y, y.mustCompile(t, deployModel), y.locker(t), run}
	if _, err := r.l.ClaimRun(t.Context(), run, lease.Owner{Run: run}); err != nil {
		t.Fatal(err)
	}
	r.w.UseLeases(NewLeases(r.l, run))
	return r
}

// arm acquires and arms one action, and returns the call to carry it out.
func (r *leaseRunner) arm(t *testing.T, id, action string, args ...string) (*lease.Held, Call) {
	t.Helper()
	g := r.ground(t, action, args...)
	h, err := r.l.Acquire(t.Context(), lease.Owner{Run: r.run, Step: 1}, []lease.Resource{{Fluent: "in_lb", Exclusive: true}})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Arm(t.Context(), lease.Intent{ID: id}, nil, nil); err != nil {
		t.Fatal(err)
	}
	return h, Call{Ground: g, Run: r.run, Step: 1, ActionID: id, Fence: h.Fence(), Armed: h.Intent().Revision}
}

// do carries one action out from its acquisition to its end.
func (r *leaseRunner) do(t *testing.T, id, action string, args ...string) Outcome {
	t.Helper()
	h, call := r.arm(t, id, action, args...)
	out := r.w.Act(t.Context(), r.u, call)
	if err := h.Finish(t.Context(), lease.Outcome{Result: lease.Applied}, nil); err != nil {
		t.Fatal(err)
	}
	return out
}

func (r *leaseRunner) sees(t *testing.T, want string) {
	t.Helper()
	self := regexp.MustCompile(`pid \d+ on [^}]*`) // This process, wherever it runs.
	same(t, self.ReplaceAllString(r.observe(t, r.w, "open", "in_lb(api)", "in_lb(db)"), "pid 7 on host"), want)
}

const (
	nobodys = `
open = true {nobody holds it}
in_lb(api) = false {nobody holds it}
in_lb(db) = false {nobody holds it}`
	mine = `
open = false {held for db by run run-a, drain(db), pid 7 on host}
in_lb(api) = false {held for db by run run-a, drain(db), pid 7 on host}
in_lb(db) = true {held for db by run run-a, drain(db), pid 7 on host}`
	others = `
open = false {held for db by run run-a, drain(db), pid 7 on host}
in_lb(api) = false {held for db by run run-a, drain(db), pid 7 on host}
in_lb(db) = false {held for db by run run-a, drain(db), pid 7 on host}`
)

func (o Outcome) short() string { return string(o.Status) + ": " + o.Message }

func TestLeaseIsTheRunsAcrossStepsUntilReleased(t *testing.T) {
	y := newLeaseYard(t)
	a, b := y.runner(t, "run-a"), y.runner(t, "run-b")
	a.sees(t, nobodys)
	same(t, a.do(t, "1", "drain", "db").short(), "done: acquired deploy for db")
	a.sees(t, mine)
	b.sees(t, others)

	same(t, a.do(t, "2", "drain", "db").short(), "done: acquired deploy for db") // Again changes nothing.
	a.sees(t, mine)

	got := b.do(t, "3", "drain", "api")
	if want := "failed: deploy is held for db by run run-a, drain(db), pid "; !strings.HasPrefix(got.short(), want) {
		t.Errorf("got %q, want %q…", got.short(), want)
	}
	same(t, b.do(t, "4", "restart", "api").short(), "failed: this run does not hold deploy")
	a.sees(t, mine)

	same(t, a.do(t, "5", "restart", "db").short(), "done: released deploy")
	a.sees(t, nobodys)
	same(t, b.do(t, "6", "drain", "api").short(), "done: acquired deploy for api")
	same(t, b.observe(t, b.w, "in_lb(api)")[:17], "in_lb(api) = true")
}

func TestLeaseEndsWithTheRun(t *testing.T) {
	y := newLeaseYard(t)
	a, b := y.runner(t, "run-a"), y.runner(t, "run-b")
	a.do(t, "1", "drain", "db")
	if err := a.l.ReleaseAllNamed(t.Context(), "run-a"); err != nil {
		t.Fatal(err)
	}
	b.sees(t, nobodys)
}

// A person's lock is the same resource as the named lease.
func TestLeaseExcludesPeople(t *testing.T) {
	y := newLeaseYard(t)
	a := y.runner(t, "run-a")
	deploy := []lease.Resource{lease.ParseResource("deploy")}
	person, err := y.locker(t).Acquire(t.Context(), lease.Owner{Host: "desk", PID: 9, Reason: "by hand"}, deploy)
	if err != nil {
		t.Fatal(err)
	}
	same(t, a.observe(t, a.w, "open", "in_lb(db)", "version(api)"), `
open = false {held by pid 9 on desk}
in_lb(db) = false {held by pid 9 on desk}
version(api) = ' by pid 9 on desk' {held by pid 9 on desk}`)
	if got := a.do(t, "1", "drain", "db").short(); !strings.HasPrefix(got, "failed: deploy is held by pid 9 on desk, since ") {
		t.Errorf("got %q", got)
	}
	if err := person.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.do(t, "2", "drain", "db")
	var busy *lease.BusyError
	if _, err := y.locker(t).Acquire(t.Context(), lease.Owner{}, deploy); !errors.As(err, &busy) {
		t.Errorf("a person took what the run holds: %v", err)
	}
}

// takeOver takes over what is in doubt, once its lease is gone.
func (r *leaseRunner) takeOver(t *testing.T) *lease.Held {
	t.Helper()
	want := []lease.Resource{{Fluent: "in_lb", Exclusive: true}}
	var doubt *lease.InDoubtError
	var busy *lease.BusyError
	for doubt == nil {
		if _, err := r.l.Acquire(t.Context(), lease.Owner{Run: r.run}, want); !errors.As(err, &doubt) && !errors.As(err, &busy) {
			t.Fatal(err)
		}
		if doubt == nil {
			soon, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond) // The change may have come before the look.
			err, over := r.l.AwaitChange(soon, want), soon.Err() != nil
			cancel()
			if err != nil && !over {
				t.Fatal(err)
			}
		}
	}
	h, err := r.l.TakeOver(t.Context(), lease.Owner{Run: r.run}, doubt.Intents[0])
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// An action that was taken over by another may not take effect any more, which
// is what makes the kind a fenced one.
func TestLateLeaseActionIsRefusedByTheStore(t *testing.T) {
	for _, action := range []string{"drain", "restart"} {
		t.Run(action, func(t *testing.T) {
			y := newLeaseYard(t)
			a, b := y.runner(t, "run-a"), y.runner(t, "run-b")
			if action == "restart" {
				a.do(t, "0", "drain", "db")
			}
			h, call := a.arm(t, "1", action, "db")
			if err := h.Unknown(t.Context(), lease.Outcome{Note: "paused"}); err != nil { // Its lease is gone.
				t.Fatal(err)
			}
			taken := b.takeOver(t)
			before := b.observe(t, b.w, "open")
			if got := a.w.Act(t.Context(), a.u, call); got.Status != Rejected || !strings.HasPrefix(got.Message, "came too late: ") {
				t.Errorf("got %q", got.short())
			}
			same(t, b.observe(t, b.w, "open"), before)
			if err := taken.Resolve(t.Context(), lease.Outcome{Result: lease.NotApplied}, nil); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestLeaseWithoutAnswerIsUnknown(t *testing.T) {
	y := newLeaseYard(t)
	a := y.runner(t, "run-a")
	ctx, cancel := context.WithCancel(t.Context())
	h, call := a.arm(t, "1", "drain", "db")
	cancel()
	if got := a.w.Act(ctx, a.u, call); got.Status != Failed || !strings.HasPrefix(got.Message, "not started: ") {
		t.Errorf("got %q", got.short())
	}
	if err := h.Withdraw(t.Context(), lease.Outcome{}); err != nil {
		t.Fatal(err)
	}
	cli, err := clientv3.New(clientv3.Config{Endpoints: []string{"127.0.0.1:1"}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer cli.Close()
	off := lease.New(cli, y.scope, lease.Options{RequestTimeout: 50 * time.Millisecond})
	defer off.Close()
	a.w.UseLeases(NewLeases(off, "run-a"))
	for _, r := range a.w.Observe(t.Context(), a.u, a.refs(t, "open", "in_lb(db)"), time.Time{}) {
		if r.Value.Known() || !strings.Contains(r.Err, "who holds deploy") {
			t.Errorf("%s: %v %q", a.u.Text(r.Atom), r.Value, r.Err)
		}
	}
}

func TestLeaseOutcomeTellsDoubtFromRefusal(t *testing.T) {
	for want, err := range map[string]error{
		"done: took it":       nil,
		"failed: held by x":   &LeaseError{Reason: "held by x"},
		"rejected: too late":  &LeaseError{Reason: "too late", Late: true},
		"unknown: lost reply": errors.New("lost reply"),
	} {
		same(t, leaseOutcome(err, "took it").short(), want)
	}
}

// Only the store knows about leases: without one nothing is guessed, and a
// reader takes none.
func TestLeasesNeedAStore(t *testing.T) {
	m := newTestModel(t)
	w := m.mustCompile(t, deployModel)
	same(t, m.observe(t, w, "open", "in_lb(db)"), `
open = unknown [the store that keeps the leases is not open here]
in_lb(db) = unknown [the store that keeps the leases is not open here]`)
	same(t, m.act(t.Context(), t, w, "drain", "db").short(), "failed: not started: the store that keeps the leases is not open here")

	y := newLeaseYard(t)
	a := y.runner(t, "run-a")
	a.do(t, "1", "drain", "db")
	reader := &leaseRunner{y, y.mustCompile(t, deployModel), y.locker(t), ""}
	reader.w.UseLeases(NewLeases(reader.l, ""))
	reader.sees(t, others)
	same(t, y.act(t.Context(), t, reader.w, "drain", "db").short(), "failed: a lease needs a run to be bound to")
}

func TestLeaseIsAskedForOnceAndSampledThen(t *testing.T) {
	y := newLeaseYard(t)
	a := y.runner(t, "run-a")
	began := time.Now()
	rs := a.w.Observe(t.Context(), a.u, a.refs(t, "open", "in_lb"), began)
	for _, r := range rs {
		if r.Sampled.Before(began) || r.Sampled.After(time.Now()) || !r.Sampled.Equal(rs[0].Sampled) || r.Source != (Source{Kind: "lease", Query: "deploy"}) {
			t.Errorf("%s: sampled %s, from %v", a.u.Text(r.Atom), r.Sampled, r.Source)
		}
	}
	if !a.w.Fenced(a.Action("drain")) || !a.w.Fenced(a.Action("restart")) {
		t.Error("the lease's actions are fenced by the store")
	}
	if err := a.w.Raise(t.Context(), a.u, a.ground(t, "drain", "db"), Fence{Token: 1, Resources: []string{"in_lb(db)"}}); err != nil {
		t.Error(err)
	}
}

// Names of leases may depend on objects, whose names cannot change which lease is meant.
func TestLeaseNames(t *testing.T) {
	y := newLeaseYard(t)
	r := &leaseRunner{y, y.mustCompile(t, `
fluent "in_lb" {
  observe "lease" {
    name  = "rack( ${s} )"
    value = "held"
  }
}
fluent "open" {
  observe "lease" {
    name  = "deploy"
    value = "held"
  }
}
fluent "up" {
  observe "lease" {
    name  = "rack('${urlencode(s)}')"
    value = "held"
  }
}
action "drain" {
  run "lease" { acquire = "rack(${s})" }
}
action "restart" {
  run "lease" { acquire = "upkeep" }
}
`), y.locker(t), "run-a"}
	r.w.UseLeases(NewLeases(r.l, "run-a"))
	same(t, strings.Join(r.w.LeaseNames(r.u), " "), "deploy rack('-rf') rack('..%2Fadmin%3Fx%3D1%23%C3%A9%27') rack(api) rack(db) upkeep")
	same(t, r.do(t, "1", "drain", "api").short(), "done: acquired rack(api)")
	same(t, r.do(t, "2", "drain", hostile).short(),
		`failed: not started: the name "../admin?x=1#é'" does not fit into that of a lease as it is; write '${urlencode(s)}' in it, in single quotes`)
	for text, want := range map[string]string{"in_lb(api)": "true", "in_lb(db)": "false", "up(api)": "true"} {
		if got := r.observe(t, r.w, text); !strings.HasPrefix(got, text+" = "+want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
