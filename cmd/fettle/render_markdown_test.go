package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/policy"
)

// noon is when the runs of these tests began.
var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// reported is the report of events, pairs of kind and data, a second apart.
func reported(t testing.TB, gates []gate, events ...any) string {
	t.Helper()
	return reportedOf(t, &report{run: "01RUN"}, gates, events...)
}

// reportedOf is the report r of events.
func reportedOf(t testing.TB, r *report, gates []gate, events ...any) string {
	t.Helper()
	for i := 0; i < len(events); i += 2 {
		raw, err := json.Marshal(events[i+1])
		if err != nil {
			t.Fatal(err)
		}
		seq := int64(i/2 + 1)
		e := journal.Event{Seq: seq, Time: noon.Add(time.Duration(seq) * time.Second), Run: "01RUN", Kind: events[i].(string), Data: raw}
		if err := r.event(e); err != nil {
			t.Fatal(err)
		}
	}
	return r.markdown(gates, noon.Add(time.Minute))
}

func TestTheReportOfARunThatEscalated(t *testing.T) {
	sampled := noon.Add(time.Second)
	step := func(n int, action string) executor.StepRef {
		return executor.StepRef{Round: 1, Step: n, Action: action}
	}
	bad := executor.Attempt{
		Planner: "main", Model: "gpt", Attempt: 1, Verdict: "fail", Kind: "precondition", Next: "ask_again", Steps: []string{"drain(db)"},
		Critique: "step 1: drain(db) not applicable; missing capacity", Calls: 1, Tokens: 1200, CostUSD: 0.004,
	}
	got := reported(
		t, nil,
		executor.RunStarted, executor.Started{Goal: "healthy", Scope: "fleet", Doc: "every service is in the balancer", Host: "ops1", PID: 7, Mode: "approve"},
		executor.Observed, executor.Observation{},
		executor.RoundStarted, executor.Round{Round: 1, Of: 3},
		executor.AttemptMade, bad,
		executor.AttemptMade, bad,
		executor.AttemptMade, executor.Attempt{Planner: "search", Attempt: 1, Verdict: "pass", Next: "done", Steps: []string{"drain(api)"}},
		executor.PlanAccepted, executor.Plan{PlanHash: "abc", Steps: []executor.PlannedStep{
			{Step: 1, Action: "drain(api)", Unfenced: true}, {Step: 2, Action: "restart(api)", Unprotected: true}, {Step: 3, Action: "readd(api)", Unfenced: true},
		}},
		executor.Approval, executor.Approved{Answer: "yes", By: "ann", PlanHash: "abc"},
		executor.StepArmed, executor.Armed{StepRef: step(1, "drain(api)")},
		executor.StepFinished, executor.Finished{StepRef: step(1, "drain(api)"), Outcome: "applied"},
		executor.StepArmed, executor.Armed{StepRef: step(2, "restart(api)")},
		executor.StepFinished, executor.Finished{StepRef: step(2, "restart(api)"), Outcome: "not_applied", Message: "exit status 1"},
		executor.Decided, executor.Decision{Decision: policy.Decision{
			Point: policy.PointRound, Answer: policy.Stop, Reason: "no_progress", Reasons: []string{"same_failure_retries = 1 reached by not_applied restart(api)"},
		}},
		executor.RunEnded, executor.Ended{
			Status: executor.Escalated, Reason: "no_progress", Message: "same_failure_retries = 1 reached", Rounds: 1, Actions: 2, Seconds: 9.4, Cost: 0.008,
			Undone: []executor.Missing{{Condition: "in_lb(api)", Because: []executor.Fact{{Fluent: "in_lb(api)", Value: false, Source: "http://lb/api", Sampled: &sampled}}}, {Condition: "mem_ok(api)", Unknown: true}},
			Owed:   []string{"look at what keeps failing, then run again"}, WayBack: []string{"readd(api)"},
			NotRestored: []executor.NotRestored{{Fluent: "in_lb(api)", Was: true, Now: false, Reason: "on_stop is report"}},
		},
	)
	want := "# Run `01RUN`: escalated (no progress)\n\n" +
		"Goal `healthy` of `fleet`: `every service is in the balancer`\n\n" +
		"Why: `same_failure_retries = 1 reached`\n\n" +
		"## Not put back\n\n- `in_lb(api)` was `true`, is `false`: `on_stop is report`\n\n" +
		"## Left worse than it was\n\n- `in_lb(api)`\n- `mem_ok(api)` held, and is not known to hold now\n\n" +
		"## A person owes\n\n- `look at what keeps failing, then run again`\n\n" +
		"## Goal\n\n- `in_lb(api)` does not hold: `in_lb(api) = false` at `http://lb/api`, sampled 2026-11-01T12:00:01Z\n- `mem_ok(api)` is not known to hold\n\n" +
		"## Last policy decision\n\n- `stop` before `round`, `no_progress`: `same_failure_retries = 1 reached by not_applied restart(api)`\n\n" +
		"## Failed attempts\n\n- `main (gpt)`, `precondition`: `step 1: drain(db) not applicable; missing capacity` (2 times)\n\n" +
		"## Failed or refused actions\n\n- `restart(api)` `not applied`: `exit status 1`\n\n" +
		"## Unprotected or unfenced\n\n- `drain(api)`, unfenced\n- `restart(api)`, unprotected\n\n" +
		"## Known way back, not gone\n\n- `readd(api)`\n\n" +
		"## Answers of people\n\n- `yes` to the plan by `ann`, 2026-11-01T12:00:08Z\n\n" +
		"None: in doubt\n\n" +
		"Took 9.4 s, 1 round, 3 attempts, 2 actions, 2 calls of models, 2,400 tokens, 0.008 USD; began 2026-11-01T12:00:01Z, driven by pid 7 on `ops1`\n\n" +
		"Everything: `fettle show 01RUN`\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What a run that goes on has changed itself counts, though it has not looked since.
func TestTheReportOfARunInItsMidstKnowsItsOwnSteps(t *testing.T) {
	at := noon.Add(2 * time.Second)
	known := &executor.LastKnown{At: at, Missing: []executor.Missing{
		{Condition: "in_lb(api)", Because: []executor.Fact{{Fluent: "in_lb(api)", Value: false, Source: "http://lb"}}},
		{Condition: "ok(api)", Unknown: true, Because: []executor.Fact{{Fluent: "ok(api)", Note: "mend(api) may have written it"}}},
	}}
	got := reportedOf(
		t, &report{run: "01RUN", known: known}, nil,
		executor.RunStarted, executor.Started{Goal: "healthy", Scope: "fleet", Host: "ops1", PID: 7},
		executor.Observed, executor.Observation{Missing: []executor.Missing{{Condition: "ok(api)"}}},
		executor.StepArmed, executor.Armed{StepRef: executor.StepRef{Step: 1, Action: "drain(api)"}},
	)
	for _, want := range []string{
		"## Worse than it was, so far\n\n- `in_lb(api)`\n\n",
		"## Goal, as last seen 2026-11-01T12:00:02Z\n\n- `in_lb(api)` does not hold: `in_lb(api) = false` at `http://lb`\n" +
			"- `ok(api)` is not known to hold: `ok(api) = unknown`, `mend(api) may have written it`\n",
		"None: in doubt, failed attempts, failed actions",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

// A cancelled run of which nobody knows how it left the world says so.
func TestTheReportOfARunThatNobodySawTheEndOf(t *testing.T) {
	got := reported(
		t, nil,
		executor.RunStarted, executor.Started{Goal: "healthy", Scope: "fleet", Host: "ops1", PID: 7},
		executor.Observed, executor.Observation{},
		executor.RunEnded, executor.Ended{Status: executor.Cancelled, Actions: 1, Unseen: "it is gone"},
	)
	for _, want := range []string{"## Left worse than it was\n\n- cannot be told: `it is gone`\n", "## Goal\n\n- not known: `it is gone`\n", "None: not put back, decisions owed,"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

// What a person has said since the run began to wait is no longer owed, though
// the journal is told of it only once the run goes on.
func TestTheReportOfARunThatWasAnswered(t *testing.T) {
	at := noon.Add(30 * time.Second)
	events := []any{
		executor.RunStarted,
		executor.Started{Goal: "healthy", Scope: "fleet", Host: "ops1", PID: 7},
		executor.Observed,
		executor.Observation{},
		executor.Approval,
		executor.Approved{PlanHash: "old", Answer: "no", By: "bob", At: &noon},
		executor.RunEnded,
		executor.Ended{Status: executor.WaitingStatus, Reason: "approval", Owed: []string{executor.OwedApproval, "see to b"}},
	}
	r := &report{run: "01RUN"}
	reportedOf(t, r, nil, events...)
	r.replied([]executor.Reply{{PlanHash: "old", Answer: "no", By: "bob", At: noon}, {PlanHash: "new", Answer: "yes", By: "ann", At: at}})
	got := r.markdown([]gate{{Gate: gateResume, What: "approved by ann"}}, noon.Add(time.Minute))
	want := "## Answers of people\n\n- `no` to the plan by `bob`, 2026-11-01T12:00:03Z\n- `yes` to the plan by `ann`, 2026-11-01T12:00:30Z\n\n"
	if !strings.Contains(got, want) || !strings.Contains(got, "## A person owes\n\n- `see to b`\n\n") {
		t.Errorf("got\n%s", got)
	}
	if got := r.markdown([]gate{{Gate: gateApproval, What: "approval"}}, noon); !strings.Contains(got, "- `"+executor.OwedApproval+"`\n") {
		t.Errorf("before it was answered\n%s", got)
	}
}

// What a person said became of an action in doubt is no longer owed nor in doubt.
func TestTheReportOfADoubtThatAPersonSettled(t *testing.T) {
	got := reported(
		t, nil,
		executor.RunStarted, executor.Started{Goal: "healthy", Scope: "fleet", Host: "ops1", PID: 7},
		executor.Observed, executor.Observation{},
		executor.RunEnded, executor.Ended{
			Status: executor.Cancelled, Actions: 1, InDoubt: []string{"mend(api) (01RUN-002)"}, Owed: []string{"find out whether mend(api) (01RUN-002) took effect"},
		},
		executor.DoubtResolved, executor.Resolved{ActionID: "01RUN-002", Action: "mend(api)", Outcome: "not_applied", By: "ann", Reason: "the job never began"},
	)
	const want = "## Said by a person of what was in doubt\n\n- `mend(api)` (`01RUN-002`) `not applied` by `ann`, 2026-11-01T12:00:04Z: `the job never began`\n"
	if !strings.Contains(got, want) || !strings.Contains(got, "None: not put back, left worse, decisions owed, in doubt,") {
		t.Errorf("got\n%s", got)
	}
}

// A run that goes on is told of as far as it has come, and what it is at.
func TestTheReportOfARunThatGoesOn(t *testing.T) {
	since := noon.Add(3 * time.Second)
	got := reported(
		t, []gate{{Gate: gateBusy, What: "in_lb is held by others", Since: &since, Next: []string{"fettle leases"}}},
		executor.RunStarted, executor.Started{Goal: "healthy", Scope: "fleet", Host: "ops1", PID: 7},
		executor.Observed, executor.Observation{Missing: []executor.Missing{{Condition: "up(db)"}}, More: 3},
		executor.StepWaiting, executor.Waiting{Busy: "in_lb is held by others"},
	)
	for _, want := range []string{
		"# Run `01RUN`: running, so far\n", "## What it is at\n\n- `busy since " + clock(since, noon.Add(time.Minute)) + " (57.0 s): in_lb is held by others`: `fettle leases`\n",
		"## Goal, as the last look found it\n\n- `up(db)` does not hold\n- 3 more, not listed here\n", "None: in doubt, failed attempts",
		"Took 59.0 s, 0 rounds, 0 attempts, 0 actions; began",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

// hostile texts try to get out of where they stand.
var hostile = []string{
	"`", "``", "```", "`` ` ``", "|", "a|b", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "](javascript:alert(1))", "[x](http://evil)", "![x](http://evil)",
	"\n# Heading", "\r\n\r\n- item", "\n```\ncode", "\x1b[31m", "\u202e", "\u200b", "\x00", "*bold*", "_it_", "~~no~~", "&lt;", "\\", "\\`", "@everyone", "#1",
	"http://evil", "---", "===", "> quote", "$`x`$", "\u2028", "\u0085", "", " ", strings.Repeat("long", 400), strings.Repeat("w ", 300), "\xff\xfe",
}

// texts draws a text made of hostile and plain pieces.
func texts() *rapid.Generator[string] {
	piece := rapid.OneOf(rapid.SampledFrom(hostile), rapid.StringN(0, 12, 40), rapid.SampledFrom([]string{"drain(api)", "step 4", "missing capacity"}))
	return rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(piece, 0, 5).Draw(t, "pieces"), " ") })
}

func many(t *rapid.T, label string) []string {
	n := rapid.SampledFrom([]int{0, 1, 3, 40, 300}).Draw(t, label)
	text := texts().Draw(t, label+" text")
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s %d", text, i)
	}
	return out
}

// anyRun draws the events of some run, however long and however odd.
func anyRun(t *rapid.T) []any {
	text := func(label string) string { return texts().Draw(t, label) }
	fact := executor.Fact{Fluent: text("fluent"), Value: rapid.SampledFrom([]any{nil, true, 1.5, text("value")}).Draw(t, "v"), Source: text("source"), Error: text("error")}
	events := []any{executor.RunStarted, executor.Started{Goal: text("goal"), Scope: text("scope"), Doc: text("doc"), Host: text("host"), Mode: "approve"}}
	var missing []executor.Missing
	for _, c := range many(t, "missing") {
		missing = append(missing, executor.Missing{Condition: c, Because: []executor.Fact{fact, fact}, Note: text("note")})
	}
	events = append(events, executor.Observed, executor.Observation{Missing: missing, More: rapid.IntRange(0, 1e6).Draw(t, "more")})
	for i, c := range many(t, "attempts") {
		events = append(events, executor.AttemptMade, executor.Attempt{
			Planner: text("planner"), Attempt: i, Verdict: "fail", Kind: text("kind"), Critique: c, Calls: 1, CostUSD: 0.01, Tokens: 1000,
		})
	}
	var steps []executor.PlannedStep
	for i, a := range many(t, "steps") {
		steps = append(steps, executor.PlannedStep{Step: i + 1, Action: a, Unfenced: true, Unprotected: i%2 == 0})
	}
	events = append(events, executor.PlanAccepted, executor.Plan{PlanHash: text("hash"), Steps: steps})
	for i, s := range steps {
		ref := executor.StepRef{Step: i + 1, Action: s.Action}
		events = append(
			events, executor.StepArmed, executor.Armed{StepRef: ref},
			executor.StepFinished, executor.Finished{StepRef: ref, Outcome: text("outcome"), Message: text("message")},
		)
	}
	events = append(
		events, executor.Decided, executor.Decision{Decision: policy.Decision{Point: policy.Point(text("point")), Answer: policy.Answer(text("answer")), Reason: text("reason"), Reasons: many(t, "reasons")}},
		executor.Approval, executor.Approved{Answer: text("yes"), By: text("by"), Feedback: text("feedback")},
		"a_kind_of_later_versions", map[string]any{"x": 1},
	)
	if rapid.Bool().Draw(t, "over") {
		e := executor.Ended{
			Status: rapid.SampledFrom([]string{"escalated", "succeeded", "waiting", text("status")}).Draw(t, "st"), Reason: text("why"), Message: text("msg"),
			Undone: missing, UndoneMore: 5, Owed: many(t, "owed"), InDoubt: many(t, "doubt"), Restored: many(t, "restored"), WayBack: many(t, "way"),
		}
		for _, c := range many(t, "unrestored") {
			e.NotRestored = append(e.NotRestored, executor.NotRestored{Fluent: c, Reason: text("unrestored why")})
			e.Evidence = append(e.Evidence, executor.Evidence{Condition: c, Verified: text("verified"), Facts: []executor.Fact{fact}})
		}
		events = append(events, executor.RunEnded, e)
	}
	return events
}

// Whatever a run was like and whatever texts it met, its report has at most 500
// words, and nothing from outside of this program is markup in it.
func TestAReportIsShortAndNothingBreaksOutOfIt(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var gates []gate
		for _, what := range many(rt, "gates") {
			gates = append(gates, gate{Gate: gateBusy, What: what, Next: []string{what}})
		}
		got := reported(t, gates, anyRun(rt)...)
		if n := len(strings.Fields(got)); n > 500 {
			rt.Fatalf("%d words:\n%s", n, got)
		}
		for _, r := range got {
			if unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Cf, r) {
				rt.Fatalf("it has the character %U", r)
			}
		}
		for _, line := range strings.Split(strings.TrimSuffix(got, "\n"), "\n") {
			if bare := outsideCode(line); !ours.MatchString(bare) {
				rt.Fatalf("outside of code: %q\nof the line %q", bare, line)
			}
		}
	})
}

// ours is what a line of a report is made of beside code spans, which stand as ␣.
var ours = regexp.MustCompile(`^(# Run ␣: [A-Za-z0-9 ()_]*(, so far)?|## [A-Za-z, ]+|(- )?[A-Za-z0-9␣ ,:;.()-]*)$`)

// outsideCode takes the code spans out of a line, by the rule of CommonMark: a
// span begins with some backticks and ends with the next ones of that number.
func outsideCode(line string) string {
	ticks := regexp.MustCompile("`+")
	var out strings.Builder
	for line != "" {
		open := ticks.FindStringIndex(line)
		if open == nil {
			break
		}
		fence, rest := line[open[0]:open[1]], line[open[1]:]
		end := -1
		for _, close := range ticks.FindAllStringIndex(rest, -1) {
			if rest[close[0]:close[1]] == fence {
				end = close[1]
				break
			}
		}
		if end < 0 {
			out.WriteString(line[:open[1]])
			line = rest
			continue
		}
		out.WriteString(line[:open[0]] + "␣")
		line = rest[end:]
	}
	return out.String() + line
}

// Journals of older versions are reported on like any.
func TestAReportOfAnOlderJournal(t *testing.T) {
	files, err := filepath.Glob("../../executor/testdata/journal-v1/*.jsonl")
	if err != nil || len(files) < 3 {
		t.Fatalf("only %d journals: %v", len(files), err)
	}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		r := &report{}
		for dec := json.NewDecoder(f); dec.More(); {
			var e journal.Event
			if err := dec.Decode(&e); err != nil {
				t.Fatal(err)
			}
			if err := r.event(e); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
		_ = f.Close()
		got := r.markdown(nil, r.stand.last)
		if n := mdWords(got); n > maxWords || n < 50 || !strings.HasPrefix(got, "# Run `"+r.run+"`: "+r.stand.ended.Status) {
			t.Errorf("%s: %d words:\n%s", file, n, got)
		}
	}
}

// What a report leaves out is counted.
func TestAReportCountsWhatItLeavesOut(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		sizes := map[string]int{}
		var sections []section
		for i := range rapid.IntRange(0, 12).Draw(rt, "sections") {
			s := section{title: "Section " + strconv.Itoa(i), more: rapid.IntRange(0, 9).Draw(rt, "more")}
			for range rapid.IntRange(1, 60).Draw(rt, "items") {
				s.items = append(s.items, strings.Repeat("word ", rapid.IntRange(1, 30).Draw(rt, "words")))
			}
			sizes[s.title] = len(s.items) + s.more
			sections = append(sections, s)
		}
		counted, title := map[string]int{}, ""
		for _, line := range strings.Split(mdReport([]string{"# Head"}, sections, []string{"foot"}), "\n") {
			var n int
			if t, ok := strings.CutPrefix(line, "## "); ok {
				title = t
			} else if _, err := fmt.Sscanf(line, "- %d more, not listed here", &n); err == nil {
				counted[title] += n
			} else if strings.HasPrefix(line, "- ") {
				counted[title]++
			}
		}
		if !maps.Equal(counted, sizes) {
			rt.Fatalf("counted %v, want %v", counted, sizes)
		}
	})
}

// A report has room: a run of common size is told whole.
func TestAReportTellsACommonRunWhole(t *testing.T) {
	var e executor.Ended
	for i := range 8 {
		e.Undone = append(e.Undone, executor.Missing{Condition: fmt.Sprintf("in_lb(s%d)", i)})
	}
	e.Status, e.Owed = executor.Escalated, []string{"look at what keeps failing, then run again"}
	got := reported(t, nil, executor.RunStarted, executor.Started{Goal: "g", Scope: "s"}, executor.RunEnded, e)
	if strings.Contains(got, "not listed here") {
		t.Errorf("cut:\n%s", got)
	}
}

// Words are counted as wc counts them.
func TestWordsAreThoseOfWc(t *testing.T) {
	got := reported(t, nil, executor.RunStarted, executor.Started{Goal: "g", Scope: "s", Doc: "a goal of some words"})
	cmd := exec.Command("wc", "-w")
	cmd.Stdin = strings.NewReader(got)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.TrimSpace(string(out)); n != strconv.Itoa(mdWords(got)) {
		t.Errorf("%d words, wc says %s", mdWords(got), n)
	}
}

func TestATallyIsBounded(t *testing.T) {
	var c tally
	for i := range 1000 {
		c.add(strconv.Itoa(i % 200))
	}
	if n := len(c.items()); n != maxTallied || c.more != 500 || !slices.Contains(c.items(), "7 (5 times)") {
		t.Errorf("%d entries and %d more: %q", n, c.more, c.items())
	}
}
