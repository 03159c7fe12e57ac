package executor

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/lease"
)

// conditionsOf lists conditions that do not hold, "?" before those not known to.
func conditionsOf(missing []Missing) []string {
	var out []string
	for _, m := range missing {
		text := m.Condition
		if m.Unknown {
			text = "?" + text
		}
		out = append(out, text)
	}
	return out
}

// TestAKilledRunThatIsCancelledSaysWhatItLeft: a service is down by its own
// confirmed step, and what the action in doubt writes is not known. A replay
// derives the same.
func TestAKilledRunThatIsCancelledSaysWhatItLeft(t *testing.T) {
	killed := killAt(t, setup{}, StepArmed, "mend(api)", nil)
	id := killed.events[0].Run
	next, _ := killed.next(setup{})
	k := canceller(next)
	k.Model = func(string, string, *RecordedModel) (ReplayModel, error) { return next.judging(), nil }
	end, err := k.Cancel(testCtx(t), id, byEve)
	must(t, err)
	if got := conditionsOf(end.Undone); !slices.Equal(got, []string{"up(api)", "?ok(api)"}) && !slices.Equal(got, []string{"?ok(api)", "up(api)"}) {
		t.Errorf("left undone %v", got)
	}
	if end.LastSeen == nil || end.Unseen != "" {
		t.Errorf("seen last %v, %q", end.LastSeen, end.Unseen)
	}
	if !slices.Contains(end.Owed, "decide what becomes of what is worse than it was: up(api)") {
		t.Errorf("owed %q", end.Owed)
	}

	next.events = killed.events
	src := next.source()
	all, err := eventsOf(testCtx(t), next.journal(), id)
	must(t, err)
	src.Events = func(yield func(journal.Event, error) bool) {
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
	}
	if out := next.replayed(src); len(out.Differs) > 0 {
		t.Errorf("derived otherwise: %+v", out.Differs)
	}
	at := len(all) - 1
	all[at].Data = []byte(strings.Replace(string(all[at].Data), `"unknown":true,`, "", 1))
	if out := next.replayed(src); len(out.Differs) == 0 || out.Differs[0].Part != "undone" {
		t.Errorf("tampered with, and not derived otherwise: %+v", out.Differs)
	}
}

func TestWithoutItsModelNobodyKnowsWhatAKilledRunLeft(t *testing.T) {
	killed := killAt(t, setup{}, StepArmed, "mend(api)", nil)
	next, _ := killed.next(setup{})
	k := canceller(next)
	k.Model = func(string, string, *RecordedModel) (ReplayModel, error) {
		return ReplayModel{}, errors.New("it is gone")
	}
	end, err := k.Cancel(testCtx(t), killed.events[0].Run, byEve)
	must(t, err)
	const want = "the process that drove the run ended without a word, and what it had seen is not known: it is gone"
	if end.Unseen != want || len(end.Undone) > 0 || !slices.Contains(end.Owed, "look at how the run left the world: "+want) {
		t.Errorf("ended %+v", end)
	}
}

// TestWhatAPersonSaysOfADoubtIsInTheRun: at once where no process drives it; by
// the process that does otherwise.
func TestWhatAPersonSaysOfADoubtIsInTheRun(t *testing.T) {
	for _, driven := range []bool{false, true} {
		killed := killAt(t, setup{}, StepArmed, "mend(api)", nil)
		id := killed.events[0].Run
		killed.yard.set(func() { killed.yard.ok["api"] = true })
		next, _ := killed.next(setup{})
		resolve := func() (untold string) {
			in := next.intents()[0]
			_, untold, err := Resolver{Locker: next.other(), Journal: next.journal()}.Resolve(testCtx(t), in, lease.Applied, Word{By: "ann", Reason: "seen"})
			must(t, err)
			return untold
		}
		if driven {
			next.see = func(kind string, _ journalEvent) {
				if kind == RunResumed && !strings.HasPrefix(resolve(), "a process drives the run") {
					t.Error("the record was written beside the process that drives the run")
				}
			}
		} else if untold := resolve(); untold != "" {
			t.Errorf("untold: %s", untold)
		}
		next.ends(next.resume(id), Succeeded, "")
		all, err := eventsOf(testCtx(t), next.journal(), id)
		must(t, err)
		var said []Resolved
		for _, e := range all {
			if e.Kind == DoubtResolved {
				said = append(said, decoded[Resolved](next, e))
			}
		}
		if len(said) != 1 || said[0].By != "ann" || said[0].Reason != "seen" || said[0].Outcome != applied || said[0].ActionID != id+"-002" {
			t.Errorf("driven %v: the journal tells %+v", driven, said)
		}
	}
}

func TestWhatIsWorseThanItWas(t *testing.T) {
	missing := func(all ...string) (out []Missing) {
		for _, c := range all {
			name, unknown := strings.CutPrefix(c, "?")
			out = append(out, Missing{Condition: name, Unknown: unknown})
		}
		return out
	}
	for name, c := range map[string]struct {
		first         *Observation
		end           Ended
		worse, unsure string
		unknown       string
	}{
		"nothing was done":       {nil, Ended{Undone: missing("a")}, "", "", ""},
		"it held":                {&Observation{Missing: missing("b")}, Ended{Actions: 1, Undone: missing("a", "b", "?c")}, "a", "", "c"},
		"too many were missing":  {&Observation{Missing: missing("b"), More: 1}, Ended{Actions: 1, Undone: missing("a", "b")}, "", "more conditions did not hold when the run began than are on record", ""},
		"those were all missing": {&Observation{Missing: missing("b"), More: 1}, Ended{Actions: 1, Undone: missing("b")}, "", "", ""},
		"too many are missing":   {&Observation{}, Ended{Actions: 1, Undone: missing("a"), UndoneMore: 2}, "a", "2 conditions that do not hold are not on record", ""},
		"nobody looked":          {nil, Ended{Actions: 1}, "", "what held when the run began is not known", ""},
		"nobody saw":             {&Observation{}, Ended{Actions: 1, Unseen: "why"}, "", "why", ""},
	} {
		w := Worse(c.first, c.end)
		if few(w.Conditions) != c.worse || w.Unsure != c.unsure || few(w.Unknown) != c.unknown {
			t.Errorf("%s: %+v", name, w)
		}
	}
}

// A run that waits has a person owe what it left worse, too.
func TestARunThatWaitsOwesWhatIsWorse(t *testing.T) {
	first := &Observation{}
	for status, want := range map[string]string{
		WaitingStatus: "go on with it, or put back what is worse: up(api)", Cancelled: "decide what becomes of what is worse than it was: up(api)",
	} {
		e := Ended{Status: status, Actions: 1, Undone: []Missing{{Condition: "up(api)"}}}
		e.oweWorse(first)
		if !slices.Equal(e.Owed, []string{want}) {
			t.Errorf("%s: owed %q", status, e.Owed)
		}
	}
}
