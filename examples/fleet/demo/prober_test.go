package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"sync/atomic"
	"testing"
	"time"
)

func TestTheProberSeesTwoOutAndWhoFailed(t *testing.T) {
	var samples, requests atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("GET /lb", func(w http.ResponseWriter, r *http.Request) {
		if r.UserAgent() != proberAgent {
			t.Errorf("agent %q", r.UserAgent())
		}
		out := samples.Add(1) == 2
		_ = json.NewEncoder(w).Encode(map[string]any{"services": []serviceView{
			{Name: "api", InLB: !out}, {Name: "db", InLB: !out}, {Name: "web", InLB: false},
		}})
	})
	mux.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(serviceName, "web")
		if requests.Add(1) == 3 {
			w.WriteHeader(http.StatusBadGateway)
		}
	})
	srv := httptest.NewServer(mux)
	defer srv.Close()
	p := startProber(context.Background(), srv.URL)
	if err := poll(context.Background(), 20*time.Second, func() (bool, error) {
		return samples.Load() > 5 && requests.Load() > 20, nil
	}); err != nil {
		t.Fatal(err)
	}
	p.stop()
	res := p.result()
	if want := []string{"api", "db", "web"}; !reflect.DeepEqual(res.MostOut, want) {
		t.Errorf("most out: %v, want %v", res.MostOut, want)
	}
	if len(res.Failures) != 1 || res.Failures[0].Service != "web" || res.Failures[0].Why != "502 Bad Gateway" {
		t.Errorf("failures: %+v", res.Failures)
	}
	if res.Served == 0 || res.SampleErr != nil {
		t.Errorf("served %d, %v", res.Served, res.SampleErr)
	}
	if got := wrongPool(res); len(got) != 1 || got[0] != "out at one time: api, db, web" {
		t.Errorf("told: %q", got)
	}
}

func TestAFailureIsExplainedOnlyByTheThirdServiceWhileItIsBroken(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	run := performance{surprise: surprise{service: "web"}, struck: at(10)}
	for _, c := range []struct {
		name     string
		f        failure
		repaired time.Time
		told     bool
	}{
		{"during", failure{at(11), at(12), "web", "502"}, at(20), false},
		{"under way when it struck", failure{at(9), at(12), "web", "502"}, at(20), false},
		{"under way when it was taken out", failure{at(19), at(21), "web", "504"}, at(20), false},
		{"never repaired", failure{at(90), at(91), "web", "502"}, time.Time{}, false},
		{"before", failure{at(8), at(9), "web", "502"}, at(20), true},
		{"after", failure{at(21), at(22), "web", "502"}, at(20), true},
		{"another service", failure{at(11), at(12), "api", "502"}, at(20), true},
		{"the balancer itself", failure{at(11), at(12), "", "refused"}, at(20), true},
	} {
		if got := unexplained([]failure{c.f}, run, c.repaired); (len(got) == 1) != c.told {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

func TestOneSeedGivesOneSurprise(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(200) {
		s := drawSurprise(seed)
		if s != drawSurprise(seed) {
			t.Fatalf("seed %d: two surprises", seed)
		}
		if s.afterAct < 1 || s.afterAct > 5 || s.delay < 0 || s.delay >= warmup {
			t.Fatalf("seed %d: %v after act %d", seed, s.delay, s.afterAct)
		}
		seen[s.String()] = true
	}
	if len(seen) != 8 {
		t.Fatalf("%d different failures, want 8", len(seen))
	}
}
