package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/fettleops/fettle/model"
)

// tried tries the world and writes each trial as a line: what was tried, a mark
// where something is amiss, and what came of it.
func (m *testModel) tried(t *testing.T, w *World, settle map[*model.Action]Settling) string {
	t.Helper()
	var b strings.Builder
	for _, s := range w.Try(t.Context(), Trying{Universe: m.u, Found: w.Discover(t.Context()), Settle: settle}) {
		mark := ""
		switch {
		case s.Broken:
			mark = "broken, " + s.Wrong + ": "
		case s.Wrong != "":
			mark = s.Wrong + ": "
		}
		says := s.Says
		if i := strings.Index(says, "; sampled "); i >= 0 {
			says = says[:i]
		}
		fmt.Fprintf(&b, "%d %s: %s%s\n", s.Range.Start.Line, s.Block, mark, says)
	}
	return b.String()
}

func TestWhatIsObservedIsTried(t *testing.T) {
	m := newTestModel(t)
	m.servePrometheus(t, map[string]func() promAnswer{
		timed("up"): func() promAnswer { return marked(time.Now(), time.Second, "service=api,job=x 1", "service=db,job=x 0") },
		"none()":    fixed(),
		"others()":  fixed("service=ghost 1"),
		"partial()": func() promAnswer {
			return promAnswer{series: []string{"{} 1"}, warnings: []string{"store-2 timed out"}}
		},
		"sum(up)":    fixed("{} 1"),
		"fresh()":    fixed(),
		"count(all)": fixed("service=api 3", "service=db 3", "service="+hostile+" 3", "service=-rf 3"),
	})
	m.vars["refused"] = cty.StringVal(refusedAddress(t))
	body := func(fluent, query, more string) string {
		return prometheusBody(fluent, query, "value", more)
	}
	for _, c := range []struct{ name, src, want string }{
		{"fine", body("replicas", "count(all)", ""), `observe "prometheus" of fluent "replicas": 4 of 4 known; matched 4 of 4 series by label service`},
		{"some unknown", prometheusBody("up", "up", "value > 0"), `observe "prometheus" of fluent "up": Not all known: 2 of 4 known; up('../admin?x=1#é\''): no series is about up('../admin?x=1#é\'')`},
		{"a query that nothing matches", body("replicas", "none()", ""), `observe "prometheus" of fluent "replicas": Nothing matched: the answer has no series`},
		{"…whatever absent says", body("replicas", "none()", "absent = 0"), `observe "prometheus" of fluent "replicas": Nothing matched: the answer has no series`},
		{"labels that name nothing", body("replicas", "others()", ""), `observe "prometheus" of fluent "replicas": Nothing matched: matched 0 of 1 series by label service; ignored 1: {service="ghost"} (no service is named "ghost")`},
		{"a query that does not parse", body("replicas", "sum((", ""), `observe "prometheus" of fluent "replicas": broken, No answer: Prometheus says bad_data: no answer to sum%28%28`},
		{"warnings", prometheusBody("open", "partial()", "value > 0"), `observe "prometheus" of fluent "open": Answer not whole: store-2 timed out`},
		{
			"freshness that nothing matches", prometheusBody("open", "sum(up)", "value > 0", `freshness = "fresh()"`),
			"observe \"prometheus\" of fluent \"open\": 1 of 1 known; matched 1 of 1 series\nfreshness of observe \"prometheus\" of fluent \"open\": Nothing matched: the answer has no series",
		},
		{"a server that is down", "fluent \"open\" {\n observe \"http\" {\n url = var.refused\n value = \"body.up\"\n }\n}", `observe "http" of fluent "open": broken, No answer: connection refused`},
		{"…and what absent makes of it", "fluent \"open\" {\n observe \"http\" {\n url = var.refused\n value = \"body.up\"\n absent = false\n }\n}", `observe "http" of fluent "open": No answer: connection refused`},
		{"one of several servers", "fluent \"up\" {\n observe \"http\" {\n url = { api = var.refused }[s]\n value = \"body.up\"\n absent = false\n }\n}", `observe "http" of fluent "up": No answer: connection refused`},
		{"one of several programs", "fluent \"up\" {\n observe \"exec\" {\n command = s == \"db\" ? [\"./nowhere\"] : [\"true\"]\n value = \"exit_code == 0\"\n }\n}", `observe "exec" of fluent "up": No answer: not started: start `},
		{"a program that is not there", "fluent \"open\" {\n observe \"exec\" {\n command = [\"./nowhere\"]\n value = \"exit_code == 0\"\n }\n}", `observe "exec" of fluent "open": broken, No answer: not started: start `},
		{"a lease", "fluent \"open\" {\n observe \"lease\" {\n name = \"deploy\"\n value = \"!held\"\n }\n}", ``},
		{"discovery", "type \"node\" {\n discover \"exec\" {\n command = [\"echo\", \"[]\"]\n items = \"body\"\n object = \"item\"\n }\n}", `discover "exec" of type "node": broken, Discovery failed: 0 found; no node was found`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, diags := m.compile(t, t.TempDir(), c.src)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			got := withoutLines(m.tried(t, w, nil))
			if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

// withoutLines takes the numbers of the lines off.
func withoutLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		_, lines[i], _ = strings.Cut(l, " ")
	}
	return strings.Join(lines, "\n")
}

// An action is not carried out and a fence not raised to find out whether that
// could be done.
func TestActuatorsAreTriedAndNothingIsDone(t *testing.T) {
	m := newTestModel(t)
	asked := m.serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/fence":
			w.WriteHeader(http.StatusMethodNotAllowed)
		case "/secret":
			w.WriteHeader(http.StatusUnauthorized)
		case "/broken":
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	m.vars["refused"] = cty.StringVal(refusedAddress(t))
	m.vars["tls"] = cty.StringVal(strangerTLS(t))
	folder := t.TempDir()
	done := filepath.Join(folder, "done")
	for name, mode := range map[string]os.FileMode{"act": 0o700, "plain": 0o600} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\ntouch "+done+"\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, run, want string }{
		{"program", `run "exec" { command = ["./act", "--name=${s}"] }`, `run "exec" of action "drain": could be started; it was not run`},
		{"not executable", `run "exec" { command = ["./plain"] }`, `run "exec" of action "drain": broken, Not within reach: ` + folder + `/plain is not executable; chmod +x makes it so`},
		{"not there", `run "exec" { command = ["./nowhere"] }`, `run "exec" of action "drain": broken, Not within reach: there is no file ` + folder + `/nowhere`},
		{"one of several", `run "exec" { command = [s == "api" ? "./act" : "./nowhere"] }`, `run "exec" of action "drain": Not within reach: there is no file ` + folder + `/nowhere (1 of 2 are not within reach)`},
		{"a name that is no argument", `run "exec" { command = ["./act", "-x", s] }`, `run "exec" of action "drain": Not within reach: the name "-rf" would be read as an option; put it behind a fixed text, as in "--name=${s}" (1 of 2 are not within reach)`},
		{"server", `run "http" { url = "${var.at}/x/${urlencode(s)}" }`, `run "http" of action "drain": HOST accepts connections`},
		{"server that is down", `run "http" { url = var.refused }`, `run "http" of action "drain": broken, Not within reach: 127.0.0.1:1: connection refused`},
		{"certificate of a stranger", `run "http" { url = var.tls }`, `run "http" of action "drain": broken, Not within reach: TLSHOST: tls: failed to verify certificate: x509: certificate signed by unknown authority`},
		{"a lease", `run "lease" { release = "deploy" }`, ``},
		{"fence", fenced(`url = "${var.at}/fence"`), "run \"http\" of action \"drain\": HOST accepts connections\nfence \"http\" of action \"drain\": answers HTTP 405 Method Not Allowed to OPTIONS; the fence was not raised"},
		{"fence that is not there", fenced(`url = "${var.at}/nofence"`), "run \"http\" of action \"drain\": HOST accepts connections\nfence \"http\" of action \"drain\": broken, Not within reach: answers HTTP 404 Not Found to OPTIONS"},
		{"fence that does not know us", fenced(`url = "${var.at}/secret"`), "run \"http\" of action \"drain\": HOST accepts connections\nfence \"http\" of action \"drain\": broken, Not within reach: answers HTTP 401 Unauthorized to OPTIONS; look at the headers"},
		{"fence that fails", fenced(`url = "${var.at}/broken"`), "run \"http\" of action \"drain\": HOST accepts connections\nfence \"http\" of action \"drain\": broken, Not within reach: answers HTTP 503 Service Unavailable to OPTIONS"},
		{"program that raises", "run \"exec\" {\n command = [\"./act\"]\n fence {\n command = [\"./act\"]\n reject = 9\n }\n}", "run \"exec\" of action \"drain\": could be started; it was not run\nfence \"exec\" of action \"drain\": could be started; it was not run, since it may raise the fence"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, diags := m.compile(t, folder, "action \"drain\" {\n "+c.run+"\n}")
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			want := strings.NewReplacer("TLSHOST", strings.TrimPrefix(m.vars["tls"].AsString(), "https://"), "HOST", strings.TrimPrefix(m.vars["at"].AsString(), "http://"),
				"127.0.0.1:1:", strings.TrimPrefix(m.vars["refused"].AsString(), "http://")+":").Replace(c.want)
			same(t, withoutLines(m.tried(t, w, nil)), want)
		})
	}
	if _, err := os.Stat(done); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a program was run: %v", err)
	}
	for _, r := range asked.seen {
		if !strings.HasPrefix(r.line, "OPTIONS ") {
			t.Errorf("the server was asked %s", r.line)
		}
	}
}

func fenced(url string) string {
	return "run \"http\" {\n url = var.at\n fence {\n " + url + "\n reject = [409]\n }\n}"
}

// strangerTLS is the address of a server whose certificate nobody signed.
func strangerTLS(t *testing.T) string {
	t.Helper()
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // It tells of each handshake that fails.
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL
}

func TestTrialsEndWithTheirContext(t *testing.T) {
	m := newTestModel(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // Takes connections and never answers.
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	m.vars["at"] = cty.StringVal("https://" + silent.Addr().String())
	w := m.mustCompile(t, `fluent "open" {
		observe "http" {
			url     = var.at
			value   = "body.up"
			timeout = "1h"
		}
	}
	action "drain" {
		run "http" {
			url = var.at
			fence {
				url     = var.at
				reject  = 409
				timeout = "1h"
			}
		}
	}`)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		c, err := silent.Accept()
		if err == nil {
			defer c.Close()
		}
		cancel(errors.New("not done in time"))
	}()
	for _, s := range w.Try(ctx, Trying{Universe: m.u}) {
		if s.Says != "not done in time" || !s.Broken {
			t.Errorf("%s: %s", s.Block, s.Says)
		}
	}
}

// A settle that is shorter than a scrape gives up before there is a sample, also
// where the answer no longer says which job its series come from.
func TestARealPrometheusTellsWhichSettleIsTooShort(t *testing.T) {
	m := newTestModel(t)
	target := &exporter{}
	target.set(false, `in_lb{service="api"} 1`, `load{service="api"} 1`)
	m.startPrometheus(t, target)
	w, diags := m.compile(t, t.TempDir(), prometheusBody("in_lb", "in_lb", "value > 0", `max_age = "0s"`)+
		prometheusBody("up", "max by (service) (load) > bool on () group_left () vector(0)", "value > 0", `freshness = "max(timestamp(in_lb))"`)+
		"action \"drain\" {\n run \"exec\" { command = [\"true\"] }\n}\naction \"restart\" {\n run \"exec\" { command = [\"true\"] }\n}\n")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	m.await(t, w, "in_lb(api) = true {value = 1}\nup(api) = true {value = 1}", "in_lb(api)", "up(api)")
	settle := map[*model.Action]Settling{}
	for _, a := range m.Actions {
		settle[a] = Settling{Timeout: 100 * time.Millisecond}
	}
	got := m.tried(t, w, settle)
	for _, want := range []string{
		`settle of action "drain": Settle shorter than a scrape: waits 100ms for samples that job "x" gives every 200ms`,
		`settle of action "restart": Settle shorter than a scrape: waits 100ms for samples that job "x" gives every 200ms`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	}
	for _, a := range m.Actions {
		settle[a] = Settling{Timeout: 400 * time.Millisecond}
	}
	if got := m.tried(t, w, settle); strings.Contains(got, "settle") {
		t.Error(got)
	}
}

func TestWhatInAQueryCanBeAMetric(t *testing.T) {
	for query, want := range map[string]string{
		`up`:                                    "up",
		`sum by (job) (rate(http_total[5m]))`:   "sum job http_total",
		`job:x:rate5m{a="b c", d='e"f'} > 0.5`:  "job:x:rate5m a d",
		"a + on (b) `c` c2 and \"d\\\"e\" f(g)": "a b c2 g",
		`sum (up) or up`:                        "up or",
	} {
		got := words(query)
		var kept []string
		for _, w := range got {
			if w != "by" && w != "on" && w != "and" {
				kept = append(kept, w)
			}
		}
		if strings.Join(kept, " ") != want {
			t.Errorf("%s: %q, want %s", query, got, want)
		}
	}
}
