package executor

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// deed is one request that the yard served: its log is the oracle of the tests.
type deed struct {
	kind   string // raise, observe, act, late (an act that the fence rejected), cut (an act whose request was broken off)
	what   string // mend(api)
	fence  int64
	id     string
	change bool // the act changed something
	at     time.Time
}

// yard is a tiny world behind HTTP: services that are up or not and ok or not,
// with a fence for each resource.
type yard struct {
	*httptest.Server

	mu     sync.Mutex
	up, ok map[string]bool
	fences map[string]int64
	log    []deed
	dead   bool // it no longer tells its state
	broken bool // it no longer keeps fences
	dark   bool // it no longer tells which services there are
	worst  int  // how many services were down at a time, at most

	// on is asked about each act that passed the fence, outside of the lock. It
	// tells the status to answer with, and whether the act takes effect.
	on func(what string, r *http.Request) (status int, effect bool)
}

func newYard(t testing.TB) *yard {
	y := &yard{up: map[string]bool{"api": true, "db": true}, ok: map[string]bool{"api": true, "db": true}, fences: map[string]int64{}}
	y.Server = httptest.NewServer(y)
	t.Cleanup(y.Close)
	return y
}

func (y *yard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch parts[0] {
	case "state":
		y.tell(w)
	case "services":
		y.list(w)
	case "fence":
		y.raise(w, r)
	default:
		y.act(w, r, parts[0], parts[1])
	}
}

func (y *yard) note(d deed) {
	d.at = time.Now()
	y.log = append(y.log, d)
}

func (y *yard) tell(w http.ResponseWriter) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.note(deed{kind: "observe"})
	if y.dead {
		http.Error(w, "no idea", http.StatusServiceUnavailable)
		return
	}
	type service struct {
		Name string `json:"name"`
		Up   bool   `json:"up"`
		OK   bool   `json:"ok"`
	}
	var all []service
	for _, name := range slices.Sorted(maps.Keys(y.up)) {
		all = append(all, service{name, y.up[name], y.ok[name]})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"services": all})
}

// list tells which services there are, and no more.
func (y *yard) list(w http.ResponseWriter) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.dark {
		http.Error(w, "no idea", http.StatusServiceUnavailable)
		return
	}
	_ = json.NewEncoder(w).Encode(slices.Sorted(maps.Keys(y.up)))
}

func (y *yard) raise(w http.ResponseWriter, r *http.Request) {
	var f struct {
		Fence     int64    `json:"fence"`
		Resources []string `json:"resources"`
		Writes    []string `json:"writes"`
		ActionID  string   `json:"action_id"`
	}
	if err := json.NewDecoder(r.Body).Decode(&f); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.broken {
		http.Error(w, "no fences today", http.StatusInternalServerError)
		return
	}
	y.note(deed{kind: "raise", fence: f.Fence, id: f.ActionID})
	if have, ok := y.stale(f.Fence, f.Writes); !ok {
		w.WriteHeader(http.StatusConflict)
		fmt.Fprintf(w, `{"fence": %d}`, have)
		return
	}
	for _, res := range f.Resources {
		y.fences[res] = max(y.fences[res], f.Fence)
	}
}

// stale finds a higher fence.
func (y *yard) stale(fence int64, resources []string) (int64, bool) {
	for _, res := range resources {
		if y.fences[res] > fence {
			return y.fences[res], false
		}
	}
	return 0, true
}

func (y *yard) act(w http.ResponseWriter, r *http.Request, action, name string) {
	_, _ = io.Copy(io.Discard, r.Body) // Else a client that goes away is not noticed.
	d := deed{kind: "act", what: action + "(" + name + ")", id: r.Header.Get("Idempotency-Key")}
	_, _ = fmt.Sscan(r.Header.Get("Fettle-Fence"), &d.fence)
	var writes []string
	_ = json.Unmarshal([]byte(r.Header.Get("Fettle-Writes")), &writes)
	y.mu.Lock()
	if _, ok := y.stale(d.fence, writes); !ok {
		d.kind = "late"
		y.note(d)
		y.mu.Unlock()
		w.WriteHeader(http.StatusConflict)
		return
	}
	y.mu.Unlock()
	status, effect := http.StatusOK, true
	if y.on != nil {
		status, effect = y.on(d.what, r)
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	if r.Context().Err() != nil {
		d.kind = "cut"
	}
	if effect {
		d.change = y.apply(action, name)
	}
	y.note(d)
	w.WriteHeader(status)
}

// apply carries an action out and reports whether it changed anything.
func (y *yard) apply(action, name string) bool {
	before := [2]bool{y.up[name], y.ok[name]}
	switch action {
	case "stop":
		y.up[name] = false
	case "mend":
		y.ok[name] = true
	case "start":
		y.up[name] = true
	}
	down := 0
	for _, up := range y.up {
		if !up {
			down++
		}
	}
	y.worst = max(y.worst, down)
	return before != [2]bool{y.up[name], y.ok[name]}
}

// set changes the world by a third party's hand.
func (y *yard) set(change func()) {
	y.mu.Lock()
	defer y.mu.Unlock()
	change()
}

// deeds returns what was logged, of some kinds or of all.
func (y *yard) deeds(kinds ...string) []deed {
	y.mu.Lock()
	defer y.mu.Unlock()
	var out []deed
	for _, d := range y.log {
		if len(kinds) == 0 || slices.Contains(kinds, d.kind) {
			out = append(out, d)
		}
	}
	return out
}

// acts names what reached the yard's actuators, in order.
func (y *yard) acts() []string {
	var out []string
	for _, d := range y.deeds("act", "late", "cut") {
		what := d.what
		if d.kind != "act" {
			what = d.kind + " " + what
		}
		out = append(out, what)
	}
	return out
}
