package executor

import (
	"bufio"
	"encoding/json"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/model/load"
	"github.com/fettleops/fettle/policy"
)

// golden is a run that a former version wrote, and the folder of its model.
type golden struct {
	name, model string
	decisions   int
}

// goldens are as `fettle show -o jsonl` exported them. They are never written
// anew: what was written once can be read for ever.
var goldens = []golden{
	{"coordinated", "coordinated", 46},
	{"reboot-again", "node-reboot", 85},
	{"failover-in-doubt", "postgres-failover", 28},
	{"failover-resumed", "postgres-failover", 42},
}

const goldenFolder = "testdata/journal-v1"

func goldenEvents(t testing.TB, name string) []journal.Event {
	t.Helper()
	f, err := os.Open(filepath.Join(goldenFolder, name+".jsonl"))
	must(t, err)
	defer f.Close()
	var out []journal.Event
	for dec := json.NewDecoder(bufio.NewReader(f)); dec.More(); {
		var e journal.Event
		must(t, dec.Decode(&e))
		out = append(out, e)
	}
	return out
}

// goldenModel reads the model of a former run.
func goldenModel(t testing.TB, name, goal string) (ReplayModel, string) {
	t.Helper()
	l, diags := load.Model(filepath.Join(goldenFolder, name), load.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	p, diags := policy.Decode(l.Policy.Body, l.Eval, l.Policy.Range)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	m := ReplayModel{Universe: model.NewUniverse(l.Model), Goal: l.Model.Goal(goal), Policy: p, Settings: map[*model.Action]Settings{}}
	for a, at := range l.Actions {
		m.Settings[a] = Settings{Timeout: at.Timeout, Risk: at.Risk}
	}
	return m, l.Hash
}

// goldenSource is a former run for a replay.
func goldenSource(t testing.TB, model string, events []journal.Event) ReplaySource {
	return ReplaySource{
		Events: eachOf(events), Version: "0.5", // Its sentences are still those of today.
		Model: func(goal, _ string, _ *RecordedModel) (ReplayModel, error) {
			m, _ := goldenModel(t, model, goal)
			return m, nil
		},
	}
}

func eachOf(events []journal.Event) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// TestJournalsOfFormerVersionsAreReplayed promises that what a former version
// wrote is read, each decision of it derived again, and found to be the same.
// Sentences may be put otherwise by now.
func TestJournalsOfFormerVersionsAreReplayed(t *testing.T) {
	for _, g := range goldens {
		t.Run(g.name, func(t *testing.T) {
			events := goldenEvents(t, g.name)
			src := goldenSource(t, g.model, events)
			src.Version = "of another version"
			out, err := Replay(t.Context(), src)
			must(t, err)
			for _, d := range out.Differs {
				t.Errorf("%+v", d)
			}
			if out.Decisions != g.decisions || out.Events != len(events) || !out.Whole {
				t.Errorf("%+v", out)
			}
			again, err := Replay(t.Context(), src)
			must(t, err)
			if a, b := told(out), told(again); a != b {
				t.Errorf("a second replay says\n%s\nthe first\n%s", b, a)
			}
		})
	}
}

// TestWhatAnotherVersionWroteIsPassedOver promises that events and fields that
// this version does not know change nothing, and are counted.
func TestWhatAnotherVersionWroteIsPassedOver(t *testing.T) {
	g := goldens[0]
	events := goldenEvents(t, g.name)
	last := len(events) - 1
	events = slices.Insert(events, last, journal.Event{Seq: events[last].Seq - 1, Run: events[0].Run, Kind: "telepathy", Data: json.RawMessage(`{"of":"the future"}`)})
	for i := range events {
		var data map[string]any
		must(t, json.Unmarshal(events[i].Data, &data))
		data["novelty"] = map[string]any{"x": 1}
		events[i].Data = encoded(t, data)
	}
	out, err := Replay(t.Context(), goldenSource(t, g.model, events))
	must(t, err)
	if len(out.Differs) > 0 || out.Decisions != g.decisions || out.Unknown["telepathy"] != 1 {
		t.Errorf("%+v", out)
	}
}

// TestWhatAnOlderVersionDidNotRecordIsNoDifference promises that a field which is
// not there at all is passed over, and counted.
func TestWhatAnOlderVersionDidNotRecordIsNoDifference(t *testing.T) {
	for _, g := range goldens {
		events := goldenEvents(t, g.name)
		for i := range events {
			var data map[string]any
			must(t, json.Unmarshal(events[i].Data, &data))
			for _, name := range []string{"tried_key", "resources", "reasons", "objects", "max_rounds", "next"} {
				delete(data, name)
			}
			if progress, ok := data["progress"].(map[string]any); ok {
				delete(progress, "repeats")
				delete(progress, "errors")
				delete(progress, "rounds_no_evidence")
			}
			events[i].Data = encoded(t, data)
		}
		out, err := Replay(t.Context(), goldenSource(t, g.model, events))
		must(t, err)
		if len(out.Differs) > 0 || out.Decisions != g.decisions || out.Taken["fields that an older version did not record"] == 0 {
			t.Errorf("%s: %+v", g.name, out)
		}
	}
}

// TestEventsThatAreNoRunAreRefused promises an error, and no answer, where the
// events are not those of a run.
func TestEventsThatAreNoRunAreRefused(t *testing.T) {
	events := goldenEvents(t, goldens[0].name)
	broken := slices.Clone(events)
	broken[3].Data = json.RawMessage(`{"round":"one"}`)
	for name, tt := range map[string]struct {
		events []journal.Event
		want   string
	}{
		"none":          {nil, "there is no run_started among the events: this is no run"},
		"no beginning":  {events[1:], "event 2 (observed): it comes before run_started"},
		"two runs":      {append(events[:1:1], events...), "event 1 (run_started): it comes a second time"},
		"not its shape": {broken, "event 4 (round_started): cannot be read: json: cannot unmarshal string into Go struct field Round.round of type int"},
	} {
		_, err := Replay(t.Context(), goldenSource(t, goldens[0].model, tt.events))
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: error %v, want %s", name, err, tt.want)
		}
	}
}

func encoded(t testing.TB, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	must(t, err)
	return raw
}
