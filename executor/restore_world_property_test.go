package executor

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/fettleops/fettle/model"
)

// board is a world of a few lamps behind HTTP. What an action does there is a
// table, and some of what it is asked for it does not do.
type board struct {
	*httptest.Server
	mu    sync.Mutex
	lamps map[string]bool
	moves []move
	fails []int // of the acts, in turn: 0 works, 1 fails, 2 fails although it worked, 3 says that it worked and did nothing
	acts  int
}

// move is an action: where the lamps of need are as they say, it sets those of set.
type move struct {
	need, set map[string]bool
	undo      int // the number of the move that takes it back, -1 for none
	final     bool
}

func (b *board) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.URL.Path == "/state" {
		type lamp struct {
			Name string `json:"name"`
			On   bool   `json:"on"`
		}
		var all []lamp
		for n, on := range b.lamps {
			all = append(all, lamp{n, on})
		}
		_ = json.NewEncoder(w).Encode(all)
		return
	}
	var n int
	_, _ = fmt.Sscanf(r.URL.Path, "/m%d", &n)
	how := b.fails[b.acts%len(b.fails)]
	b.acts++
	if how == 0 || how == 2 {
		for name, on := range b.moves[n].set {
			b.lamps[name] = on
		}
	}
	if how == 1 || how == 2 {
		w.WriteHeader(http.StatusInternalServerError)
	}
}

// bad is the severity, without the program: how many lamps are off.
func (b *board) bad() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, on := range b.lamps {
		if !on {
			n++
		}
	}
	return n
}

func (b *board) text(severity bool) string {
	var s strings.Builder
	fmt.Fprintf(&s, "type \"lamp\" { objects = [\"a\", \"b\", \"c\", \"d\"] }\nfluent \"on\" {\n  params = { l = lamp }\n  observe \"http\" {\n    url = %q\n    items = \"body\"\n    object = \"name\"\n    value = \"on\"\n  }\n}\n", b.URL+"/state")
	for i, m := range b.moves {
		fmt.Fprintf(&s, "action \"m%d\" {\n  timeout = \"10s\"\n", i)
		var need, add, del []string
		for _, l := range []string{"a", "b", "c", "d"} {
			if on, ok := m.need[l]; ok {
				need = append(need, fmt.Sprintf("%q", map[bool]string{true: "", false: "!"}[on]+"on("+l+")"))
			}
			if on, ok := m.set[l]; ok && on {
				add = append(add, fmt.Sprintf("%q", "on("+l+")"))
			} else if ok {
				del = append(del, fmt.Sprintf("%q", "on("+l+")"))
			}
		}
		fmt.Fprintf(&s, "  precondition = [%s]\n  effect {\n    add = [%s]\n    del = [%s]\n  }\n", strings.Join(need, ", "), strings.Join(add, ", "), strings.Join(del, ", "))
		if m.undo >= 0 {
			fmt.Fprintf(&s, "  undo = \"m%d\"\n", m.undo)
		}
		if m.final {
			s.WriteString("  reversible = false\n")
		}
		fmt.Fprintf(&s, "  settle {\n    timeout = \"200ms\"\n    interval = \"5ms\"\n  }\n  run \"http\" { url = %q }\n}\n", fmt.Sprintf("%s/m%d", b.URL, i))
	}
	s.WriteString("goal \"lit\" {\n  condition = [\"on(a)\"]\n")
	if severity {
		s.WriteString("  severity = \"count(lamp, !on(#))\"\n")
	}
	s.WriteString("}\n")
	return s.String()
}

func lamps(t *rapid.T, label string, least, most int) map[string]bool {
	out := map[string]bool{}
	for _, l := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d"}), least, most, rapid.ID[string]).Draw(t, label) {
		out[l] = rapid.Bool().Draw(t, label+" "+l)
	}
	return out
}

// drawBoard makes a world in which the goal does not hold, with random actions
// and random failures.
func drawBoard(t *rapid.T) *board {
	b := &board{lamps: map[string]bool{"a": false}}
	for _, l := range []string{"b", "c", "d"} {
		b.lamps[l] = rapid.Bool().Draw(t, l)
	}
	n := rapid.IntRange(2, 6).Draw(t, "moves")
	for i := range n {
		m := move{need: lamps(t, "need", 0, 2), set: lamps(t, "set", 1, 3), undo: rapid.IntRange(-1, n-1).Draw(t, "undo"), final: rapid.IntRange(0, 4).Draw(t, "final") == 0}
		if i == 0 {
			m.set["a"] = true
		}
		if m.undo == i {
			m.undo = -1
		}
		b.moves = append(b.moves, m)
	}
	if rapid.IntRange(0, 3).Draw(t, "detour") > 0 { // What makes things better is reached by what makes them worse first.
		b.lamps["b"] = true
		b.moves = append(b.moves,
			move{need: map[string]bool{"b": true}, set: map[string]bool{"b": false}, undo: rapid.SampledFrom([]int{-1, n + 1}).Draw(t, "undo of the detour")},
			move{need: map[string]bool{"b": false}, set: map[string]bool{"b": true}, undo: -1})
		b.moves[0].need = map[string]bool{"b": false}
		for _, m := range b.moves[1:n] {
			delete(m.set, "a")
			m.set["c"] = m.need["c"]
		}
	}
	b.fails = rapid.SliceOfN(rapid.SampledFrom([]int{0, 0, 0, 0, 0, 1, 1, 2, 2, 3}), 1, 6).Draw(t, "fails")
	if rapid.IntRange(0, 2).Draw(t, "stubborn") == 0 { // Only the second action fails, as often as the policy lets it.
		b.fails = []int{0, 1, 1, 0}
	}
	b.Server = httptest.NewServer(b)
	return b
}

// TestNoRunLeavesTheWorldWorseWithoutSayingSo: whatever the actions do and fail
// to do, a run ends with a severity no higher than it began with, or says so
// before anything else.
func TestNoRunLeavesTheWorldWorseWithoutSayingSo(t *testing.T) {
	var acted, back, worse int
	rapid.Check(t, func(rt *rapid.T) {
		b := drawBoard(rt)
		defer b.Close()
		start := b.bad()
		on := rapid.SampledFrom([]string{`"report"`, `"restore"`}).Draw(rt, "on_stop")
		r := newRig(t, setup{model: b.text(true), policy: []string{"on_stop", on, "max_rounds", "3", "same_failure_retries", "2"}})
		r.config.Ask = yes // Also to what changes what the run did not.
		end := r.run()
		now := b.bad()
		if now > start && len(end.NotRestored) == 0 {
			rt.Fatalf("severity %d, at the start %d, and the run ended %+v\n%s", now, start, end, b.text(true))
		}
		if *end.Severity.Start != float64(start) || end.Severity.Now != nil && *end.Severity.Now != float64(now) {
			rt.Fatalf("the run says %s, it is %d → %d", spanOf(end), start, now)
		}
		if now <= start && len(end.NotRestored) > 0 && end.Severity.Now != nil {
			rt.Fatalf("severity %d, at the start %d, and it says that something is not put back: %+v", now, start, end.NotRestored)
		}
		if len(end.Restored) > 0 && end.Status == Succeeded {
			rt.Fatalf("a run that went back succeeded: %+v", end)
		}
		for _, a := range all[Armed](r, StepArmed) {
			acted++
			if a.Restore {
				back++
			} else if !a.Way.Known() {
				rt.Fatalf("armed without a way back: %+v", a)
			}
			checkWay(rt, r, b, a)
		}
		if now > start {
			worse++
		}
	})
	if acted == 0 || back == 0 || worse == 0 {
		t.Errorf("%d actions, %d to go back, %d runs that ended worse: nothing was tried", acted, back, worse)
	}
}

// checkWay follows an action and the way back from it, which may be none, on the
// table of moves, without the program.
func checkWay(t *rapid.T, r *rig, b *board, a Armed) {
	if a.Restore { // None is needed from its state on: it is part of one.
		return
	}
	state := r.stateAt(t, a.ActionID)
	if len(state) < len(b.lamps) {
		return
	}
	steps := append([]string{a.Action}, a.Way.Steps...)
	for _, st := range steps {
		var n int
		_, _ = fmt.Sscanf(st, "m%d", &n)
		for l, on := range b.moves[n].need {
			if state[l] != on {
				t.Fatalf("way %v of %s: %s does not apply in %v", a.Way.Steps, a.Action, st, state)
			}
		}
		for l, on := range b.moves[n].set {
			state[l] = on
		}
	}
	n := 0
	for _, on := range state {
		if !on {
			n++
		}
	}
	if start := *one[Baseline](r, SeverityTaken).Most; float64(n) > start {
		t.Fatalf("way %v of %s leads to severity %d, the start's was %v", a.Way.Steps, a.Action, n, start)
	}
}

// stateAt is what was observed when an action was armed, folded from the events.
func (r *rig) stateAt(t *rapid.T, id string) map[string]bool {
	state := map[string]bool{}
	for _, e := range r.events {
		var v struct {
			Values
			ActionID string `json:"action_id"`
		}
		if err := json.Unmarshal(e.Data, &v); err != nil {
			t.Fatal(err)
		}
		for text, val := range v.Changed {
			_, args, err := model.ParseAtom(text)
			if err != nil {
				t.Fatal(err)
			}
			on, known := val.(bool)
			if state[args[0]] = on; !known { // On a slow machine a look may have been cut.
				delete(state, args[0])
			}
		}
		if e.Kind == StepArmed && v.ActionID == id {
			return state
		}
	}
	t.Fatalf("%s was not armed", id)
	return nil
}
