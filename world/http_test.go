package world

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/fettleops/fettle/model"
)

// serve starts a server whose address is var.at, and returns what it was asked.
func (m *testModel) serve(t *testing.T, h http.HandlerFunc) *requests {
	t.Helper()
	log := &requests{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		log.add(r, string(body))
		h(w, r)
	}))
	t.Cleanup(s.Close)
	m.vars["at"] = cty.StringVal(s.URL)
	return log
}

type requests struct {
	mu   sync.Mutex
	seen []seenRequest
}

type seenRequest struct {
	line, body string
	header     http.Header
}

func (l *requests) add(r *http.Request, body string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = append(l.seen, seenRequest{r.Method + " " + r.RequestURI, body, r.Header.Clone()})
}

func (l *requests) lines() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, s := range l.seen {
		out = append(out, s.line)
	}
	return strings.Join(out, "\n")
}

const services = `{"services": [
	{"name": "api", "in_lb": true, "n": 3, "version": "v40", "mode": "primary", "node": "n1"},
	{"name": "db", "in_lb": "yes", "n": "3", "version": 41, "mode": "boss", "node": "n9"},
	{"name": "stranger", "in_lb": true}
]}`

func TestOneListServesAllObjectsAndFluents(t *testing.T) {
	m := newTestModel(t)
	log := m.serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, services) })
	list := func(fluent, value string) string {
		return fmt.Sprintf(`fluent %q {
			observe "http" {
				url    = "${var.at}/services"
				items  = "body.services"
				object = "name"
				value  = %q
			}
		}
		`, fluent, value)
	}
	w := m.mustCompile(t, list("in_lb", "item.in_lb")+list("replicas", "n")+list("version", "version")+list("mode", "mode")+list("host", "node"))
	got := m.observe(t, w, "in_lb", "in_lb(api)", "replicas(api)", "replicas(db)", "version", "mode(db)", "mode(api)", "host(api)", "host(db)")
	same(t, got, `
in_lb(api) = true {in_lb = true}
in_lb(db) = unknown [wanted true or false, got "yes"] {in_lb = "yes"}
in_lb('../admin?x=1#é\'') = unknown [no item is about in_lb('../admin?x=1#é\'')]
in_lb('-rf') = unknown [no item is about in_lb('-rf')]
replicas(api) = 3 {n = 3}
replicas(db) = unknown [wanted a number, got "3"] {n = "3"}
version(api) = 'v40' {version = "v40"}
version(db) = unknown [wanted a text, got 41] {version = 41}
version('../admin?x=1#é\'') = unknown [no item is about version('../admin?x=1#é\'')]
version('-rf') = unknown [no item is about version('-rf')]
mode(db) = unknown [wanted an object of enum("primary", "replica"), got "boss"] {mode = "boss"}
mode(api) = primary {mode = "primary"}
host(api) = n1 {node = "n1"}
host(db) = unknown [wanted an object of node, got "n9"] {node = "n9"}
`)
	same(t, log.lines(), "GET /services")
}

func TestListsThatCannotTellGiveUnknown(t *testing.T) {
	const base = `fluent "in_lb" {
		observe "http" {
			url    = var.at
			items  = "body"
			object = "name"
			value  = "up"
			absent = false
		}
	}`
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{"missing means absent", 200, `[{"name":"db","up":true}]`, "in_lb(api) = false {no item is about in_lb(api)}"},
		{"two items", 200, `[{"name":"api","up":true},{"name":"api","up":true}]`, "in_lb(api) = unknown [2 items are about in_lb(api)]"},
		{"an item that says nothing", 200, `[{"up":true}]`, "in_lb(api) = unknown [no item is about in_lb(api), but 1 items do not say what they are about]"},
		{"field missing", 200, `[{"name":"api"}]`, "in_lb(api) = unknown [the answer has no up]"},
		{"no list", 200, `{"a":1}`, "in_lb(api) = unknown [items wants a list, got an object with fields]"},
		{"not JSON", 200, `<html>`, `in_lb(api) = unknown [the answer is not JSON (text/html; charset=utf-8): <html>]`},
		{"a key twice", 200, `[{"name":"db","name":"api","up":true}]`, `in_lb(api) = unknown [the answer gives the key "name" twice]`},
		{"an error with an empty list", 503, `[]`, "in_lb(api) = unknown [HTTP 503 Service Unavailable]"},
	} {
		m := newTestModel(t)
		m.serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})
		t.Run(c.name, func(t *testing.T) { same(t, m.observe(t, m.mustCompile(t, base), "in_lb(api)"), c.want) })
	}
}

func TestItemsOfSeveralParameters(t *testing.T) {
	m := newTestModel(t)
	m.serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `[{"svc":"api","node":"n1","on":true},{"svc":"db","node":"n2","on":false},{"svc":"api","node":"n7","on":true}]`)
	})
	w := m.mustCompile(t, `fluent "runs" {
		observe "http" {
			url    = var.at
			items  = "body"
			object = { n = "node", s = "svc" }
			value  = "on"
			absent = false
		}
	}`)
	same(t, m.observe(t, w, "runs(api, n1)", "runs(api, n2)", "runs(db, n2)"), `
runs(api, n1) = true {on = true}
runs(api, n2) = false {no item is about runs(api, n2)}
runs(db, n2) = false {on = false}`)
}

func TestOneRequestForEachInstance(t *testing.T) {
	m := newTestModel(t)
	log := m.serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "db") {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, `{"status":"DOWN"}`)
			return
		}
		w.Header().Set("X-Name", r.Header.Get("X-Who"))
		_, _ = io.WriteString(w, `{"status":"UP"}`)
	})
	w := m.mustCompile(t, `fluent "up" {
		observe "http" {
			url     = "${var.at}/services/${urlencode(s)}/health"
			headers = { X-Who = urlencode(s) }
			value   = "body.status == 'UP' && headers['x-name'] != nil"
		}
	}
	fluent "in_lb" {
		observe "http" {
			url   = "${var.at}/services/${s}/health"
			value = "body.status == 'UP'"
		}
	}`)
	got := m.observe(t, w, "up(api)", "up(db)", "up('../admin?x=1#é\\'')", "in_lb('../admin?x=1#é\\'')", "in_lb(api)")
	same(t, got, `
up(api) = true {status = "UP"}
up(db) = false {HTTP 503, status = "DOWN"}
up('../admin?x=1#é\'') = true {status = "UP"}
in_lb('../admin?x=1#é\'') = unknown [the name "../admin?x=1#é'" does not fit into a URL as it is; write urlencode(s) in the url]
in_lb(api) = true {status = "UP"}`)
	if !strings.Contains(log.lines(), "GET /services/..%2Fadmin%3Fx%3D1%23%C3%A9%27/health") {
		t.Errorf("the hostile name was not sent as one segment:\n%s", log.lines())
	}
	if strings.Contains(log.lines(), "/admin?") {
		t.Errorf("a name changed the URL:\n%s", log.lines())
	}
}

func refusedAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

func TestAbsentIsRefusedOrTimedOutAndNothingElse(t *testing.T) {
	m := newTestModel(t)
	release := make(chan struct{})
	m.serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hang":
			<-release
		case "/break":
			c, _, _ := w.(http.Hijacker).Hijack()
			_ = c.Close()
		case "/large":
			_, _ = w.Write(make([]byte, maxBody+1))
		}
	})
	t.Cleanup(func() { close(release) })
	m.vars["refused"] = cty.StringVal(refusedAddress(t))
	w := m.mustCompile(t, `
	fluent "up" {
		observe "http" {
			url     = { db = var.refused, "-rf" = "${var.at}/break" }[s]
			value   = "body.up"
			absent  = false
			timeout = "1m"
		}
	}
	fluent "open" {
		observe "http" {
			url     = "${var.at}/hang"
			value   = "body.up"
			absent  = false
			timeout = "100ms"
		}
	}
	fluent "in_lb" {
		observe "http" {
			url    = { api = var.refused, db = "${var.at}/large" }[s]
			value  = "body.up"
		}
	}
	fluent "replicas" {
		observe "http" {
			url    = var.refused
			value  = "body.n"
			absent = 0
		}
	}`)
	got := m.observe(t, w, "open", "up(db)", "up('-rf')", "in_lb(api)", "in_lb(db)", "replicas(api)")
	same(t, got, `
open = false {no answer within 100ms}
up(db) = false {connection refused}
up('-rf') = unknown [the connection was closed without an answer]
in_lb(api) = unknown [connection refused]
in_lb(db) = unknown [the answer is larger than 1024 KiB]
replicas(api) = 0 {connection refused}`)
}

func TestEndOfTheContextIsNotAnAnswer(t *testing.T) {
	m := newTestModel(t)
	release := make(chan struct{})
	asked := make(chan struct{}, 10)
	m.serve(t, func(http.ResponseWriter, *http.Request) { asked <- struct{}{}; <-release })
	t.Cleanup(func() { close(release) })
	w := m.mustCompile(t, `fluent "open" {
		observe "http" {
			url    = var.at
			value  = "body.up"
			absent = false
		}
	}`)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	same(t, m.show(w.Observe(ctx, m.u, m.refs(t, "open"), time.Time{})), "open = unknown [interrupted: context canceled]")
	same(t, m.show(w.Observe(ctx, m.u, m.refs(t, "open"), time.Time{})), "open = unknown [interrupted: context canceled]")
}

func TestReadingsAreAsOldAsTheirRequest(t *testing.T) {
	m := newTestModel(t)
	var arrived atomic.Int64
	m.serve(t, func(w http.ResponseWriter, _ *http.Request) {
		arrived.Store(time.Now().UnixNano())
		_, _ = io.WriteString(w, "true")
	})
	w := m.mustCompile(t, `fluent "open" {
		observe "http" {
			url   = var.at
			value = "body"
		}
	}`)
	before := time.Now()
	r := w.Observe(t.Context(), m.u, m.refs(t, "open"), before)[0]
	if r.Value.Tri().String() != "true" || r.Sampled.Before(before) || r.Sampled.UnixNano() > arrived.Load() {
		t.Errorf("%+v, asked after %v, arrived %v", r, before, arrived.Load())
	}
	r = w.Observe(t.Context(), m.u, m.refs(t, "open"), time.Now().Add(time.Hour))[0]
	if r.Value.Known() || !strings.Contains(r.Err, "too early") {
		t.Errorf("a sample from before the acquisition was accepted: %+v", r)
	}
}

func TestRedirectsStayWithTheServer(t *testing.T) {
	m := newTestModel(t)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("the other server was asked, with the token %q", r.Header.Get("X-Token"))
		_, _ = io.WriteString(w, "true")
	}))
	defer other.Close()
	m.serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/near":
			http.Redirect(w, r, "/there", http.StatusFound)
		case "/far":
			http.Redirect(w, r, other.URL, http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		default:
			_, _ = io.WriteString(w, `{"up":true}`)
		}
	})
	w := m.mustCompile(t, `fluent "up" {
		observe "http" {
			url     = "${var.at}/${{ api = "near", db = "far", "-rf" = "round" }[s]}"
			headers = { X-Token = "secret-token" }
			value   = "body.up"
		}
	}`)
	got := m.observe(t, w, "up(api)", "up(db)", "up('-rf')")
	if !strings.HasPrefix(got, "up(api) = true {up = true}\nup(db) = unknown [HTTP 302 Found (redirect not followed); ") ||
		!strings.Contains(got, "up('-rf') = unknown [HTTP 302 Found (redirect not followed); ") {
		t.Error(got)
	}
}

func TestSecretsOfHeadersAreNotShown(t *testing.T) {
	m := newTestModel(t)
	m.serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, "bad credential %s", strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	})
	w := m.mustCompile(t, `fluent "open" {
		observe "http" {
			url     = "${var.at}?key=hunter2hunter2"
			headers = { Authorization = "Bearer hunter2hunter2" }
			value   = "body"
		}
	}
	action "drain" {
		run "http" {
			url     = var.at
			headers = { Authorization = "Bearer hunter2hunter2" }
		}
	}`)
	o := m.act(t.Context(), t, w, "drain", "api")
	r := w.Observe(t.Context(), m.u, m.refs(t, "open"), time.Time{})
	if all := fmt.Sprintf("%+v %s %s", r, o.Message, o.Output); strings.Contains(all, "hunter2") || !strings.Contains(all, "[redacted]") {
		t.Error(all)
	}
}

func TestWhatIsNotObservedIsNotAsked(t *testing.T) {
	m := newTestModel(t)
	w := m.mustCompile(t, ``)
	if got := m.observe(t, w, "derived", "belief", "in_lb"); got != "" {
		t.Errorf("got %s", got)
	}
	if w.Observes(m.Fluent("belief")) || w.Acts(m.Action("drain")) || w.Fenced(m.Action("drain")) {
		t.Error("a world without blocks can do nothing")
	}
}

// A parameter may be called like a field of the items: object speaks of the
// item, since which object it is about is what is being asked.
func TestParameterCalledLikeAField(t *testing.T) {
	m := newTestModel(t)
	m.Fluent("in_lb").Params[0].Name = "name"
	defer func() { m.Fluent("in_lb").Params[0].Name = "s" }()
	m.serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, services) })
	w := m.mustCompile(t, `fluent "in_lb" {
		observe "http" {
			url    = "${var.at}/services"
			items  = "body.services"
			object = "name"
			value  = "in_lb && item.name == name"
		}
	}`)
	same(t, m.observe(t, w, "in_lb(api)"), `in_lb(api) = true {in_lb = true, name = "api"}`)
}

func BenchmarkObserveListOfTenThousand(b *testing.B) {
	mod := model.New()
	service := mod.AddType("service", nil)
	var body strings.Builder
	body.WriteString(`[`)
	for i := range 10_000 {
		name := fmt.Sprintf("s%d", i)
		service.AddObject(name)
		fmt.Fprintf(&body, `{"name":%q,"up":true},`, name)
	}
	body.WriteString(`{"name":"x"}]`)
	mod.AddFluent(&model.Fluent{Name: "up", Kind: model.KindBool, Params: []model.Param{{Name: "s", Type: service}}})
	mod.Link()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body.String()) }))
	defer s.Close()
	m := &testModel{Model: mod, u: model.NewUniverse(mod), vars: map[string]cty.Value{"at": cty.StringVal(s.URL)}}
	w, diags := m.compileIn(b.TempDir(), `fluent "up" {
		observe "http" {
			url    = var.at
			items  = "body"
			object = "name"
			value  = "up == true"
		}
	}`)
	if diags.HasErrors() {
		b.Fatal(diags)
	}
	defer w.Close()
	for b.Loop() {
		rs := w.Observe(b.Context(), m.u, []model.Ref{{Fluent: mod.Fluent("up")}}, time.Time{})
		if len(rs) != 10_000 || !rs[9999].Value.Known() {
			b.Fatalf("%d readings, %+v", len(rs), rs[len(rs)-1])
		}
	}
}

// A proxy's error page, or a login page, is what comes instead of JSON.
func TestAnAnswerThatIsNotWhatTheExpressionTakesItForSaysWhatItIs(t *testing.T) {
	const page = "<!doctype html>\n<html><head><title>Sign in</title></head>"
	for _, c := range []struct{ name, answer, value, want string }{
		{"a page", page, "body.status == 'UP'", "unknown [the answer is not JSON (text/html; charset=utf-8): <!doctype html> <html><head><title>Sign in</title></head>]"},
		{"a page, an optional field", page, "body?.status == 'UP'", "unknown [the answer is not JSON (text/html; charset=utf-8): <!doctype html> <html><head><title>Sign in</title></head>]"},
		{"a page, a list", page, "any(body, .up)", "unknown [the answer is not JSON (text/html; charset=utf-8): <!doctype html> <html><head><title>Sign in</title></head>]"},
		{"half of the JSON", `{"status": "UP", `, "body.status == 'UP'", `unknown [the answer is not JSON (text/plain; charset=utf-8): {"status": "UP",]`},
		{"nothing", "", "body.status == 'UP'", "unknown [the answer is empty, and not JSON]"},
		{"a long text", strings.Repeat("ü", 100), "body.status == 'UP'", "unknown [the answer is not JSON (text/plain; charset=utf-8): " + strings.Repeat("ü", 80) + "…]"},
		{"a text that is meant", "ready", "body == 'ready'", `true {"ready"}`},
		{"a text that is no number", "many", "int(body) > 3", `unknown [invalid operation: int(many)] {"many"}`},
		{"a key twice", `{"status": "UP", "status": "DOWN"}`, "body.status == 'UP'", `unknown [the answer gives the key "status" twice]`},
		{"a key twice, deeper", `[1, {"a": [{"b": {}, "c": [], "b": 1}]}]`, "len(body) > 1", `unknown [the answer gives the key "b" twice]`},
		{"a key twice, and nobody asks", `{"status": "UP", "status": "DOWN"}`, "text contains 'DOWN'", "true {text = "},
		{"equal keys and values of different objects", `{"a": "a", "b": {"a": "b", "c": "a"}, "c": [{"a": 1}, {"a": 2}]}`, "body.a == 'a'", `true {a = "a"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newTestModel(t)
			m.serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, c.answer) })
			w := m.mustCompile(t, fmt.Sprintf("fluent \"open\" {\n observe \"http\" {\n url = var.at\n value = %q\n }\n }", c.value))
			got := strings.TrimPrefix(m.observe(t, w, "open"), "open = ")
			if begun := strings.HasSuffix(c.want, "= ") && strings.HasPrefix(got, c.want); strings.TrimSpace(got) != c.want && !begun {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestAStatusThatIsNoSuccessIsNoted(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"judged by its content", "body.status == 'UP'", `false {HTTP 503, status = "DOWN"}`},
		{"judged by its status", "status == 200", "false {status = 503}"},
		{"nothing to say beside it", "true", "true {HTTP 503}"},
		{"unknown", "body.up", `unknown [HTTP 503 Service Unavailable; the answer has no up] {HTTP 503}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newTestModel(t)
			m.serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusServiceUnavailable)
				_, _ = io.WriteString(w, `{"status": "DOWN"}`)
			})
			w := m.mustCompile(t, fmt.Sprintf("fluent \"open\" {\n observe \"http\" {\n url = var.at\n value = %q\n }\n }", c.value))
			same(t, m.observe(t, w, "open"), "open = "+c.want)
		})
	}
}
