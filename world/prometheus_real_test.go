package world

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"
)

// exporter is a target whose metrics a test sets.
type exporter struct {
	mu   sync.Mutex
	text string
	down bool
}

func (e *exporter) set(down bool, lines ...string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.down, e.text = down, strings.Join(lines, "\n")+"\n"
}

func (e *exporter) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.down {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	_, _ = io.WriteString(w, e.text)
}

// startPrometheus starts a real Prometheus that scrapes the target five times a
// second, and makes its address var.at.
func (m *testModel) startPrometheus(t testing.TB, target http.Handler) {
	t.Helper()
	program, err := exec.LookPath("prometheus")
	if err != nil {
		t.Fatalf("this test asks a real Prometheus, and there is none: run it by make test, or install Debian's package prometheus: %v", err)
	}
	s := httptest.NewServer(target)
	t.Cleanup(s.Close)
	dir := t.TempDir()
	config := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf("global: {scrape_interval: 200ms, scrape_timeout: 200ms}\nscrape_configs:\n- job_name: x\n  static_configs:\n  - targets: [%q]\n",
		s.Listener.Addr())
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--config.file", config, "--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", "127.0.0.1:0")
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address, log := make(chan string, 1), &output{}
	reading := make(chan struct{})
	go func() {
		defer close(reading)
		for lines := bufio.NewScanner(said); lines.Scan(); {
			_, _ = log.Write(append(lines.Bytes(), '\n'))
			if _, at, ok := strings.Cut(lines.Text(), " address="); ok && strings.Contains(lines.Text(), `msg="Listening on"`) {
				address <- at
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-reading
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("Prometheus: %s", lastLines(log.bytes()))
		}
	})
	select {
	case at := <-address:
		m.vars["at"] = cty.StringVal("http://" + at)
	case <-reading:
		t.Fatal("Prometheus ended before it listened")
	}
}

// await observes again and again until the readings are as wanted.
func (m *testModel) await(t *testing.T, w *World, want string, atoms ...string) {
	t.Helper()
	limit := time.Now().Add(30 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		got := m.observe(t, w, atoms...)
		if strings.TrimSpace(got) == strings.TrimSpace(want) {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("got\n%swant\n%s", got, want)
		}
		<-tick.C
	}
}

func TestARealPrometheusTellsValuesAndWhenTheyWereSampled(t *testing.T) {
	m := newTestModel(t)
	target := &exporter{}
	target.set(false, `in_lb{service="api",zone="a"} 1`, `in_lb{service="db",zone="b"} 0`, `load{service="api"} NaN`, `twin{service="api",i="1"} 1`, `twin{service="api",i="2"} 3`)
	m.startPrometheus(t, target)
	w, diags := m.compile(t, t.TempDir(), prometheusBody("in_lb", "in_lb", "value > 0 && labels.zone == 'a'", `max_age = "0s"`)+
		prometheusBody("up", "sum by (service) (in_lb)", "value > 0", `absent = false`, `freshness = "timestamp(up)"`)+
		prometheusBody("replicas", `{__name__=~"twin|load"}`, "value", `reduce = "max"`)+
		prometheusBody("open", `in_lb * on (job) group_left twin`, "value > 0"))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	m.await(t, w, `
in_lb(api) = true {labels.zone = "a", value = 1}
in_lb(db) = false {value = 0}
up(api) = true {value = 1}
up('-rf') = false {no series is about up('-rf')}
replicas(api) = unknown [the sample is NaN]`, "in_lb(api)", "in_lb(db)", "up(api)", "up('-rf')", "replicas(api)")
	got := m.observe(t, w, "open")
	if !strings.HasPrefix(got, "open = unknown [Prometheus says execution: found duplicate series for the match group") {
		t.Errorf("a query that Prometheus cannot evaluate: %s", got)
	}
	m.changeIsConfirmedByLaterSamples(t, w, target)
	// A target that is down takes its series with it, but not when it was asked.
	target.set(true)
	m.await(t, w, "in_lb(api) = unknown [no series is about in_lb(api)]\nup(api) = false {no series is about up(api)}", "in_lb(api)", "up(api)")
	gone := w.Observe(t.Context(), m.u, m.refs(t, "up(api)"), time.Now())[0]
	if a := time.Since(gone.Sampled); a > 20*time.Second {
		t.Errorf("the target was asked %s ago", a)
	}
}

// changeIsConfirmedByLaterSamples changes the world, and asks for samples from
// after the change: no answer shows the world as it was before.
func (m *testModel) changeIsConfirmedByLaterSamples(t *testing.T, w *World, target *exporter) {
	t.Helper()
	for i := range 10 {
		want := "true"
		value := 1
		if i%2 == 0 {
			want, value = "false", 0
		}
		target.set(false, fmt.Sprintf(`in_lb{service="api",zone="a"} %d`, value))
		changed := time.Now()
		for _, look := range []func() Reading{
			func() Reading { return w.Confirm(t.Context(), m.u, m.refs(t, "up(api)"), changed)[0] },
			func() Reading { return w.Observe(t.Context(), m.u, m.refs(t, "in_lb(api)"), changed)[0] },
		} {
			r := look()
			for looks := 0; r.TooOld; looks++ {
				if looks > 100_000 {
					t.Fatal("no later sample came")
				}
				r = look()
			}
			if got := m.u.ValueText(r.Atom.Fluent, r.Value); got != want {
				t.Errorf("after change %d: %s, want %s", i, m.show([]Reading{r}), want)
			}
		}
	}
}
