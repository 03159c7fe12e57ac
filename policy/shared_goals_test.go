package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// story tells runs towards a goal, a word each, one every ten minutes, the last
// ten minutes before start:
//
//	F failed   C cancelled   E escalated   S succeeded by acting   H found it holding
//	W waits, having done nothing   A waits, having acted   R under way   L lost
//	X reset by a person   B refused by the breaker   I refused as ineffective
func story(text string) []RunOutcome {
	var runs []RunOutcome
	began := start.Add(-10 * time.Minute * time.Duration(len(text)))
	for i, c := range text {
		o := RunOutcome{Run: fmt.Sprintf("r%d", i+1), Began: began, At: began}
		switch c {
		case 'F':
			o.Status, o.Reason = "failed", "error"
		case 'C':
			o.Status = "cancelled"
		case 'E':
			o.Status, o.Reason = "escalated", "rounds"
		case 'S':
			o.Status, o.Acted = "succeeded", true
		case 'H':
			o.Status = "succeeded"
		case 'W':
			o.Status, o.Reason = "waiting", "approval"
		case 'A':
			o.Status, o.Reason, o.Acted = "waiting", "busy", true
		case 'R':
			o.Status, o.At = RunUnderWay, time.Time{}
		case 'L':
			o.Status, o.At = RunLost, time.Time{}
		case 'X':
			o.Run, o.Status, o.By, o.Reason = "", RunsReset, "ada", "mended"
		case 'B':
			o.Status, o.Reason = "escalated", Broken
		case 'I':
			o.Status, o.Reason = "escalated", Ineffective
		}
		runs = FollowRuns(runs, o)
		began = began.Add(10 * time.Minute)
	}
	return runs
}

// TestWhatCountsAgainstAGoal: any run without success does, also one that came to
// no conclusion; a goal that holds for a moment by itself resets nothing.
func TestWhatCountsAgainstAGoal(t *testing.T) {
	tests := []struct {
		name, story string
		want        int
	}{
		{"nothing", "", 0},
		{"failures of every kind", "FCEL", 4},
		{"a success by acting starts anew", "FFSF", 1},
		{"a goal that was found holding does not", "FFHF", 3},
		{"what is under way may succeed", "FRF", 2},
		{"what waits for a person may too", "FWF", 2},
		{"what acted and waits has not succeeded", "FAF", 3},
		{"a refusal is no run", "FFBBIB", 2},
		{"a person's word starts anew", "FFFXF", 1},
		{"and is not the last word", "FXFXFF", 2},
		{"a hundred are counted", strings.Repeat("F", 130), 100},
	}
	for _, tt := range tests {
		if got := len(row(story(tt.story))); got != tt.want {
			t.Errorf("%s: %d runs count, want %d", tt.name, got, tt.want)
		}
	}
}

// TestRunsAreCountedOnceByHowTheyEnded: a run that waited, or whose process died
// and that was gone on with, counts by its end alone.
func TestRunsAreCountedOnceByHowTheyEnded(t *testing.T) {
	runs := story("FAL")
	for _, run := range []string{"r2", "r3"} {
		runs, _ = Shared{Breaker: AtMost(1)}.Begins("g", runs, run, start)
	}
	if got := len(row(runs)); got != 1 {
		t.Fatalf("%d count while the others are gone on with, want 1", got)
	}
	runs = FollowRuns(runs, RunOutcome{Run: "r3", Status: "cancelled", At: start})
	runs = FollowRuns(runs, RunOutcome{Run: "r2", Status: "succeeded", Acted: true, At: start})
	if got, want := runs[len(runs)-1].Began, start.Add(-20*time.Minute); !got.Equal(want) {
		t.Errorf("it began at %s, want %s", got, want)
	}
	if got := row(runs); len(got) != 0 {
		t.Errorf("after the success of one that had waited %v count", got)
	}
	if runs = FollowRuns(runs, RunOutcome{Run: "r2", Status: "succeeded", Acted: true, At: start}); len(runs) != 3 {
		t.Errorf("told twice, kept as %d runs", len(runs))
	}
}

// TestRunsThatMayNotBegin holds breaker and ineffective to the moment at which
// they say no, and to what they say.
func TestRunsThatMayNotBegin(t *testing.T) {
	three := Shared{Breaker: AtMost(3)}
	hour := Shared{Breaker: AtMost(3), BreakerReset: AtMost(time.Hour)}
	lasts := Shared{Ineffective: AtMost(30 * time.Minute)}
	both := Shared{Breaker: AtMost(3), Ineffective: AtMost(30 * time.Minute)}
	tests := []struct {
		name   string
		limits Shared
		story  string
		later  time.Duration // than start
		want   string
	}{
		{"no limit", Shared{}, "FFFFFFFF", 0, ""},
		{"below the limit", three, "FF", 0, ""},
		{
			"at it", three, "FFE", 0,
			"breaker never: breaker = 3: 3 runs towards g(api) in a row without success, the last r3 escalated (rounds); none begins until `fettle breaker reset 'g(api)'`",
		},
		{
			"for ever, without breaker_reset", three, "FFL", 1000 * time.Hour,
			"breaker never: breaker = 3: 3 runs towards g(api) in a row without success, the last r3 lost; none begins until `fettle breaker reset 'g(api)'`",
		},
		{"until a person says so", three, "FFFX", 0, ""},
		{
			"just before breaker_reset is over", hour, "FFF", 50*time.Minute - 1,
			"breaker 12:50: breaker = 3: 3 runs towards g(api) in a row without success, the last r3 failed (error); none begins until `fettle breaker reset 'g(api)'`, or one to try from 2026-03-01T12:50:00Z",
		},
		{"once it is over", hour, "FFF", 50 * time.Minute, ""},
		{
			"the one that tried failed too", hour, "FFF......F", 0,
			"breaker 12:50: breaker = 3: 4 runs towards g(api) in a row without success, the last r10 failed (error); none begins until `fettle breaker reset 'g(api)'`, or one to try from 2026-03-01T12:50:00Z",
		},
		{
			"the one that tries is under way", hour, "FFF......R", 0,
			"breaker never: breaker = 3: 3 runs towards g(api) in a row without success, the last r3 failed (error); run r10 was let through to try, and is under way",
		},
		{"the one that tried succeeded", hour, "FFF......S", 0, ""},
		{
			"the one that tries waits for a person", hour, "FFF......W", 0,
			"breaker never: breaker = 3: 3 runs towards g(api) in a row without success, the last r3 failed (error); run r10 was let through to try, and waits: go on with `fettle resume r10`, or `fettle cancel r10`",
		},
		{"one that waits since before it opened does not try", hour, "WFFF", 50 * time.Minute, ""},
		{"one that waited and was cancelled tries no more", hour, "FFF......C", 50 * time.Minute, ""},

		{
			"a success that did not last", lasts, "S", 20*time.Minute - 1,
			"ineffective 12:20: ineffective = 30m: run r1 reached g(api) at 2026-03-01T11:50:00Z and it does not hold again, so what it did does not last; none begins before 2026-03-01T12:20:00Z or `fettle breaker reset 'g(api)'`",
		},
		{"a success that lasted", lasts, "S", 20 * time.Minute, ""},
		{
			"a goal that was found holding since changes nothing", lasts, "SH", 0,
			"ineffective 12:10: ineffective = 30m: run r1 reached g(api) at 2026-03-01T11:40:00Z and it does not hold again, so what it did does not last; none begins before 2026-03-01T12:10:00Z or `fettle breaker reset 'g(api)'`",
		},
		{
			"nor does a failure since", lasts, "SF", 0,
			"ineffective 12:10: ineffective = 30m: run r1 reached g(api) at 2026-03-01T11:40:00Z and it does not hold again, so what it did does not last; none begins before 2026-03-01T12:10:00Z or `fettle breaker reset 'g(api)'`",
		},
		{"a person says go on", lasts, "SX", 0, ""},
		{"a goal that only ever held by itself", lasts, "H", 0, ""},
		{
			"a success that did not last is one more without", both, "FFS", 0,
			"ineffective never: ineffective = 30m: run r3 reached g(api) at 2026-03-01T11:50:00Z and it does not hold again, so what it did does not last; none begins before 2026-03-01T12:20:00Z or `fettle breaker reset 'g(api)'`; " +
				"breaker = 3: 3 runs towards g(api) in a row without success, the last r3 succeeded for a moment; none begins until `fettle breaker reset 'g(api)'`",
		},
	}
	for _, tt := range tests {
		runs := story(strings.ReplaceAll(tt.story, ".", "H"))
		kept, no := tt.limits.Begins("g(api)", runs, "new", start.Add(tt.later))
		if got := told(no); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
		askedAgain(t, tt.name, tt.limits, no)
		if begun := len(kept) > 0 && kept[len(kept)-1].Run == "new"; begun != (no == nil) {
			t.Errorf("%s: begun %v, refused %v", tt.name, begun, no != nil)
		}
	}
}

// TestWhoeverWaitedIsAskedAgain: a run that has begun and done nothing is held to
// what happened meanwhile, and one that is refused for it leaves no trace.
func TestWhoeverWaitedIsAskedAgain(t *testing.T) {
	hour := Shared{Breaker: AtMost(2), BreakerReset: AtMost(time.Hour), Ineffective: AtMost(30 * time.Minute)}
	for _, tt := range []struct {
		name, story, run string
		later            time.Duration
		want             string // the reason
	}{
		{"nothing happened", "W", "r1", 0, ""},
		{"it opened meanwhile", "WFF", "r1", 0, Broken},
		{"it was under way, and its process died", "LFF", "r1", 0, Broken},
		{"it had acted", "AFF", "r1", 0, ""},
		{"it may be tried again", "WFF", "r1", time.Hour, ""},
		{"it is the one that tries", "FF......W", "r9", 0, ""},
		{"another tries", "WFF......W", "r1", 0, Broken},
		{"another succeeded, and that did not last", "WS", "r1", 0, Ineffective},
	} {
		before := story(strings.ReplaceAll(tt.story, ".", "H"))
		runs, no := hour.Begins("g", before, tt.run, start.Add(tt.later))
		word := ""
		if no != nil {
			word = no.Word
			runs = FollowRuns(runs, RunOutcome{Run: tt.run, Status: "escalated", Reason: word})
		}
		if word != tt.want {
			t.Errorf("%s: refused as %q, want %q", tt.name, word, tt.want)
		}
		kept := slices.ContainsFunc(runs, func(o RunOutcome) bool { return o.Run == tt.run })
		if kept != (no == nil) {
			t.Errorf("%s: kept is %v: %v", tt.name, kept, runs)
		}
		askedAgain(t, tt.name, hour, no)
	}
	runs, _ := hour.Begins("g", story("WWFF"), "r1", start.Add(time.Hour))
	if _, no := hour.Begins("g", runs, "r2", start.Add(time.Hour)); no == nil || !strings.Contains(no.Reason, "run r1 was let through to try, and is under way") {
		t.Errorf("two try at once: %+v", no)
	}
}

// TestAShortSuccessCountsOn: what is found not to have lasted is no success once
// its time is over either.
func TestAShortSuccessCountsOn(t *testing.T) {
	s := Shared{Breaker: AtMost(2), Ineffective: AtMost(30 * time.Minute)}
	runs := story("FS")
	runs, no := s.Begins("g", runs, "r3", start)
	if no == nil || no.Word != Ineffective || !no.Until.IsZero() {
		t.Fatalf("not refused for good: %+v", no)
	}
	if _, no = s.Begins("g", runs, "r4", start.Add(24*time.Hour)); no == nil || no.Word != Broken || no.Used != 2 {
		t.Errorf("a day later: %+v", no)
	}
	if _, no = s.Begins("g", story("FS"), "r4", start.Add(24*time.Hour)); no != nil {
		t.Errorf("a success that lasted is counted: %+v", no)
	}
}
