package world

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/api"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	prom "github.com/prometheus/common/model"
	"github.com/zclconf/go-cty/cty"

	"github.com/fettleops/fettle/model"
)

// many is how many objects there are.
const many = 10_000

// page is what an exporter of many services says.
func page() []string {
	lines := make([]string, many)
	for i := range lines {
		lines[i] = fmt.Sprintf(`up_flag{service="svc-%d",zone="z%d"} %d`, i, i%3, i%2)
	}
	return lines
}

// countRequests puts a proxy before var.at, which counts what goes through it.
func (m *testModel) countRequests(t testing.TB) *requests {
	t.Helper()
	to, err := url.Parse(m.vars["at"].AsString())
	if err != nil {
		t.Fatal(err)
	}
	seen := &requests{}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.Transport = &http.Transport{MaxIdleConnsPerHost: 4}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.add(r, "")
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	t.Cleanup(proxy.Transport.(*http.Transport).CloseIdleConnections)
	m.vars["at"] = cty.StringVal(s.URL)
	return seen
}

// bigScrape is a model of many services, and a real Prometheus that scraped them.
func bigScrape(t testing.TB) *testModel {
	t.Helper()
	m := bigFleet(many)
	target := &exporter{}
	target.set(false, page()...)
	m.startPrometheus(t, target)
	return m
}

// allScraped waits until every object has a value.
func (m *testModel) allScraped(t testing.TB, w *World) {
	t.Helper()
	limit := time.Now().Add(time.Minute)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		unknown := 0
		for _, r := range m.askAll(t, w) {
			if !r.Value.Known() {
				unknown++
			}
		}
		if unknown == 0 {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("%d of %d are still unknown", unknown, many)
		}
		<-tick.C
	}
}

func (m *testModel) askAll(t testing.TB, w *World) []Reading {
	t.Helper()
	return w.Observe(t.Context(), m.u, []model.Ref{{Fluent: m.Fluent("up")}}, time.Now())
}

func TestARealPrometheusTellsTenThousandObjectsInOneRequest(t *testing.T) {
	m := bigScrape(t)
	seen := m.countRequests(t)
	w := m.mustCompile(t, prometheusBody("up", "up_flag", "value > 0", `max_age = "1h"`, `timeout = "1m"`))
	m.allScraped(t, w)
	before := strings.Count(seen.lines(), "POST /api/v1/query")
	readings := m.askAll(t, w)
	if asked := strings.Count(seen.lines(), "POST /api/v1/query") - before; asked != 1 || len(readings) != many {
		t.Fatalf("%d requests for %d objects", asked, len(readings))
	}
	for i, r := range readings {
		if r.Value != model.BoolValue(i%2 == 1) || r.Sampled.IsZero() {
			t.Fatalf("%s, sampled %s", m.show(readings[i:i+1]), r.Sampled)
		}
	}
	same(t, readings[0].Matched.String(), "matched 10000 of 10000 series by label service")
}

// cpuTime is the user and system time that this process has taken.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measured runs a benchmark and reports its CPU time too, which a busy machine
// changes less than the time it takes.
func measured(b *testing.B, name string, do func(*testing.B)) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		before := cpuTime(b)
		for b.Loop() {
			do(b)
		}
		b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
	})
}

// BenchmarkTenThousandObjects compares an observation of many objects with the
// bare queries by which Prometheus tells the same: their values alone, and with
// the times at which they were sampled.
func BenchmarkTenThousandObjects(b *testing.B) {
	m := bigScrape(b)
	w, diags := m.compileIn(b.TempDir(), prometheusBody("up", "up_flag", "value > 0", `max_age = "1h"`, `timeout = "1m"`))
	if diags.HasErrors() {
		b.Fatal(diags)
	}
	defer w.Close()
	m.allScraped(b, w)
	client, err := api.NewClient(api.Config{Address: m.vars["at"].AsString()})
	if err != nil {
		b.Fatal(err)
	}
	bare := func(query string, series int) func(*testing.B) {
		return func(b *testing.B) {
			v, _, _, err := v1.NewAPI(client).Query(b.Context(), query, time.Time{})
			if got, ok := v.(prom.Vector); err != nil || !ok || len(got) != series {
				b.Fatalf("%d series, %v", len(got), err)
			}
		}
	}
	measured(b, "query", bare("up_flag", many))
	measured(b, "query with times", bare(timed("up_flag"), 2*many))
	measured(b, "observe", func(b *testing.B) {
		if got := m.askAll(b, w); len(got) != many || !got[many-1].Value.Known() {
			b.Fatalf("%d readings", len(got))
		}
	})
}
