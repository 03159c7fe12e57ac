package audit

import (
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/journal"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// tape is the journal of a run, written by hand.
type tape struct {
	t      *testing.T
	events []journal.Event
}

// at adds an event of a kind, so many seconds after noon, with its data in JSON.
func (p *tape) at(seconds float64, kind, data string) *tape {
	p.t.Helper()
	if !json.Valid([]byte(data)) {
		p.t.Fatalf("%s is not JSON", data)
	}
	p.events = append(p.events, journal.Event{
		Seq: int64(len(p.events) + 1), Time: noon.Add(time.Duration(seconds * float64(time.Second))), Kind: kind, Data: json.RawMessage(data),
	})
	return p
}

func (p *tape) all() iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for _, ev := range p.events {
			if !yield(ev, nil) {
				return
			}
		}
	}
}

var lamps = map[string]Settings{
	"heat": {Timeout: 20 * time.Second, Settle: 10 * time.Second},
	"ring": {Timeout: 5 * time.Second, Settle: 10 * time.Second},
}

// folded folds runs, each of them succeeded.
func folded(t *testing.T, runs ...*tape) Report {
	t.Helper()
	f := New(lamps, "m1", nil)
	for i, p := range runs {
		h := executor.Head{Run: string(rune('A' + i)), Status: "succeeded", Started: noon.Add(time.Duration(i) * time.Hour)}
		if err := f.Run(h, p.all()); err != nil {
			t.Fatal(err)
		}
	}
	return f.Report()
}

func action(t *testing.T, r Report, name string) *Action {
	t.Helper()
	for _, a := range r.Actions {
		if a.Name == name {
			return a
		}
	}
	t.Fatalf("nothing is said of %s", name)
	return nil
}

// heat is an execution of heat(a) whose effect was not seen: it began at a
// second, and ended a quarter of a second later.
func (p *tape) heat(at float64, id string) *tape {
	p.t.Helper()
	p.at(at, "step_armed", `{"round": 1, "step": 1, "action": "heat(a)", "action_id": "`+id+`", "fence": 7}`)
	return p.at(at+10.25, "step_finished", `{"round": 1, "step": 1, "action": "heat(a)", "action_id": "`+id+`", "outcome": "diverged", "status": "done",
		"act_ms": 250, "changed": {"warm(a)": false}, "seen": [{"fluent": "warm(a)", "want": true, "value": false, "after_s": 0, "verified": "no"}]}`)
}

// TestCounts holds the numbers of a few executions to those counted by hand.
func TestCounts(t *testing.T) {
	p := (&tape{t: t}).at(0, "run_started", `{"goal": "g", "model_hash": "m1"}`)
	for i, ms := range []string{"1000", "3000", "2000", "4500"} {
		p.at(float64(i), "step_armed", `{"action": "ring(a)", "action_id": "r`+ms+`"}`)
		p.at(float64(i)+1, "step_finished", `{"action": "ring(a)", "action_id": "r`+ms+`", "outcome": "applied", "status": "done", "act_ms": `+ms+`,
			"seen": [{"fluent": "heard(a)", "want": true, "value": true, "after_s": `+ms[:1]+`, "verified": "observed"},
			         {"fluent": "tired", "want": true, "value": true, "verified": "assumed"}]}`)
	}
	p.at(9, "step_refused", `{"action": "ring(b)", "kind": "precondition"}`)
	p.at(9, "step_refused", `{"action": "ring(b)", "kind": "precondition"}`)
	p.at(9, "step_refused", `{"action": "ring(b)", "kind": "busy"}`)
	p.at(9, "step_skipped", `{"action": "ring(b)", "because": []}`)
	p.at(9, "step_armed", `{"action": "ring(b)", "action_id": "x"}`)
	p.at(9, "step_armed", `{"action": "ring(b)", "action_id": "y"}`)
	p.at(9, "doubt_resolved", `{"action": "ring(b)", "action_id": "y", "outcome": "applied"}`)
	r := folded(t, p)
	a := action(t, r, "ring")
	if a.Executions != 4 || a.Outcomes["applied"] != 4 || a.Disagreed != 0 || a.Skipped != 1 {
		t.Errorf("%+v", a)
	}
	if a.Refused["precondition"] != 2 || a.Refused["busy"] != 1 || a.Unfinished != 1 || a.Resolved["applied"] != 1 {
		t.Errorf("refused %v, unfinished %d, resolved %v", a.Refused, a.Unfinished, a.Resolved)
	}
	if a.ActS.N() != 4 || a.ActS.Median() != 2 || a.ActS.Max() != 4.5 {
		t.Errorf("took %d: %v, at most %v", a.ActS.N(), a.ActS.Median(), a.ActS.Max())
	}
	if len(a.Effects) != 2 {
		t.Fatalf("%d effects", len(a.Effects))
	}
	heard, tired := a.Effects[0], a.Effects[1]
	if heard.Fluent != "heard" || heard.Declared != 4 || heard.Seen != 4 || heard.AfterS.Median() != 2 || heard.AfterS.Max() != 4 {
		t.Errorf("%+v", heard)
	}
	if tired.Assumed != 4 || tired.Seen != 0 {
		t.Errorf("%+v", tired)
	}
	want := []string{`timeout of 5 s is too short, set timeout = "10s": it took 4.5 s`}
	if strings.Join(a.Changes, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q\nwant %q", a.Changes, want)
	}
	if r.Runs.OtherModels != 0 || r.Runs.Unreadable != 0 {
		t.Errorf("%+v", r.Runs)
	}
}

// TestWhatIsLate: what becomes of an effect that was not seen within settle.
func TestWhatIsLate(t *testing.T) {
	tests := []struct {
		name         string
		events       func(*tape)
		later, again int
		most         float64 // seconds, of later or else of again
		changes      string
	}{
		{
			"nothing", func(*tape) {}, 0, 0, 0,
			"warm was never seen to become what the effect says, in 1 execution (warm(a): wanted true, was false): the effect is wrong, takes longer than settle, or is not what is observed",
		},
		{
			"it comes true", func(p *tape) { p.at(14.25, "observed", `{"changed": {"warm(a)": true}}`) }, 1, 0, 14,
			`settle of 10 s is too short, set timeout = "15s": warm came true only after it was over, once, at most 14 s after the action`,
		},
		{
			"it comes true a day later", func(p *tape) { p.at(86400.25, "observed", `{"changed": {"warm(a)": true}}`) }, 1, 0, 86400,
			`settle of 10 s is too short, set timeout = "20s": warm came true only after it was over, once, at most 24h after the action`,
		},
		{
			"it is not known, then comes true, seen by a guard", func(p *tape) {
				p.at(12, "observed", `{"changed": {"warm(a)": null}}`)
				p.at(20.25, "step_refused", `{"action": "ring(a)", "kind": "busy", "changed": {"warm(a)": true}}`)
			}, 1, 0, 20,
			`settle of 10 s is too short, set timeout = "20s": warm came true only after it was over, once, at most 20 s after the action`,
		},
		{
			"it becomes something else", func(p *tape) { p.at(12, "observed", `{"changed": {"warm(a)": "lukewarm", "warm(b)": true}}`) }, 0, 0, 0,
			"warm was never seen to become what the effect says, in 1 execution (warm(a): wanted true, was false): the effect is wrong, takes longer than settle, or is not what is observed",
		},
		{
			"another action makes it true", func(p *tape) {
				p.at(12, "step_armed", `{"action": "ring(a)", "action_id": "r"}`)
				p.at(13, "step_finished", `{"action": "ring(a)", "action_id": "r", "outcome": "applied", "status": "done", "act_ms": 10, "changed": {"warm(a)": true},
					"seen": [{"fluent": "warm(a)", "want": true, "value": true, "verified": "observed"}]}`)
			}, 0, 0, 0,
			"warm was never seen to become what the effect says, in 1 execution (warm(a): wanted true, was false): the effect is wrong, takes longer than settle, or is not what is observed",
		},
		{
			"it comes true once it is done again", func(p *tape) {
				p.at(12, "step_armed", `{"action": "heat(a)", "action_id": "h2"}`)
				p.at(14, "step_finished", `{"action": "heat(a)", "action_id": "h2", "outcome": "applied", "status": "done", "act_ms": 250, "changed": {"warm(a)": true},
					"seen": [{"fluent": "warm(a)", "want": true, "value": true, "after_s": 1, "verified": "observed"}]}`)
			}, 0, 1, 13,
			`settle of 10 s is too short, set timeout = "15s": warm came true once the action was done again, once, at most 13 s after the first time`,
		},
		{
			"it comes true after it was done twice", func(p *tape) {
				p.heat(12, "h2")
				p.at(24.25, "observed", `{"changed": {"warm(a)": true}}`)
			}, 1, 1, 12,
			`settle of 10 s is too short, set timeout = "30s": warm came true only after it was over, once, at most 12 s after the action; warm came true once the action was done again, once, at most 24 s after the first time`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := (&tape{t: t}).heat(0, "h1")
			tt.events(p)
			a := action(t, folded(t, p), "heat")
			e := a.Effects[0]
			most := e.LaterS.Max()
			if e.Later == 0 {
				most = e.AgainS.Max()
			}
			if e.Later != tt.later || e.Again != tt.again || most != tt.most {
				t.Errorf("later %d, again %d, at most %v s; want %d, %d, %v", e.Later, e.Again, most, tt.later, tt.again, tt.most)
			}
			if got := strings.Join(a.Changes, "\n"); got != tt.changes {
				t.Errorf("got  %s\nwant %s", got, tt.changes)
			}
		})
	}
}

// TestOneRunSaysNothingOfAnother: what one run did not see, and another sees, is
// not called late: who knows what was done in between.
func TestOneRunSaysNothingOfAnother(t *testing.T) {
	r := folded(t, (&tape{t: t}).heat(0, "h1"), (&tape{t: t}).at(12, "observed", `{"changed": {"warm(a)": true}}`))
	if e := action(t, r, "heat").Effects[0]; e.Later != 0 {
		t.Errorf("%d came true later", e.Later)
	}
}

// TestFailuresAreNoDisagreement: an effect that is not seen of an action that
// failed is as it should be; one that is seen is not.
func TestFailuresAreNoDisagreement(t *testing.T) {
	p := &tape{t: t}
	p.at(1, "step_finished", `{"action": "heat(a)", "action_id": "h", "outcome": "not_applied", "status": "failed", "message": "exit status 1", "act_ms": 10,
		"seen": [{"fluent": "warm(a)", "want": true, "value": false, "verified": "no"}]}`)
	p.at(2, "step_finished", `{"action": "ring(a)", "action_id": "r", "outcome": "diverged", "status": "failed", "message": "exit status 3", "act_ms": 10,
		"seen": [{"fluent": "heard(a)", "want": true, "value": true, "verified": "observed"}]}`)
	r := folded(t, p)
	if a := action(t, r, "heat"); a.Disagreed != 0 || len(a.Effects) != 0 || len(a.Changes) != 0 || a.Failure != "exit status 1" {
		t.Errorf("%+v", a)
	}
	a := action(t, r, "ring")
	if a.Disagreed != 1 || a.Unannounced != 1 || len(a.Changes) != 1 || a.Example != "A" {
		t.Errorf("%+v", a)
	}
	if r.Actions[0] != a {
		t.Error("what disagrees does not come first")
	}
}

// TestPlanners holds the uptake of critiques to what a round counts.
func TestPlanners(t *testing.T) {
	p := &tape{t: t}
	try := func(round, n int, verdict, rest string) {
		p.at(0, "attempt", `{"round": `+string(rune('0'+round))+`, "attempt": `+string(rune('0'+n))+`, "planner": "main", "model": "m-1", "verdict": "`+verdict+`", "steps": [],
			"calls": 1, "tokens": 100, "cost_usd": 0.25, "ms": 2000`+rest+`}`)
	}
	try(1, 1, "fail", `, "kind": "precondition", "critique": "step 4: drain(db) not applicable", "violation": {"failure_key": "k1"}`)
	try(1, 2, "fail", `, "kind": "precondition", "critique": "step 5: drain(db) not applicable", "violation": {"failure_key": "k1"}`) // the same
	try(1, 3, "fail", `, "kind": "syntax", "critique": "line 3: prose"`)                                                              // another
	try(1, 4, "fail", `, "kind": "syntax", "critique": "line 8: prose"`)                                                              // the same, elsewhere
	try(1, 5, "pass", ``)                                                                                                             // used
	try(2, 1, "fail", `, "kind": "goal", "critique": "goal not reached"`)                                                             // no answer to round 1
	try(2, 2, "error", `, "kind": "error", "critique": "no route"`)                                                                   // says nothing
	try(2, 3, "pass", ``)                                                                                                             // answers an error
	r := folded(t, p)
	if len(r.Planners) != 1 {
		t.Fatalf("%d planners", len(r.Planners))
	}
	got := r.Planners[0]
	if got.Attempts != 8 || got.Valid != 2 || got.Errors != 1 || got.Failed["precondition"] != 2 || got.Failed["syntax"] != 2 || got.Failed["goal"] != 1 {
		t.Errorf("%+v", got)
	}
	if got.Critiques != 4 || got.Used != 2 {
		t.Errorf("%d of %d critiques used, want 2 of 4", got.Used, got.Critiques)
	}
	if got.Calls != 8 || got.Tokens != 800 || got.CostUSD != 2 || got.TookS.Median() != 2 {
		t.Errorf("%+v", got)
	}
}

// TestJournalsOfOtherVersions: what is not understood is passed over, what
// cannot be read is counted, and neither keeps the rest back.
func TestJournalsOfOtherVersions(t *testing.T) {
	p := &tape{t: t}
	p.at(0, "run_started", `{"goal": "g", "model_hash": "m0"}`)
	p.at(0, "invented_later", `{"action": 7}`)
	p.at(0, "step_finished", `{"action": 7}`)
	p.at(0, "step_finished", `{}`)
	p.at(1, "step_finished", `{"action": "gone(a)", "outcome": "applied"}`)
	for range 2 { // What no version writes.
		p.at(2, "step_finished", `{"action": "odd", "status": "done", "seen": [{"fluent": "f", "want": [1], "value": {"a": 2}, "verified": "no"}], "changed": {"f": [1]}}`)
	}
	p.at(3, "observed", `{"changed": {"f": [1]}}`)
	f := New(lamps, "m1", nil)
	if err := f.Run(executor.Head{Run: "A"}, p.all()); err != nil {
		t.Fatal(err)
	}
	cut := errors.New("damaged")
	err := f.Run(executor.Head{Run: "B", Status: "running"}, func(yield func(journal.Event, error) bool) {
		_ = yield(p.events[4], nil) && yield(journal.Event{}, cut)
	})
	if !errors.Is(err, cut) {
		t.Errorf("the error is %v", err)
	}
	r := f.Report()
	if r.Runs.Total != 2 || r.Runs.Unreadable != 1 || r.Runs.OtherModels != 1 || r.Runs.First != nil {
		t.Errorf("%+v", r.Runs)
	}
	if a := action(t, r, "gone"); !a.Gone || a.Executions != 2 || len(a.Changes) != 0 {
		t.Errorf("%+v", a)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

// TestBodies: what was too large for an event is looked at, too.
func TestBodies(t *testing.T) {
	p := (&tape{t: t}).heat(0, "h1")
	p.at(14.25, "observed", `{"changed_body": {"sha256": "abc", "size": 20}}`)
	f := New(lamps, "m1", func(run, sum string) ([]byte, error) {
		if run != "A" || sum != "abc" {
			return nil, errors.New("no such body")
		}
		return []byte(`{"warm(a)": true}`), nil
	})
	if err := f.Run(executor.Head{Run: "A"}, p.all()); err != nil {
		t.Fatal(err)
	}
	if e := action(t, f.Report(), "heat").Effects[0]; e.Later != 1 {
		t.Errorf("%+v", e)
	}
}

// TestTheMiddle: the median is of the values, whatever their order and number.
func TestTheMiddle(t *testing.T) {
	for _, tt := range []struct {
		values      []float64
		median, max float64
	}{{nil, 0, 0}, {[]float64{3}, 3, 3}, {[]float64{9, 1}, 1, 9}, {[]float64{5, 1, 3}, 3, 5}, {[]float64{4, 4, 1, 2}, 2, 4}} {
		var s Spread
		for _, v := range tt.values {
			s.add(v)
		}
		if s.Median() != tt.median || s.Max() != tt.max || s.N() != len(tt.values) {
			t.Errorf("%v: %v, at most %v of %d", tt.values, s.Median(), s.Max(), s.N())
		}
	}
}

// TestLimitsThatPeopleWrite: what is proposed is round, and never shorter.
func TestLimitsThatPeopleWrite(t *testing.T) {
	for s, want := range map[float64]string{0.05: "100ms", 0.1: "100ms", 0.3: "500ms", 1.01: "2s", 31: "45s", 61: "1m30s", 2700: "45m", 2701: "1h", 3601: "2h"} {
		if got := spell(atLeast(s)); got != want {
			t.Errorf("%v s: %s, want %s", s, got, want)
		}
	}
}

// What a person says of an action in doubt settles it, and is counted as such.
func TestAPersonsWordOfADoubtIsCounted(t *testing.T) {
	p := (&tape{t: t}).
		at(0, executor.StepArmed, `{"action": "heat(a)", "action_id": "1"}`).
		at(1, executor.StepArmed, `{"action": "heat(b)", "action_id": "2"}`).
		at(2, executor.RunEnded, `{"status": "cancelled"}`).
		at(9, executor.DoubtResolved, `{"action": "heat(a)", "action_id": "1", "outcome": "applied", "by": "ann", "reason": "it is warm"}`).
		at(9, executor.DoubtResolved, `{"action": "heat(b)", "action_id": "2", "outcome": "applied"}`)
	a := folded(t, p).Actions[0]
	if a.Unfinished != 0 || a.Resolved["applied"] != 2 || a.ByHand != 1 {
		t.Errorf("%+v", a)
	}
}
