package main

import (
	"context"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/fettleops/fettle/examples/fleet/accesslog"
)

func TestClientsAreServedInTurnByTheServicesInTheBalancer(t *testing.T) {
	f := startFleet(t)
	served := func() map[string]bool {
		out := map[string]bool{}
		for range 8 {
			out[strings.Fields(f.must("GET", "/", ""))[0]] = true
		}
		return out
	}
	if got := served(); len(got) != 4 {
		t.Fatalf("served by %v, want all four", got)
	}
	f.must("POST", "/services/api/drain", "")
	if got := served(); len(got) != 3 || got["api"] {
		t.Fatalf("served by %v after api was drained", got)
	}
	f.must("POST", "/services/api/add", "")
	if got := served(); len(got) != 4 {
		t.Fatalf("served by %v after api was added", got)
	}
}

func TestARefusalSaysWhyAndIsNever409(t *testing.T) {
	f := startFleet(t)
	f.must("POST", "/services/db/drain", "")
	f.must("POST", "/faults", `{"service":"worker","fault":"exit"}`)
	f.must("POST", "/services/worker/drain", "")
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"POST", "/services/db/drain", "", 422, `{"error":"db is not in the balancer"}`},
		{"POST", "/services/api/add", "", 422, `{"error":"api is in the balancer already"}`},
		{"POST", "/services/worker/add", "", 422, `{"error":"worker is not running"}`},
		{"POST", "/services/db/revert", "", 423, `{"error":"the deploy lock is not held for db"}`},
		{"POST", "/services/dbs/drain", "", 404, `{"error":"there is no service \"dbs\""}`},
		{"DELETE", "/lock/db", "", 422, `{"error":"the deploy lock is not held for \"db\""}`},
		{"POST", "/faults", `{"service":"db","fault":"fire"}`, 400, `{"error":"no fault \"fire\"; there are leak, bad_version, hang and exit"}`},
		{"POST", "/faults", `{"service":"worker","fault":"hang"}`, 422, `{"error":"worker is not running"}`},
	} {
		status, text := f.call(c.method, c.path, c.body)
		if status != c.status || text != c.says {
			t.Errorf("%s %s: got %d %s, want %d %s", c.method, c.path, status, text, c.status, c.says)
		}
	}
}

func TestALeakShowsAndARestartCuresIt(t *testing.T) {
	f := startFleet(t)
	before := f.service("api")
	f.must("POST", "/faults", `{"service":"api","fault":"leak"}`)
	f.eventually("the memory of api has grown", func() bool {
		v := f.service("api")
		return v.Memory == "leaking" && v.Healthy && v.RSS > before.RSS+2<<20
	})
	f.must("POST", "/services/api/drain", "")
	f.must("POST", "/services/api/restart", "")
	if v := f.service("api"); v.Memory != "ok" || !v.Healthy || v.PID == before.PID {
		t.Fatalf("after the restart: %+v", v)
	}
}

func TestABadVersionStaysOverARestartAndGoesWithARevertUnderTheLock(t *testing.T) {
	f := startFleet(t)
	f.must("POST", "/faults", `{"service":"db","fault":"bad_version"}`)
	f.must("POST", "/services/db/restart", "")
	if v := f.service("db"); v.Version != "v41" || v.Wanted != "v40" {
		t.Fatalf("after a restart: %+v", v)
	}
	f.must("POST", "/lock/db", "")
	if status, _ := f.call("POST", "/lock/api", ""); status != http.StatusLocked {
		t.Fatalf("the lock was given twice: %d", status)
	}
	f.must("POST", "/services/db/revert", "")
	if v := f.service("db"); v.Version != "v40" || !v.Healthy {
		t.Fatalf("after the revert: %+v", v)
	}
	f.must("DELETE", "/lock/db", "")
	if got := f.must("GET", "/lock", ""); !strings.HasPrefix(got, `{"free":true,"holder":""`) {
		t.Fatalf("lock: %s", got)
	}
}

func TestAHungServiceAnswersNobodyUntilItIsRestarted(t *testing.T) {
	f := startFleet(t)
	f.must("POST", "/faults", `{"service":"web","fault":"hang"}`)
	if v := f.service("web"); v.State != "running" || v.Healthy || v.Memory != "unknown" {
		t.Fatalf("a hung service: %+v", v)
	}
	if status, _ := f.call("GET", "/services/web/health", ""); status != http.StatusGatewayTimeout {
		t.Fatalf("health of a hung service: %d", status)
	}
	f.must("POST", "/services/web/drain", "")
	f.must("POST", "/services/web/restart", "")
	if v := f.service("web"); !v.Healthy || v.InLB {
		t.Fatalf("after the restart: %+v", v)
	}
}

func TestADeadServiceIsStillInTheBalancerAndARestartBringsItBack(t *testing.T) {
	f := startFleet(t)
	f.must("POST", "/faults", `{"service":"web","fault":"exit"}`)
	if v := f.service("web"); v.State != "exited" || v.Healthy || !v.InLB {
		t.Fatalf("a dead service: %+v", v)
	}
	if status, _ := f.call("GET", "/services/web/health", ""); status != http.StatusBadGateway {
		t.Fatalf("health of a dead service: %d", status)
	}
	f.must("POST", "/services/web/drain", "")
	f.must("POST", "/services/web/restart", "")
	f.must("POST", "/services/web/add", "")
	if v := f.service("web"); !v.Healthy || !v.InLB || v.State != "running" {
		t.Fatalf("after the restart: %+v", v)
	}
}

func TestALateActIsAnswered409WithTheFenceThatIsHigher(t *testing.T) {
	f := startFleet(t)
	f.must("POST", "/fence", `{"fence": 30, "resources": ["in_lb(api)", "in_lb"], "run": "r", "action_id": "b"}`)
	status, text := f.call("POST", "/services/api/drain", "", "Fettle-Fence", "20", "Fettle-Writes", `["in_lb(api)"]`, "Idempotency-Key", "a")
	if status != http.StatusConflict || !strings.Contains(text, `"fence":30`) {
		t.Fatalf("late act: %d %s", status, text)
	}
	if !f.service("api").InLB {
		t.Fatal("a late act was carried out")
	}
	status, text = f.call("POST", "/fence", `{"fence": 20, "resources": ["in_lb(api)"], "writes": ["in_lb(api)"]}`)
	if status != http.StatusConflict || !strings.HasPrefix(text, `{"fence":30,"resource":"in_lb`) {
		t.Fatalf("late raise: %d %s", status, text)
	}
	f.must("POST", "/services/api/drain", "", "Fettle-Fence", "30", "Fettle-Writes", `["in_lb(api)"]`, "Idempotency-Key", "b")
}

func TestTheSameIdempotencyKeyIsAnsweredAgainAndNotDoneAgain(t *testing.T) {
	f := startFleet(t)
	first := f.must("POST", "/services/api/restart", "", "Idempotency-Key", "k1")
	pid := f.service("api").PID
	if again := f.must("POST", "/services/api/restart", "", "Idempotency-Key", "k1"); again != first {
		t.Fatalf("answered %s, first %s", again, first)
	}
	if got := f.service("api").PID; got != pid {
		t.Fatal("the service was restarted twice")
	}
	if status, _ := f.call("POST", "/services/db/restart", "", "Idempotency-Key", "k1"); status != http.StatusUnprocessableEntity {
		t.Fatalf("one key for two requests: %d", status)
	}
	var repeats int
	for _, e := range f.entries() {
		if e.Repeat && e.Path == "/services/api/restart" {
			repeats++
		}
	}
	if repeats != 1 {
		t.Fatalf("%d repeats in the log, want 1", repeats)
	}
}

func TestTheLogTellsWhoDidWhatInWhichOrder(t *testing.T) {
	f := startFleet(t)
	f.must("POST", "/fence", `{"fence": 7, "resources": ["in_lb(api)"], "run": "r1", "action_id": "a1"}`)
	f.must("GET", "/lb", "")
	f.must("POST", "/services/api/drain", "", "Fettle-Fence", "7", "Fettle-Run", "r1", "Fettle-Step", "1",
		"Idempotency-Key", "a1", "Fettle-Writes", `["in_lb(api)"]`)
	f.must("POST", "/services/api/add", "")
	f.must("GET", "/", "")
	got := f.entries()
	if len(got) != 4 {
		t.Fatalf("%d lines, want 4: clients are not logged", len(got))
	}
	for i, kind := range []string{accesslog.Raise, accesslog.Observe, accesslog.Act, accesslog.Act} {
		if got[i].Kind != kind || got[i].Status != 200 || got[i].End <= got[i].Seq || i > 0 && got[i].Seq <= got[i-1].End {
			t.Errorf("line %d: %+v", i+1, got[i])
		}
	}
	act := got[2]
	if act.Fence != 7 || act.ActionID != "a1" || act.Run != "r1" || act.Step != "1" || len(act.Writes) != 1 || act.Unfenced {
		t.Errorf("act: %+v", act)
	}
	if !got[3].Unfenced {
		t.Errorf("an act without a fence is not marked: %+v", got[3])
	}
}

func TestServicesGiveTheirMetrics(t *testing.T) {
	f := startFleet(t)
	f.must("GET", "/", "")
	text := f.must("GET", "/services/api/metrics", "")
	if !strings.Contains(text, `service_info{service="api",version="v40"} 1`) {
		t.Fatal(text)
	}
}

func TestNoServiceIsLeftBehind(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		t.Run(sig.String(), func(t *testing.T) {
			f := startFleet(t)
			f.must("POST", "/faults", `{"service":"web","fault":"hang"}`)
			var ends []func() error
			for _, name := range []string{"api", "db", "web", "worker"} {
				ends = append(ends, f.endOf(f.service(name).PID))
			}
			if err := f.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			_ = f.cmd.Wait()
			for _, await := range ends {
				if err := await(); err != nil {
					t.Fatalf("a service has not ended: %v", err)
				}
			}
		})
	}
}

func TestDrainWaitsForRequestsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBalancer(func(string) string { return "" })
		b.add("api")
		name, _ := b.pick()
		drained := make(chan error, 1)
		go func() {
			_, err := b.remove(context.Background(), name)
			drained <- err
		}()
		synctest.Wait() // It waits, or it has ended.
		if b.has(name) {
			t.Fatal("a service that is being drained gets more requests")
		}
		select {
		case err := <-drained:
			t.Fatalf("drained while a request was under way: %v", err)
		default:
		}
		b.done(name)
		if err := <-drained; err != nil {
			t.Fatal(err)
		}
	})
}
