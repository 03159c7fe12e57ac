package notify

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fettleops/fettle/executor"
)

// hook is an HTTP server that answers as its script says, the last answer again
// and again.
type hook struct {
	*httptest.Server
	calls atomic.Int64
}

func newHook(t *testing.T, answers ...http.HandlerFunc) *hook {
	t.Helper()
	h := &hook{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i := int(h.calls.Add(1)) - 1
		answers[min(i, len(answers)-1)](w, r)
	}))
	t.Cleanup(h.Close)
	return h
}

func status(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if len(header) > 0 {
			w.Header().Set(header[0], header[1])
		}
		w.WriteHeader(code)
	}
}

// post delivers a message by HTTP and returns what was warned of.
func post(ctx context.Context, t *testing.T, s Settings) string {
	t.Helper()
	in := &inbox{}
	s.Kind, s.Name, s.On = "http", "hook", everything
	if s.Method == "" {
		s.Method = http.MethodPost
	}
	if s.Timeout == 0 {
		s.Timeout = time.Minute
	}
	n := New([]Settings{s}, Options{Warn: in.warn, Agent: "fettle/test"})
	c := newCaller(s, "fettle/test")
	c.pause = time.Millisecond
	n.targets[0].deliver = c.call
	for _, e := range opening(t) {
		n.Event(e)
	}
	n.Event(told(t, 9, executor.RunEnded, executor.Ended{Status: executor.Escalated, Reason: "denied", Actions: 1, Undone: missing("in_lb(api)")}))
	n.Close(ctx)
	return strings.Join(in.warnings, "\n")
}

func TestAMessageIsPosted(t *testing.T) {
	type request struct {
		method, path string
		header       http.Header
		body         []byte
	}
	got := make(chan request, 1)
	h := newHook(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- request{r.Method, r.URL.Path, r.Header, body}
		w.WriteHeader(http.StatusNoContent)
	})
	warned := post(t.Context(), t, Settings{URL: h.URL + "/page", Method: "PUT", Headers: map[string]string{"Authorization": "Bearer x", "Idempotency-Key": "mine"}})
	r := <-got
	if warned != "" || r.method != "PUT" || r.path != "/page" {
		t.Errorf("%s %s, warned %q", r.method, r.path, warned)
	}
	for k, want := range map[string]string{
		"Authorization": "Bearer x", "Idempotency-Key": "01RUN-9", "Content-Type": "application/json", "User-Agent": "fettle/test",
	} {
		if r.header.Get(k) != want {
			t.Errorf("%s is %q, want %q", k, r.header.Get(k), want)
		}
	}
	want := map[string]any{
		"version": 1., "id": "01RUN-9", "occasions": []any{"escalated", "left_out"}, "run": "01RUN", "goal": "healthy", "scope": "fleet",
		"text":   "fettle: fleet, goal healthy: run 01RUN escalated (denied). left worse than it was: in_lb(api)",
		"status": "escalated", "reason": "denied", "started": "2026-11-01T03:00:01Z", "since": "2026-11-01T03:00:09Z", "rounds": 0., "actions": 1.,
		"seconds": 0., "left_out": []any{"in_lb(api)"}, "undone": []any{"in_lb(api)"}, "time": "2026-11-01T03:00:09Z", "host": "ops1", "pid": 7.,
	}
	var doc map[string]any
	if err := json.Unmarshal(r.body, &doc); err != nil {
		t.Fatal(err)
	}
	if a, b := asJSON(t, doc), asJSON(t, want); a != b {
		t.Errorf("got  %s\nwant %s", a, b)
	}
}

func asJSON(t *testing.T, v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestAnAnswerDecidesWhetherItIsTriedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		answers []http.HandlerFunc
		calls   int64
		warned  string
	}{
		"accepted":       {[]http.HandlerFunc{status(202)}, 1, ""},
		"an error once":  {[]http.HandlerFunc{status(500), status(200)}, 2, ""},
		"an error twice": {[]http.HandlerFunc{status(502), status(503), status(200)}, 3, ""},
		"errors":         {[]http.HandlerFunc{status(500)}, maxTries, "it answered HTTP 500 Internal Server Error"},
		"too many":       {[]http.HandlerFunc{status(429), status(200)}, 2, ""},
		"too many, later": {
			[]http.HandlerFunc{status(429, "Retry-After", "1"), status(200)}, 2, "",
		},
		"too slow once":  {[]http.HandlerFunc{status(408), status(200)}, 2, ""},
		"not found":      {[]http.HandlerFunc{status(404), status(200)}, 1, "it answered HTTP 404 Not Found"},
		"not authorized": {[]http.HandlerFunc{status(401), status(200)}, 1, "it answered HTTP 401 Unauthorized"},
		"elsewhere": {
			[]http.HandlerFunc{status(302, "Location", "/other"), status(200)},
			1,
			"it answered HTTP 302 Found, and a redirect is not followed: write the address that it leads to",
		},
		"hung up": {[]http.HandlerFunc{hangUp, status(200)}, 2, ""},
		"an endless answer": {[]http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) {
			line := []byte(strings.Repeat("x", 1<<16))
			for {
				if _, err := w.Write(line); err != nil {
					return
				}
			}
		}}, 1, ""},
	} {
		h := newHook(t, c.answers...)
		warned := post(t.Context(), t, Settings{URL: h.URL})
		want := ""
		if c.warned != "" {
			want = `notify "hook" was not told of escalated, left_out: ` + c.warned
		}
		if h.calls.Load() != c.calls || warned != want {
			t.Errorf("%s: %d calls, warned %q; want %d and %q", name, h.calls.Load(), warned, c.calls, want)
		}
	}
}

// hangUp closes the connection without an answer.
func hangUp(w http.ResponseWriter, _ *http.Request) {
	if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
		_ = c.Close()
	}
}

func TestAServerThatNobodyShouldTrustIsToldNothing(t *testing.T) {
	var calls atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	s.Config.ErrorLog = quiet()
	s.StartTLS()
	defer s.Close()
	warned := post(t.Context(), t, Settings{URL: s.URL})
	if calls.Load() != 0 || !strings.Contains(warned, "certificate") || strings.Contains(warned, s.URL) {
		t.Errorf("%d calls, warned %q", calls.Load(), warned)
	}
}

func TestAServerThatIsNotThereIsTriedAgain(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	_ = l.Close()
	if warned := post(t.Context(), t, Settings{URL: url}); !strings.HasSuffix(warned, "connection refused") {
		t.Errorf("warned %q", warned)
	}
}

// A server that never answers is given its time-out, and cut at the end of the
// run's patience.
func TestAServerThatNeverAnswersIsCut(t *testing.T) {
	asked, release := make(chan struct{}, maxTries), make(chan struct{})
	h := newHook(t, func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-release
	})
	defer close(release)
	if warned := post(t.Context(), t, Settings{URL: h.URL, Timeout: time.Millisecond}); !strings.HasSuffix(warned, "no answer within its timeout of 1ms") {
		t.Errorf("warned %q", warned)
	}
	for len(asked) > 0 {
		<-asked
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		<-asked
		cancel(errors.New("enough"))
	}()
	if warned := post(ctx, t, Settings{URL: h.URL}); !strings.HasSuffix(warned, "interrupted") {
		t.Errorf("warned %q", warned)
	}
}
