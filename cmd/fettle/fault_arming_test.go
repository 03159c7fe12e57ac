package main

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fettleops/fettle/executor"
)

// TestArmThatArrivesAfterTheLook promises that an action whose arming was not
// answered, and was looked for in vain, is not armed by the request's arriving after that.
func TestArmThatArrivesAfterTheLook(t *testing.T) {
	t.Parallel()
	for _, without := range []string{"", "no-revoke-first"} {
		t.Run(without, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, true)
			s.fault("api", "leak")
			late := startLateArm(t, s.etcd.endpoint)
			defer late.answer()
			a := s.start(s.base, []string{"run", "--approve", "-o", "jsonl", s.modelAt(late.endpoint, true)}, "FETTLE_FAULT="+without)
			awaits(t, late.arrived, "the late request's arrival", a)
			var problems []string
			for _, id := range s.store.unresolved() {
				problems = append(problems, "armed after all: "+id)
			}
			late.answer()
			refused, _ := a.await(func(e event) bool { return e.Kind == executor.StepRefused })
			if !strings.Contains(refused.Data.Reason, "(armed: no)") {
				t.Errorf("the step is refused with: %q", refused.Data.Reason)
			}
			if without != "" { // It may wait for what it armed, now.
				judged(t, without, problems)
				return
			}
			a.exits(exitDone)
			log := s.entries()
			judged(t, "", slices.Concat(problems, wrongs(log), unfencedActs(log), doneTwice(log), s.unhealthy(), s.store.left()))
		})
	}
}

// TestPauseBetweenTheLookAndTheArm promises that a pause stops an action that
// had been found to be allowed, and that the run goes on when it is over.
func TestPauseBetweenTheLookAndTheArm(t *testing.T) {
	t.Parallel()
	for _, without := range []string{"", "no-pause-check"} {
		t.Run(without, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, true)
			s.ttl = "60s" // It keeps its locks while it stands still.
			s.fault("api", "leak")
			a := s.run("FETTLE_PAUSE_AT=observed", "FETTLE_FAULT="+without)
			a.stopped()
			s.command("pause")
			paused := len(s.entries())
			a.goesOn()
			a.exits(exitWaiting)
			problems := s.late(a, paused)
			if without != "" {
				judged(t, without, problems)
				return
			}
			s.command("unpause")
			s.resume(s.base, a.id()).exits(exitDone)
			log := s.entries()
			judged(t, "", slices.Concat(problems, wrongs(log), unfencedActs(log), doneTwice(log), s.unhealthy(), s.store.left()))
		})
	}
}

// command runs a command on the model, as a person would.
func (s *stage) command(name string) {
	s.t.Helper()
	if out, err := exec.Command(faulty(s.t), name, "--model", s.path).CombinedOutput(); err != nil {
		s.t.Fatalf("fettle %s: %v\n%s", name, err, out)
	}
}

// lateArm is the way from a controller to etcd on which the first transaction
// that arms an action is late. It gets there right after its sender, who gave
// up, has looked whether it did, before the answer to this look is known.
type lateArm struct {
	endpoint string
	arrived  chan struct{} // The transaction has been answered by etcd.
	answer   func()        // Lets the answer to the look through.
	answered chan struct{}

	to   *http.Transport
	mu   sync.Mutex
	late *http.Request
}

func startLateArm(t *testing.T, endpoint string) *lateArm {
	t.Helper()
	to, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	grpc := &http.Protocols{}
	grpc.SetUnencryptedHTTP2(true)
	a := &lateArm{arrived: make(chan struct{}), answered: make(chan struct{}), to: &http.Transport{Protocols: grpc}}
	a.answer = sync.OnceFunc(func() { close(a.answered) })
	plain := &httputil.ReverseProxy{
		Rewrite:      func(p *httputil.ProxyRequest) { p.SetURL(to) },
		Transport:    a.to,
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) {}, // Its sender is gone.
		ErrorLog:     log.New(io.Discard, "", 0),                         // Watches are cut.
	}
	look := *plain
	look.ModifyResponse = func(*http.Response) error { return a.deliver(to) }
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/etcdserverpb.KV/Txn" && ofIntent(r) && a.isLate(r):
			<-r.Context().Done()
		case r.URL.Path == "/etcdserverpb.KV/Range" && ofIntent(r):
			look.ServeHTTP(w, r)
		default:
			plain.ServeHTTP(w, r)
		}
	}))
	srv.Config.Protocols = grpc
	srv.Start()
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
		a.to.CloseIdleConnections()
	})
	a.endpoint = srv.URL
	return a
}

// ofIntent tells whether a request is about the record of an action.
func ofIntent(r *http.Request) bool {
	body, _ := io.ReadAll(r.Body) // What is cut short, etcd rejects.
	r.Body = io.NopCloser(bytes.NewReader(body))
	return bytes.Contains(body, []byte("/intent/"))
}

// isLate keeps the first request for later.
func (a *lateArm) isLate(r *http.Request) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.late != nil {
		return false
	}
	a.late = r
	return true
}

// deliver sends the late request, the first time it is called.
func (a *lateArm) deliver(to *url.URL) error {
	select {
	case <-a.arrived:
		return nil
	default:
	}
	a.mu.Lock()
	r := a.late
	a.mu.Unlock()
	there := *to
	there.Path = r.URL.Path
	req := &http.Request{Method: r.Method, URL: &there, Header: r.Header, Body: r.Body}
	resp, err := a.to.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	close(a.arrived)
	<-a.answered
	return nil
}
