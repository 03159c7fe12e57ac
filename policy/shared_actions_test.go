package policy

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// did is an action that a run began so long before start.
func did(run string, ago time.Duration, action string, objects ...string) Deed {
	return Deed{Run: run, Action: action, Objects: objects, Ground: action + "(" + fmt.Sprint(objects) + ")", At: start.Add(-ago)}
}

// hourly counts in an hour, each limit another number.
func hourly() Shared {
	return Shared{Window: time.Hour, MaxPerObject: AtMost(2), MaxPerAction: AtMost(3), MaxTotal: AtMost(4), Cooldown: AtMost(5 * time.Minute)}
}

// TestSharedLimitsOnActions holds each limit just below and at where it says no,
// and what it says then.
func TestSharedLimitsOnActions(t *testing.T) {
	m := time.Minute
	restart := func(o string) Deed { return did("new", 0, "restart", o) }
	tests := []struct {
		name    string
		limits  func(*Shared)
		history []Deed
		next    []Deed
		want    string // limit until: reason
	}{
		{"nothing was done", nil, nil, []Deed{restart("api")}, ""},
		{"one was done", nil, []Deed{did("a", 10*m, "restart", "api")}, []Deed{restart("api")}, ""},
		{
			"the object has had its share", nil,
			[]Deed{did("a", 30*m, "drain", "api"), did("b", 20*m, "restart", "api")},
			[]Deed{restart("api")},
			"max_per_object 12:30: max_per_object = 2 in 1h: 2 actions on api begun by all controllers together, the last restart([api]) at 2026-03-01T11:40:00Z by run b, again from 2026-03-01T12:30:00Z",
		},
		{
			"more than the limit was done, told in any order", nil,
			[]Deed{did("c", 10*m, "restart", "api"), did("a", 30*m, "drain", "api"), did("b", 20*m, "restart", "api")},
			[]Deed{restart("api")},
			"max_per_object 12:40: max_per_object = 2 in 1h: 3 actions on api begun by all controllers together, the last restart([api]) at 2026-03-01T11:50:00Z by run c, again from 2026-03-01T12:40:00Z",
		},
		{"another object has not", nil, []Deed{did("a", 30*m, "drain", "api"), did("b", 20*m, "restart", "api")}, []Deed{restart("db")}, ""},
		{
			"an object that one action names twice counts once", nil,
			[]Deed{did("a", 30*m, "move", "api", "api")},
			[]Deed{restart("api")},
			"",
		},
		{
			"any of the objects", nil,
			[]Deed{did("a", 30*m, "drain", "api"), did("b", 20*m, "restart", "api")},
			[]Deed{did("new", 0, "move", "db", "api")},
			"max_per_object 12:30: max_per_object = 2 in 1h: 2 actions on api begun by all controllers together, the last restart([api]) at 2026-03-01T11:40:00Z by run b, again from 2026-03-01T12:30:00Z",
		},
		{
			"the action has had its share", nil,
			[]Deed{did("a", 30*m, "restart", "s1"), did("a", 20*m, "restart", "s2"), did("a", 10*m, "restart", "s3")},
			[]Deed{restart("api")},
			"max_per_action 12:30: max_per_action = 3 in 1h: 3 actions of restart begun by all controllers together, the last restart([s3]) at 2026-03-01T11:50:00Z by run a, again from 2026-03-01T12:30:00Z",
		},
		{
			"all have had theirs", nil,
			[]Deed{did("a", 30*m, "w"), did("a", 20*m, "x"), did("a", 10*m, "y"), did("a", 8*m, "z")},
			[]Deed{restart("api")},
			"max_total 12:30: max_total = 4 in 1h: 4 actions begun by all controllers together, the last z([]) at 2026-03-01T11:52:00Z by run a, again from 2026-03-01T12:30:00Z",
		},
		{"what is exactly as old as the window no longer counts", nil, []Deed{did("a", 60*m, "restart", "api"), did("b", 20*m, "restart", "api")}, []Deed{restart("api")}, ""},
		{
			"what is a moment younger does", nil,
			[]Deed{did("a", 60*m-1, "restart", "api"), did("b", 20*m, "restart", "api")},
			[]Deed{restart("api")},
			"max_per_object 12:00: max_per_object = 2 in 1h: 2 actions on api begun by all controllers together, the last restart([api]) at 2026-03-01T11:40:00Z by run b, again from 2026-03-01T12:00:00Z",
		},
		{
			"too soon", nil,
			[]Deed{did("a", 5*m-1, "restart", "api")},
			[]Deed{restart("api")},
			"cooldown 12:00: cooldown = 5m: restart([api]) was begun at 2026-03-01T11:55:00Z by run a, again from 2026-03-01T12:00:00Z",
		},
		{"just not too soon", nil, []Deed{did("a", 5*m, "restart", "api")}, []Deed{restart("api")}, ""},
		{"the same with another object", nil, []Deed{did("a", m, "restart", "db")}, []Deed{restart("api")}, ""},
		{
			"a clock that is ahead", nil,
			[]Deed{did("a", -2*m, "restart", "api")},
			[]Deed{restart("api")},
			"cooldown 12:07: cooldown = 5m: restart([api]) was begun at 2026-03-01T12:02:00Z by run a, again from 2026-03-01T12:07:00Z (run a dated it 2m ahead of this clock: see that the clocks agree)",
		},
		{
			"two limits: the one that is in the way for longer", nil,
			[]Deed{did("a", 30*m, "drain", "api"), did("b", 2*m, "restart", "api")},
			[]Deed{restart("api")},
			"max_per_object 12:30: max_per_object = 2 in 1h: 2 actions on api begun by all controllers together, the last restart([api]) at 2026-03-01T11:58:00Z by run b, again from 2026-03-01T12:30:00Z; 1 other limit is in the way too",
		},
		{
			"three limits, one for ever", func(s *Shared) { s.MaxTotal = AtMost(0) },
			[]Deed{did("a", 30*m, "drain", "api"), did("b", 2*m, "restart", "api")},
			[]Deed{restart("api")},
			"max_total never: max_total = 0 in 1h: 2 actions begun by all controllers together, the last restart([api]) at 2026-03-01T11:58:00Z by run b, it never fits; 2 other limits are in the way too",
		},
		{"a plan that just fits", nil, []Deed{did("a", 30*m, "x")}, []Deed{did("new", 0, "drain", "api"), restart("api"), restart("db")}, ""},
		{
			"a plan that will fit", nil,
			[]Deed{did("a", 30*m, "x"), did("a", 20*m, "y")},
			[]Deed{did("new", 0, "drain", "api"), restart("api"), restart("db")},
			"max_total 12:30: max_total = 4 in 1h: 2 actions begun by all controllers together, the last y([]) at 2026-03-01T11:40:00Z by run a; the plan has 3 more, again from 2026-03-01T12:30:00Z",
		},
		{
			"a plan that never fits", nil, nil,
			[]Deed{did("new", 0, "stop", "api"), did("new", 0, "drain", "api"), restart("api")},
			"max_per_object never: max_per_object = 2 in 1h: 0 actions on api begun by all controllers together; the plan has 3 more, it never fits",
		},
		{
			"a plan with one action twice", func(s *Shared) { s.MaxPerObject = AtMost(2) }, nil,
			[]Deed{restart("api"), restart("api")},
			"cooldown never: cooldown = 5m: restart([api]) would be carried out 2 times at once",
		},
		{
			"none at all", func(s *Shared) { *s = Shared{Window: time.Hour, MaxTotal: AtMost(0)} }, nil,
			[]Deed{restart("api")},
			"max_total never: max_total = 0 in 1h: 0 actions begun by all controllers together, it never fits",
		},
		{"no limits", func(s *Shared) { *s = Shared{} }, slices.Repeat([]Deed{did("a", m, "restart", "api")}, 99), []Deed{restart("api")}, ""},
	}
	for _, tt := range tests {
		s := hourly()
		if tt.limits != nil {
			tt.limits(&s)
		}
		no := s.Acts(tt.history, tt.next, start)
		if got := told(no); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
		askedAgain(t, tt.name, s, no)
	}
}

// askedAgain asks once more what was refused, as the journal knows it.
func askedAgain(t *testing.T, name string, s Shared, no *SharedRefusal) {
	t.Helper()
	if no == nil {
		return
	}
	raw, err := json.Marshal(no)
	if err != nil {
		t.Fatal(err)
	}
	var recorded SharedRefusal
	if err := json.Unmarshal(raw, &recorded); err != nil {
		t.Fatal(err)
	}
	if again := s.Again(*recorded.Facts); told(again) != told(no) {
		t.Errorf("%s: asked again:\n got %s\nwant %s", name, told(again), told(no))
	}
}

// TestRefusalsCiteWhatCounts, and nothing where that is too much for the journal.
func TestRefusalsCiteWhatCounts(t *testing.T) {
	history := []Deed{
		did("old", 3*time.Hour, "restart", "api"), did("a", 40*time.Minute, "restart", "db"), did("b", 30*time.Minute, "drain", "api"),
		did("c", 20*time.Minute, "restart", "api"), did("d", 10*time.Minute, "page", "ops"),
	}
	s := Shared{Window: time.Hour, MaxPerObject: AtMost(2)}
	no := s.Acts(history, []Deed{did("new", 0, "restart", "api")}, start)
	var got []string
	for _, d := range no.Facts.History {
		got = append(got, d.Run)
	}
	if want := []string{"b", "c"}; !slices.Equal(got, want) {
		t.Errorf("cites %q, want %q", got, want)
	}
	if no = s.Acts(slices.Repeat(history, 100), []Deed{did("new", 0, "restart", "api")}, start); no == nil || no.Facts != nil {
		t.Errorf("cites too much: %+v", no)
	}
}

func told(r *SharedRefusal) string {
	if r == nil {
		return ""
	}
	until := "never"
	if !r.Until.IsZero() {
		until = r.Until.UTC().Format("15:04")
	}
	return r.Limit + " " + until + ": " + r.Reason
}

// TestSharedLimitsAreNeverExceeded promises, of any sequence of actions that are
// begun whenever Acts lets them, that no window of time has more of them than a
// limit says, counted anew for every window; and that Until is the first moment
// at which one that was refused would be let through.
func TestSharedLimitsAreNeverExceeded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(0, 3)
		s := Shared{
			Window: time.Duration(rapid.IntRange(1, 20).Draw(t, "window")) * time.Minute, MaxTotal: AtMost(limit.Draw(t, "total")),
			MaxPerAction: AtMost(limit.Draw(t, "action")), MaxPerObject: AtMost(limit.Draw(t, "object")),
			Cooldown: AtMost(time.Duration(rapid.IntRange(1, 20).Draw(t, "cooldown")) * time.Minute),
		}
		var done []Deed
		now := start
		for range rapid.IntRange(1, 40).Draw(t, "tries") {
			now = now.Add(time.Duration(rapid.IntRange(0, 5).Draw(t, "later")) * time.Minute)
			next := did("r", 0, rapid.SampledFrom([]string{"a", "b"}).Draw(t, "what"), rapid.SampledFrom([]string{"x", "y"}).Draw(t, "which"))
			next.At = now
			no := s.Acts(done, []Deed{next}, now)
			if no == nil {
				done = append(done, next)
				exceeded(t, s, done)
				continue
			}
			if no.Until.IsZero() {
				continue
			}
			if no := s.Acts(done, []Deed{next}, no.Until); no != nil {
				t.Fatalf("refused at the moment it named: %s", no.Reason)
			}
			if s.Acts(done, []Deed{next}, no.Until.Add(-1)) == nil {
				t.Fatalf("let through before the moment it named: %s", no.Reason)
			}
		}
	})
}

// exceeded counts by hand.
func exceeded(t *rapid.T, s Shared, done []Deed) {
	for i, first := range done {
		total, action, object := 0, 0, 0
		for _, d := range done[i:] {
			if d.Ground == first.Ground && d.At != first.At && d.At.Sub(first.At) < s.Cooldown.Value {
				t.Fatalf("%s twice within %s", d.Ground, s.Cooldown.Value)
			}
			if d.At.Sub(first.At) >= s.Window {
				break
			}
			total++
			if d.Action == first.Action {
				action++
			}
			if d.Objects[0] == first.Objects[0] {
				object++
			}
		}
		if total > s.MaxTotal.Value || action > s.MaxPerAction.Value || object > s.MaxPerObject.Value {
			t.Fatalf("%d actions, %d of %s, %d on %s within %s of %s", total, action, first.Action, object, first.Objects[0], s.Window, first.At)
		}
	}
}

// TestSharedUses tells how much of each limit is used, for people.
func TestSharedUses(t *testing.T) {
	history := []Deed{did("a", 50*time.Minute, "drain", "api"), did("a", 30*time.Minute, "restart", "api"), did("b", time.Minute, "restart", "db")}
	var got []string
	for _, u := range hourly().Uses(history, start) {
		frees := "-"
		if !u.Frees.IsZero() {
			frees = u.Frees.UTC().Format("15:04")
		}
		got = append(got, fmt.Sprintf("%s %s %d/%d %s", u.Limit, u.Of, u.Used, u.Most, frees))
	}
	want := []string{
		"max_total  3/4 -", "max_per_action drain 1/3 -", "max_per_action restart 2/3 -",
		"max_per_object api 2/2 12:10", "max_per_object db 1/2 -", "cooldown restart([db]) 1/1 12:04",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
