package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fettleops/fettle/examples/fleet/accesslog"
)

// watchedBy starts a real Prometheus with the example's configuration, and
// returns its address.
func (f *fleet) watched() string {
	f.t.Helper()
	at, err := url.Parse(f.base)
	if err != nil {
		f.t.Fatal(err)
	}
	text, err := os.ReadFile("../../examples/fleet/prometheus/prometheus.yml")
	if err != nil {
		f.t.Fatal(err)
	}
	config := strings.ReplaceAll(string(text), "127.0.0.1:7000", at.Host)
	dir := f.t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o600); err != nil {
		f.t.Fatal(err)
	}
	cmd := exec.Command("prometheus", "--config.file", filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", "127.0.0.1:0")
	said, err := cmd.StderrPipe()
	if err != nil {
		f.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		f.t.Fatalf("this test asks a real Prometheus: run it by make test, or install Debian's package prometheus: %v", err)
	}
	address, ended := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(said); lines.Scan(); {
			if _, at, ok := strings.Cut(lines.Text(), " address="); ok && strings.Contains(lines.Text(), `msg="Listening on"`) {
				address <- "http://" + at
			}
		}
	}()
	f.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-ended
		_ = cmd.Wait()
	})
	select {
	case at := <-address:
		return at
	case <-ended:
		f.t.Fatal("Prometheus ended before it listened")
	}
	return ""
}

// observed reads the world through the model until everything is known.
func (f *fleet) observed(model string, vars ...string) {
	f.t.Helper()
	limit := time.Now().Add(time.Minute)
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		var out bytes.Buffer
		cmd := fettle(f.t, append([]string{"observe", "-o", "json", "--model", model}, vars...)...)
		cmd.Stdout = &out
		err := cmd.Run()
		var doc struct {
			State   map[string]any
			Matched map[string]matchedJSON
		}
		if err == nil {
			err = json.Unmarshal(out.Bytes(), &doc)
		}
		known := err == nil && len(doc.Matched) == 5
		for _, v := range doc.State {
			known = known && v != nil
		}
		for _, m := range doc.Matched {
			known = known && m.Matched == 4 && len(m.Labels) == 1 && m.Labels[0].Found == 4
		}
		switch {
		case known:
			return
		case time.Now().After(limit):
			f.t.Fatalf("not all is known: %v\n%s", err, out.Bytes())
		}
		<-tick.C
	}
}

// TestTheFleetSeenThroughPrometheusIsWithinReach promises that everything that
// the example speaks of is tried, that its settle fits its Prometheus and a
// shorter one does not, and that the fleet is as it was.
func TestTheFleetSeenThroughPrometheusIsWithinReach(t *testing.T) {
	f := startFleet(t)
	const model = "../../examples/fleet/prometheus"
	vars := []string{"--var", "fleet=" + f.base, "--var", "prometheus=" + f.watched()}
	f.observed(model, vars...)
	check := func(model string) string {
		out, err := fettle(t, append([]string{"check", "--world", "--state-dir", t.TempDir(), model}, vars...)...).CombinedOutput()
		if err != nil {
			t.Errorf("%v", err)
		}
		return string(out)
	}
	out := check(model)
	for _, want := range []string{
		`observe "prometheus" of fluent "in_lb"`, "4 of 4 known; matched 4 of 4 series by label service; sampled ",
		`run "http" of action "drain"`, " accepts connections", `fence "http" of action "drain"`, "; the fence was not raised",
	} {
		if !strings.HasPrefix(out, "fine: ") || !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
	text, err := os.ReadFile(filepath.Join(model, "fleet.fettle.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	hasty := filepath.Join(t.TempDir(), "fleet.fettle.hcl")
	if err := os.WriteFile(hasty, bytes.ReplaceAll(text, []byte("timeout  = \"8s\""), []byte("timeout  = \"600ms\"")), 0o600); err != nil {
		t.Fatal(err)
	}
	out = check(hasty)
	if n := strings.Count(out, "Settle shorter than a scrape"); n != 6 || !strings.Contains(out, `Fluent "in_lb", which it changes, is sampled every 1s, and the action waits 600ms for a sample`) {
		t.Errorf("%d of 6 actions are told to wait for less than a scrape:\n%s", n, out)
	}
	for _, e := range f.entries() {
		if e.Kind == accesslog.Act || e.Kind == accesslog.Raise {
			t.Errorf("the check did %s %s", e.Method, e.Path)
		}
	}
}

// TestEachEndpointOfAClusterIsTried promises that one that is down is told while
// the others serve.
func TestEachEndpointOfAClusterIsTried(t *testing.T) {
	f := &fleet{t: t, base: "http://127.0.0.1:1"}
	e := startEtcd(t)
	dir := f.model(e)
	file := filepath.Join(dir, "fleet.fettle.hcl")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	both := bytes.Replace(text, []byte(`"`+e.endpoint+`"`), []byte(`"`+e.endpoint+`", "http://127.0.0.1:1"`), 1)
	if err := os.WriteFile(file, both, 0o600); err != nil {
		t.Fatal(err)
	}
	out, _ := fettle(t, "check", "--world", "--var", "fleet="+f.base, dir).CombinedOutput()
	for _, want := range []string{e.endpoint + "  answers\n", "Warning: Store not within reach", "Error: Not within reach", "127.0.0.1:1: connection refused"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
}
