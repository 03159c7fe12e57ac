package world

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/fettleops/fettle/model"
)

func TestActingRequestCarriesTheTokenAndTheRun(t *testing.T) {
	m := newTestModel(t)
	log := m.serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) })
	w := m.mustCompile(t, `action "drain" {
		run "http" {
			method  = "PUT"
			url     = "${var.at}/services/${urlencode(s)}/drain"
			headers = { X-A = "b", Fettle-Fence = "1" }
			body    = { name = s, n = 1 }
		}
	}`)
	o := m.act(t.Context(), t, w, "drain", hostile)
	if o.Status != Done || o.Message != "HTTP 202 Accepted" || o.Started.IsZero() || o.Ended.Before(o.Started) {
		t.Fatalf("%+v", o)
	}
	r := log.seen[0]
	same(t, r.line, "PUT /services/..%2Fadmin%3Fx%3D1%23%C3%A9%27/drain")
	same(t, r.body, `{"n":1,"name":"../admin?x=1#é'"}`)
	for name, want := range map[string]string{
		"Fettle-Fence": "1042", "Fettle-Run": "run-1", "Fettle-Step": "2", "Idempotency-Key": "act-1", "Fettle-Armed": "1043", "X-A": "b", "Content-Type": "application/json",
		"Fettle-Writes": `["in_lb(api)","in_lb('\u00e9\ud83d\ude00')"]`,
	} {
		if got := r.header.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	var writes []string
	if err := json.Unmarshal([]byte(r.header.Get("Fettle-Writes")), &writes); err != nil || writes[1] != "in_lb('é\U0001F600')" {
		t.Errorf("the writes read back as %q, %v", writes, err)
	}
}

func TestOutcomeOfARequest(t *testing.T) {
	m := newTestModel(t)
	release := make(chan struct{})
	m.serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/ok":
		case "/created":
			w.WriteHeader(http.StatusCreated)
		case "/error":
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, "a\nb\n\x1b[31mdisk full\n\nask storage\n")
		case "/late":
			w.WriteHeader(http.StatusPreconditionFailed)
		case "/moved":
			http.Redirect(w, r, "/ok", http.StatusFound)
		case "/hang":
			<-release
		case "/break":
			c, _, _ := w.(http.Hijacker).Hijack()
			_ = c.Close()
		case "/half":
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "half")
			w.(http.Flusher).Flush()
			c, _, _ := w.(http.Hijacker).Hijack()
			_ = c.Close()
		}
	})
	t.Cleanup(func() { close(release) })
	m.vars["refused"] = cty.StringVal(refusedAddress(t))
	for _, c := range []struct{ name, attrs, want string }{
		{"any 2xx", `url = "${var.at}/created"`, "done: HTTP 201 Created"},
		{"expected", "url = \"${var.at}/created\"\nexpect_status = 201", "done: HTTP 201 Created"},
		{"not expected", "url = \"${var.at}/ok\"\nexpect_status = [201, 202]", "failed: HTTP 200, which is not expected"},
		{"error", `url = "${var.at}/error"`, "failed: HTTP 500 Internal Server Error"},
		{"late", `url = "${var.at}/late"`, "rejected: HTTP 412 Precondition Failed"},
		{"redirect", `url = "${var.at}/moved"`, "failed: HTTP 302 Found (redirect not followed)"},
		{"refused", `url = var.refused`, "failed: not sent: connection refused"},
		{"no answer in time", `url = "${var.at}/hang"`, "unknown: no whole answer: timed out after 200ms"},
		{"connection lost", `url = "${var.at}/break"`, "unknown: the connection was closed without an answer"},
		{"half an answer", `url = "${var.at}/half"`, "unknown: the answer broke off: unexpected EOF"},
		{"not a header", "url = \"${var.at}/ok\"\nheaders = { X-A = \"a\\nb\" }", `failed: not sent: net/http: invalid header field value for "X-A"`},
		{"name in URL", `url = "${var.at}/${s}"`, `failed: not sent: the name "../admin?x=1#é'" does not fit into a URL as it is; write urlencode(s) in the url`},
	} {
		t.Run(c.name, func(t *testing.T) {
			timeout := "1m"
			if c.name == "no answer in time" {
				timeout = "200ms"
			}
			w := m.mustCompile(t, `action "drain" {
				timeout = "`+timeout+`"
				run "http" {
					`+c.attrs+`
					fence {
						url    = "${var.at}/fence"
						reject = [409, 412]
					}
				}
			}`)
			o := m.act(t.Context(), t, w, "drain", hostile)
			same(t, string(o.Status)+": "+o.Message, c.want)
		})
	}
}

func TestCancelledRequestIsInDoubtOrWasNeverSent(t *testing.T) {
	m := newTestModel(t)
	release, asked := make(chan struct{}), make(chan struct{}, 1)
	log := m.serve(t, func(http.ResponseWriter, *http.Request) { asked <- struct{}{}; <-release })
	t.Cleanup(func() { close(release) })
	w := m.mustCompile(t, `action "drain" {
		run "http" { url = var.at }
	}`)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	o := m.act(ctx, t, w, "drain", "api")
	same(t, string(o.Status)+": "+o.Message, "unknown: no whole answer: interrupted")
	o = m.act(ctx, t, w, "drain", "api")
	same(t, string(o.Status)+": "+o.Message, "failed: not started: interrupted")
	same(t, log.lines(), "POST /")
}

// Go's transport repeats a request that has an Idempotency-Key when a reused
// connection breaks. An action must reach the actuator once.
func TestActionIsSentOnce(t *testing.T) {
	m := newTestModel(t)
	var acts atomic.Int64
	m.serve(t, func(w http.ResponseWriter, r *http.Request) {
		if acts.Add(1) > 1 {
			c, _, _ := w.(http.Hijacker).Hijack()
			_ = c.Close()
		}
	})
	w := m.mustCompile(t, `action "drain" {
		run "http" { url = var.at }
	}`)
	if o := m.act(t.Context(), t, w, "drain", "api"); o.Status != Done {
		t.Fatalf("%+v", o)
	}
	if o := m.act(t.Context(), t, w, "drain", "api"); o.Status != InDoubt {
		t.Errorf("%+v", o)
	}
	if n := acts.Load(); n != 2 {
		t.Errorf("two acts arrived as %d requests", n)
	}
}

func TestLongOutputKeepsHeadAndTail(t *testing.T) {
	m := newTestModel(t)
	m.serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "first line\n"+strings.Repeat("filler\n", 50_000)+"last line\n")
	})
	w := m.mustCompile(t, `action "drain" {
		run "http" { url = var.at }
	}`)
	o := m.act(t.Context(), t, w, "drain", "api")
	out := string(o.Output)
	if !o.Cut || len(out) > maxOutput || len(out) < maxOutput-200 || !strings.HasPrefix(out, "first line\n") || !strings.HasSuffix(out, "last line\n") {
		t.Errorf("cut %v, %d bytes, %.20q … %q", o.Cut, len(out), out, out[len(out)-20:])
	}
	if !strings.Contains(out, " bytes left out …\n") || o.Message != "HTTP 418 I'm a teapot" {
		t.Errorf("no mark, or %q", o.Message)
	}
}

func raiseLines(log *requests) string {
	log.mu.Lock()
	defer log.mu.Unlock()
	var out []string
	for _, s := range log.seen {
		out = append(out, s.line+" "+s.body)
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

func TestFenceIsRaisedWhereTheResourcesCouldBeWritten(t *testing.T) {
	m := newTestModel(t)
	log := m.serve(t, func(http.ResponseWriter, *http.Request) {})
	w := m.mustCompile(t, `
	action "drain" {
		run "http" {
			url = "${var.at}/drain"
			fence {
				url    = "${var.at}/balancer"
				reject = [409]
			}
		}
	}
	action "restart" {
		run "http" {
			url = "${var.at}/restart"
			fence {
				url    = "${var.at}/agent/${urlencode(s)}"
				reject = [409]
			}
		}
	}
	action "place" {
		run "http" {
			url = "${var.at}/place"
			fence {
				url    = "${var.at}/node/${n}"
				reject = [409]
			}
		}
	}`)
	raise := func(resources ...string) string {
		log.seen = nil
		g := m.ground(t, "drain", "api")
		if err := w.Raise(t.Context(), m.u, g, Fence{Token: 7, Resources: resources, Run: "r", ActionID: "a"}); err != nil {
			t.Fatal(err)
		}
		return raiseLines(log)
	}
	same(t, raise("in_lb(api)", "in_lb", "replicas(api)", "belief"), `POST /balancer {"action_id":"a","fence":7,"resources":["in_lb(api)","in_lb"],"run":"r","writes":[]}`)
	// up(db) is written by the agent of db, and by any node.
	same(t, raise("up(db)", "up(api)"), `
POST /agent/api {"action_id":"a","fence":7,"resources":["up(api)"],"run":"r","writes":[]}
POST /agent/db {"action_id":"a","fence":7,"resources":["up(db)"],"run":"r","writes":[]}
POST /node/n1 {"action_id":"a","fence":7,"resources":["up(db)","up(api)"],"run":"r","writes":[]}
POST /node/n2 {"action_id":"a","fence":7,"resources":["up(db)","up(api)"],"run":"r","writes":[]}`)
	same(t, raise("runs(api, n2)"), `POST /node/n2 {"action_id":"a","fence":7,"resources":["runs(api, n2)"],"run":"r","writes":[]}`)
	same(t, raise("deploy"), `
POST /node/n1 {"action_id":"a","fence":7,"resources":["deploy"],"run":"r","writes":[]}
POST /node/n2 {"action_id":"a","fence":7,"resources":["deploy"],"run":"r","writes":[]}`)
	if n := strings.Count(raise("up"), "/agent/"); n != 4 {
		t.Errorf("the whole of up is written by 4 agents, %d were told", n)
	}
}

func TestHigherFenceIsTold(t *testing.T) {
	m := newTestModel(t)
	for _, c := range []struct {
		status       int
		body, want   string
		higher       int64
		isHigherSeen bool
	}{
		{409, `{"fence": 12, "resource": "in_lb(api)"}`, "refuses fence 7: it has seen 12", 12, true},
		{412, `late`, "refuses fence 7: it has seen a higher one", 0, true},
		{500, "out of\norder", "HTTP 500 Internal Server Error out of | order", 0, false},
		{302, "", "HTTP 302 Found", 0, false},
	} {
		m.serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})
		w := m.mustCompile(t, `action "drain" {
			run "http" {
				url = "${var.at}/drain"
				fence {
					url    = "${var.at}/fence"
					reject = [409, 412]
				}
			}
		}`)
		err := w.Raise(t.Context(), m.u, m.ground(t, "drain", "api"), Fence{Token: 7, Resources: []string{"in_lb(api)"}})
		var h *HigherFenceError
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.As(err, &h) != c.isHigherSeen || h != nil && h.Higher != c.higher {
			t.Errorf("status %d: got %v", c.status, err)
		}
		if !w.Fenced(m.Action("drain")) {
			t.Error("drain keeps a fence")
		}
	}
}

func TestFenceThatCannotBeRaisedEverywhereIsAnError(t *testing.T) {
	m := newTestModel(t)
	for i := range maxKeepers {
		m.Type("node").AddObject(string(rune('a'+i%26)) + strings.Repeat("x", i/26))
	}
	m.u = model.NewUniverse(m.Model)
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	m.vars["at"] = cty.StringVal(s.URL)
	w := m.mustCompile(t, `action "place" {
		run "http" {
			url = var.at
			fence {
				url    = "${var.at}/${n}"
				reject = 409
			}
		}
	}`)
	err := w.Raise(t.Context(), m.u, m.ground(t, "drain", "api"), Fence{Token: 7, Resources: []string{"up(api)"}})
	if err == nil || !strings.Contains(err.Error(), "could be written at more than 4096 keepers") {
		t.Errorf("got %v", err)
	}
}

func TestOneKeeperIsToldOnceOfEachResource(t *testing.T) {
	m := newTestModel(t)
	log := m.serve(t, func(http.ResponseWriter, *http.Request) {})
	const body = `{
		run "http" {
			url = var.at
			fence {
				url    = "${var.at}/fence"
				reject = [409]
			}
		}
	}
	`
	w := m.mustCompile(t, `action "restart" `+body+`action "place" `+body+`action "drain" `+body)
	f := Fence{Token: 7, Resources: []string{"up(api)", "in_lb(api)", "up(api)"}, Run: "r", ActionID: "a"}
	if err := w.Raise(t.Context(), m.u, m.ground(t, "restart", "api"), f); err != nil {
		t.Fatal(err)
	}
	same(t, raiseLines(log), `POST /fence {"action_id":"a","fence":7,"resources":["up(api)","in_lb(api)"],"run":"r","writes":[]}`)
}
