package notify

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/journal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// began is when the runs of the tests began.
var began = time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC)

// told is the event of a kind, the seq-th of the run, as many seconds after its start.
func told(t testing.TB, seq int64, kind string, data any) journal.Event {
	t.Helper()
	raw, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return journal.Event{Seq: seq, Time: began.Add(time.Duration(seq) * time.Second), Run: "01RUN", Kind: kind, Data: raw}
}

// missing are conditions that do not hold.
func missing(conditions ...string) []executor.Missing {
	var out []executor.Missing
	for _, c := range conditions {
		out = append(out, executor.Missing{Condition: c, Unknown: strings.HasPrefix(c, "?")})
	}
	return out
}

// opening are the first events of a run that finds these conditions missing.
func opening(t testing.TB, conditions ...string) []journal.Event {
	return []journal.Event{
		told(t, 1, executor.RunStarted, executor.Started{Goal: "healthy", Scope: "fleet", Host: "ops1", PID: 7}),
		told(t, 2, executor.Observed, executor.Observation{Missing: missing(conditions...)}),
		told(t, 3, executor.RoundStarted, executor.Round{Round: 1, Of: 3}),
	}
}

// inbox is what notifiers delivered, and what they warned of.
type inbox struct {
	mu       sync.Mutex
	messages []Message
	warnings []string
}

func (i *inbox) warn(text string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.warnings = append(i.warnings, text)
}

func (i *inbox) read() []Message {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.messages
}

// take is a delivery into the inbox.
func (i *inbox) take(_ context.Context, m Message, _ []byte) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.messages = append(i.messages, m)
	return nil
}

// into has every notifier deliver by a function.
func (n *Notifier) into(deliver func(context.Context, Message, []byte) error) *Notifier {
	for _, t := range n.targets {
		t.deliver = deliver
	}
	return n
}

var everything = []Occasion{Waiting, Succeeded, Escalated, Failed, Cancelled, InDoubt, LeftOut, WaitingLong}

func TestEachEndIsToldByItsOccasions(t *testing.T) {
	for name, c := range map[string]struct {
		atFirst []string
		end     executor.Ended
		want    []Occasion
		left    []string
	}{
		"a success":                   {end: executor.Ended{Status: executor.Succeeded, Actions: 2}, want: []Occasion{Succeeded}},
		"a wait":                      {end: executor.Ended{Status: executor.WaitingStatus, Reason: "approval"}, want: []Occasion{Waiting}},
		"a failure":                   {end: executor.Ended{Status: executor.FailedStatus}, want: []Occasion{Failed}},
		"a cancellation":              {end: executor.Ended{Status: executor.Cancelled}, want: []Occasion{Cancelled}},
		"what was missing before":     {[]string{"up(db)"}, executor.Ended{Status: executor.Escalated, Actions: 1, Undone: missing("up(db)")}, []Occasion{Escalated}, nil},
		"what it did not touch":       {nil, executor.Ended{Status: executor.Escalated, Undone: missing("in_lb(api)")}, []Occasion{Escalated}, nil},
		"what is not known":           {nil, executor.Ended{Status: executor.Escalated, Actions: 1, Undone: missing("?in_lb(api)")}, []Occasion{Escalated}, nil},
		"a service that is taken out": {[]string{"up(db)"}, executor.Ended{Status: executor.Escalated, Actions: 1, Undone: missing("up(db)", "in_lb(api)")}, []Occasion{Escalated, LeftOut}, []string{"in_lb(api)"}},
		"a wait with one taken out":   {nil, executor.Ended{Status: executor.WaitingStatus, Reason: "paused", Actions: 1, Undone: missing("in_lb(api)")}, []Occasion{Waiting, LeftOut}, []string{"in_lb(api)"}},
		"an action in doubt":          {nil, executor.Ended{Status: executor.Cancelled, Actions: 1, InDoubt: []string{"drain(api) (01X)"}}, []Occasion{Cancelled, InDoubt}, nil},
		"what could not be put back": {
			nil,
			executor.Ended{
				Status: executor.Escalated, Actions: 1, Undone: missing("in_lb(api)"), NotRestored: []executor.NotRestored{{Fluent: "in_lb(api)", Reason: "no way back"}},
			},
			[]Occasion{Escalated, LeftOut},
			[]string{"in_lb(api): no way back"},
		},
	} {
		in := &inbox{}
		n := New([]Settings{{Name: "n", On: everything}}, Options{Warn: in.warn}).into(in.take)
		for _, e := range opening(t, c.atFirst...) {
			n.Event(e)
		}
		n.Event(told(t, 9, executor.RunEnded, c.end))
		n.Event(told(t, 9, executor.RunEnded, c.end)) // Told twice by whoever is not sure.
		n.Close(t.Context())
		got := in.read()
		if len(got) != 1 || words(got[0].Occasions) != words(c.want) || strings.Join(got[0].LeftOut, ";") != strings.Join(c.left, ";") || got[0].ID != "01RUN-9" {
			t.Errorf("%s: told %+v, want %v and %q", name, got, c.want, c.left)
		}
	}
}

// Of the occasions of a message, a notifier is told those that it asked for.
func TestANotifierIsToldWhatItAskedFor(t *testing.T) {
	in := &inbox{}
	n := New([]Settings{{Name: "a", On: []Occasion{Succeeded}}, {Name: "b", On: []Occasion{InDoubt}}, {Name: "c", On: byDefault}}, Options{Warn: in.warn})
	n.into(in.take)
	n.Event(told(t, 1, executor.RunStarted, executor.Started{Goal: "g"}))
	n.Event(told(t, 2, executor.RunEnded, executor.Ended{Status: executor.Escalated, InDoubt: []string{"x"}}))
	n.Close(t.Context())
	got := map[string]bool{}
	for _, m := range in.read() {
		got[words(m.Occasions)] = true
	}
	if len(got) != 2 || !got["in_doubt"] || !got["escalated,in_doubt"] {
		t.Errorf("told %v", got)
	}
}

func TestAMessageIsBoundedAndOneLine(t *testing.T) {
	long := strings.Repeat("ü", 5000)
	e := executor.Ended{Status: executor.Escalated, Reason: "denied", Message: "a\nb\x1b[31m\u202e" + long}
	for range 1000 {
		e.Owed, e.InDoubt = append(e.Owed, long), append(e.InDoubt, "z\r\n"+long)
	}
	e.Undone, e.UndoneMore = missing(strings.Split(strings.Repeat("c,", 300), ",")...), 7
	s := story{run: "01RUN", goal: long, scope: "s"}
	m := s.ended(e, 1, began)
	m.Text = m.summary()
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if len(raw) > 32<<10 {
		t.Errorf("%d bytes", len(raw))
	}
	for _, bad := range []string{`\n`, `\r`, `\u001b`, "\u202e"} {
		if strings.Contains(string(raw), bad) {
			t.Errorf("%q is in the message", bad)
		}
	}
	if want := 7 + 291 + 990 + 990; m.More != want || len(m.Owed) != maxEntries {
		t.Errorf("%d more, want %d", m.More, want)
	}
}

func TestTheTextOfAMessageSaysItAll(t *testing.T) {
	s := story{run: "01RUN", goal: "healthy", scope: "fleet"}
	for _, e := range []journal.Event{told(t, 2, executor.Observed, executor.Observation{})} {
		if _, err := s.tell(e); err != nil {
			t.Fatal(err)
		}
	}
	m := s.ended(executor.Ended{
		Status: executor.Escalated, Reason: "no_progress", Message: "the same failure twice", Actions: 1,
		Undone: missing("in_lb(api)"), InDoubt: []string{"drain(db) (01X)"}, Owed: []string{"find out whether drain(db) (01X) took effect"},
	}, 5, began)
	m.Next = []string{"fettle show 01RUN", "fettle intents"}
	want := "fettle: fleet, goal healthy: run 01RUN escalated (no progress): the same failure twice. " +
		"left worse than it was: in_lb(api). in doubt: drain(db) (01X). you owe: find out whether drain(db) (01X) took effect. Next: fettle show 01RUN"
	if got := m.summary(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Where more did not hold at first than is on record, nobody is told that nothing
// is worse.
func TestWhetherAnythingIsWorseIsNotAlwaysKnown(t *testing.T) {
	in := &inbox{}
	n := New([]Settings{{Name: "n", On: everything}}, Options{Warn: in.warn}).into(in.take)
	n.Event(told(t, 1, executor.RunStarted, executor.Started{Goal: "healthy"}))
	n.Event(told(t, 2, executor.Observed, executor.Observation{More: 300}))
	n.Event(told(t, 3, executor.RunEnded, executor.Ended{Status: executor.Escalated, Actions: 1, Undone: []executor.Missing{{Condition: "in_lb(api)"}}}))
	n.Close(t.Context())
	got := in.read()
	const want = "cannot be told: more conditions did not hold when the run began than are on record"
	if len(got) != 1 || words(got[0].Occasions) != "escalated,left_out" || strings.Join(got[0].LeftOut, ";") != want {
		t.Errorf("told %+v", got)
	}
}

// A question that comes while others are waited for is a wait of its own: it is
// told with what answers it.
func TestAQuestionAfterAWaitForOthersIsToldAsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := &inbox{}
		next := func(m Message) []string { return []string{m.Status + " " + m.Reason} }
		n := New([]Settings{{Name: "n", On: []Occasion{WaitingLong}, After: time.Hour}}, Options{Warn: in.warn, Next: next}).into(in.take)
		for _, e := range opening(t) {
			n.Event(e)
		}
		n.Event(told(t, 4, executor.StepWaiting, executor.Waiting{Busy: "in_lb is held by others"}))
		time.Sleep(time.Minute)
		n.Event(told(t, 5, executor.ApprovalAsked, executor.Asked{Why: []string{"a rule says so"}}))
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if got := in.read(); len(got) != 1 || got[0].ID != "01RUN-5-long" || got[0].Next[0] != "running approval" {
			t.Errorf("told %+v", got)
		}
		n.Close(t.Context())
	})
}

// A wait is told once it has lasted, once, and not where it ended before.
func TestAWaitThatLastsIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := &inbox{}
		n := New([]Settings{{Name: "n", On: []Occasion{WaitingLong}, After: 15 * time.Minute}}, Options{Warn: in.warn}).into(in.take)
		for _, e := range opening(t) {
			n.Event(e)
		}
		busy := executor.Waiting{StepRef: executor.StepRef{Step: 2, Action: "drain(db)"}, Busy: "in_lb is held by others"}
		n.Event(told(t, 4, executor.StepWaiting, busy))
		time.Sleep(14 * time.Minute)
		n.Event(told(t, 5, executor.StepAcquired, executor.Acquired{}))
		time.Sleep(time.Hour)
		n.Event(told(t, 6, executor.StepWaiting, busy))
		time.Sleep(10 * time.Minute)
		n.Event(told(t, 7, executor.Observed, executor.Observation{})) // It looks while it waits.
		n.Event(told(t, 8, executor.StepWaiting, busy))                // And says so again.
		synctest.Wait()
		if got := in.read(); len(got) != 0 {
			t.Fatalf("told too early: %+v", got)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		got := in.read()
		if len(got) != 1 || got[0].ID != "01RUN-6-long" || got[0].Message != "in_lb is held by others" || got[0].Since != began.Add(6*time.Second) || got[0].Status != executor.Running {
			t.Fatalf("told %+v", got)
		}
		n.Event(told(t, 9, executor.RoundEnded, executor.RoundEnd{}))
		n.Event(told(t, 10, executor.ApprovalAsked, executor.Asked{Why: []string{"the policy says so"}}))
		time.Sleep(time.Hour)
		synctest.Wait()
		if got = in.read(); len(got) != 2 || got[1].Reason != "approval" || got[1].Message != "a person is asked about the plan: the policy says so" {
			t.Fatalf("told %+v", got)
		}
		n.Event(told(t, 11, executor.Approval, executor.Approved{Answer: "yes"}))
		n.Event(told(t, 12, executor.StepWaiting, busy))
		n.Close(t.Context()) // The run ends: nobody waits any more.
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := in.read(); len(got) != 2 {
			t.Errorf("told %+v", got)
		}
	})
}

// However a notifier hangs, the end of the run waits for it within bounds, and
// an event never does.
func TestAHangingNotifierHoldsARunUpForTheGraceAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := &inbox{}
		n := New([]Settings{{Name: "stuck", On: everything}, {Name: "fine", On: everything}}, Options{Warn: in.warn})
		n.into(in.take)
		n.targets[0].deliver = func(ctx context.Context, _ Message, _ []byte) error {
			<-ctx.Done()
			return context.Cause(ctx)
		}
		start := time.Now()
		n.Event(told(t, 1, executor.RunStarted, executor.Started{Goal: "g"}))
		for seq := range int64(30) {
			n.Event(told(t, 2+seq, executor.RunEnded, executor.Ended{Status: executor.Escalated}))
		}
		if d := time.Since(start); d != 0 {
			t.Errorf("the events took %s", d)
		}
		n.Close(context.Background())
		n.Close(context.Background())
		if d := time.Since(start); d != Grace {
			t.Errorf("the end took %s", d)
		}
		stuck := 0
		for _, w := range in.warnings {
			if strings.HasPrefix(w, `notify "stuck" was not told of escalated: `) {
				stuck++
			}
		}
		if others := len(in.warnings) - stuck; stuck != 30 || len(in.read())+others != 30 || len(in.read()) < maxQueued {
			t.Errorf("the other one was told %d times; %d warnings: %q", len(in.read()), stuck, in.warnings)
		}
	})
}

func TestTheEndOfAWaitForNotifiersIsThePersonsToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := &inbox{}
		n := New([]Settings{{Name: "stuck", On: everything}}, Options{Warn: in.warn}).into(func(ctx context.Context, _ Message, _ []byte) error {
			<-ctx.Done()
			return context.Cause(ctx)
		})
		n.Event(told(t, 1, executor.RunEnded, executor.Ended{Status: executor.FailedStatus}))
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		n.Close(ctx)
		if d := time.Since(start); d != time.Second || len(in.warnings) != 1 || in.warnings[0] != `notify "stuck" was not told of failed: interrupted` {
			t.Errorf("after %s: %q", d, in.warnings)
		}
	})
}

// What a run did before it is gone on with is known, and not told again.
func TestARunThatIsGoneOnWithIsKnown(t *testing.T) {
	in := &inbox{}
	n := New([]Settings{{Name: "n", On: everything}}, Options{Warn: in.warn}).into(in.take)
	before := append(opening(t, "up(db)"), told(t, 4, executor.RunEnded, executor.Ended{Status: executor.WaitingStatus, Reason: "approval"}))
	for _, e := range before {
		if err := n.CatchUp(e); err != nil {
			t.Fatal(err)
		}
	}
	n.Event(told(t, 5, executor.RunResumed, executor.Resumed{Host: "ops2", PID: 9}))
	n.Event(told(t, 6, executor.Observed, executor.Observation{Missing: missing("up(db)", "in_lb(api)")}))
	n.Event(told(t, 7, executor.RunEnded, executor.Ended{Status: executor.Escalated, Actions: 1, Undone: missing("up(db)", "in_lb(api)")}))
	n.Close(t.Context())
	got := in.read()
	if len(got) != 1 || got[0].Goal != "healthy" || got[0].Host != "ops2" || strings.Join(got[0].LeftOut, "") != "in_lb(api)" {
		t.Errorf("told %+v", got)
	}
}

func TestWithoutNotifiersNothingHappens(t *testing.T) {
	n := New(nil, Options{})
	n.Event(journal.Event{})
	n.Close(t.Context())
	if err := n.CatchUp(journal.Event{}); err != nil || n != nil {
		t.Error(err)
	}
}

// An event that cannot be read is told of, and the run goes on.
func TestAnEventThatCannotBeReadIsWarnedOf(t *testing.T) {
	in := &inbox{}
	n := New([]Settings{{Name: "n", On: everything}}, Options{Warn: in.warn}).into(in.take)
	n.Event(journal.Event{Seq: 3, Kind: executor.RunEnded, Data: json.RawMessage(`{"status": 3}`)})
	n.Close(t.Context())
	if len(in.read()) != 0 || len(in.warnings) != 1 || !strings.HasPrefix(in.warnings[0], "nobody may have been told of it: event 3 (run_ended) cannot be read: ") {
		t.Errorf("told %v, warned %q", in.read(), in.warnings)
	}
}

func TestAWarningShowsNoSecret(t *testing.T) {
	in := &inbox{}
	s := Settings{Kind: "http", Name: "n", URL: "https://chat/hooks/t0ken", Headers: map[string]string{"Authorization": "Bearer abcdefgh"}, On: everything}
	n := New([]Settings{s}, Options{Warn: in.warn, Secrets: []string{"p4ssw0rd"}}).into(func(context.Context, Message, []byte) error {
		return errors.New("https://chat/hooks/t0ken: abcdefgh and p4ssw0rd\nare wrong")
	})
	n.Event(told(t, 1, executor.RunEnded, executor.Ended{Status: executor.Succeeded}))
	n.Close(t.Context())
	if want := `notify "n" was not told of succeeded: (sensitive): (sensitive) and (sensitive) are wrong`; len(in.warnings) != 1 || in.warnings[0] != want {
		t.Errorf("warned %q, want %q", in.warnings, want)
	}
}
