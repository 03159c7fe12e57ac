package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/journal"
)

// TestExpositionOfRecordedRuns promises, to the byte, what a scrape would show
// after runs that the executor carried out, one after another.
func TestExpositionOfRecordedRuns(t *testing.T) {
	r := newRig(t)
	for _, file := range recordings(t) {
		r.fold(recorded(t, file))
	}
	var got bytes.Buffer
	for _, mf := range r.families() {
		if _, err := expfmt.MetricFamilyToText(&got, mf); err != nil {
			t.Fatal(err)
		}
	}
	const golden = "testdata/recordings.prom"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	g, w := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			t.Fatalf("line %d differs (-update rewrites %s):\n got %q\nwant %q", i+1, golden, g[min(i, len(g)-1)], w[min(i, len(w)-1)])
		}
	}
}

func TestEveryKindOfEventIsRecordedAndUnderstood(t *testing.T) {
	r := newRig(t)
	missing := r.table()
	for _, file := range recordings(t) {
		for _, e := range recorded(t, file) {
			if _, ok := r.folds[e.Kind]; !ok {
				t.Errorf("%s: no fold for %s", file, e.Kind)
			}
			delete(missing, e.Kind)
			r.Event(e)
		}
	}
	for kind := range missing {
		t.Errorf("no recording has the event %s", kind)
	}
	if n := r.value("fettle_unreadable_events_total"); n != 0 {
		t.Errorf("%v events could not be read", n)
	}
}

func TestNamesAreAsPrometheusWantsThem(t *testing.T) {
	r := newRig(t)
	for _, file := range recordings(t) {
		r.fold(recorded(t, file))
	}
	problems, err := promlint.NewWithMetricFamilies(r.families()).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// TestWhatTheRecordingsSay checks by hand what matters most of each.
func TestWhatTheRecordingsSay(t *testing.T) {
	for _, tt := range []struct {
		file, name string
		labels     []string
		want       float64
	}{
		{"busy", "fettle_guard_refusals_total", []string{"action", "stop", "reason", "busy"}, 1},
		{"busy", "fettle_lease_wait_duration_seconds", []string{"result", "given_up"}, 1},
		{"busy", "fettle_lease_wait_duration_seconds", []string{"result", "granted"}, 0},
		{"busy", "fettle_lease_hold_duration_seconds", nil, 0},
		{"busy", "fettle_runs_ended_total", []string{"status", "waiting", "reason", "busy"}, 1},
		{"busy", "fettle_actions_total", []string{"action", "stop", "outcome", "applied"}, 0},
		{"waited", "fettle_lease_waits_total", nil, 1},
		{"waited", "fettle_lease_wait_duration_seconds", []string{"result", "granted"}, 3},
		{"waited", "fettle_lease_hold_duration_seconds", nil, 3},
		{"critique", "fettle_critiques_total", []string{"planner", "file", "kind", "precondition"}, 3},
		{"critique", "fettle_attempts_total", []string{"planner", "file", "verdict", "fail"}, 3},
		{"critique", "fettle_planning_duration_seconds", []string{"planner", "file"}, 3},
		{"critique", "fettle_rounds_total", nil, 3},
		{"critique", "fettle_rounds_failed_total", []string{"kind", "no_plan"}, 3},
		{"critique", "fettle_policy_decisions_total", []string{"point", "round", "answer", "stop", "reason", "no_progress"}, 1},
		{"critique", "fettle_goal_conditions_unmet", nil, 1},
		{"in_doubt", "fettle_intents_in_doubt", nil, 1},
		{"in_doubt", "fettle_leases_lost_total", nil, 1},
		{"in_doubt", "fettle_actions_total", []string{"action", "mend", "outcome", "unknown"}, 1},
		{"in_doubt", "fettle_runs_ended_total", []string{"status", "cancelled", "reason", ""}, 1},
		{"in_doubt", "fettle_actions_in_flight", nil, 0},
		{"lease_lost", "fettle_leases_lost_total", nil, 1},
		{"lease_lost", "fettle_intents_in_doubt", nil, 0},
		{"lease_lost", "fettle_intents_resolved_total", []string{"action", "mend", "outcome", "not_applied"}, 1},
		{"lease_lost", "fettle_lease_hold_duration_seconds", nil, 5}, // That of the take-over too.
		{"lease_lost", "fettle_goal_evidence_total", []string{"verified", "observed"}, 4},
		{"refused", "fettle_guard_refusals_total", []string{"action", "mend", "reason", "precondition"}, 1},
		{"refused", "fettle_leases_lost_total", nil, 0},
		{"refused", "fettle_lease_wait_duration_seconds", []string{"result", "given_up"}, 0},
		{"rejected", "fettle_approvals_total", []string{"subject", "plan", "answer", "no"}, 1},
		{"rejected", "fettle_runs_ended_total", []string{"status", "escalated", "reason", "rejected"}, 1},
		{"skipped", "fettle_steps_skipped_total", []string{"action", "mend"}, 1},
		{"skipped", "fettle_lease_hold_duration_seconds", nil, 1}, // It was skipped before any lease was taken.
		{"unannounced", "fettle_effect_divergences_total", []string{"action", "mend", "fluent", "ok", "direction", "unannounced"}, 1},
		{"unseen", "fettle_effect_divergences_total", []string{"action", "mend", "fluent", "ok", "direction", "unseen"}, 2},
		{"unseen", "fettle_actions_total", []string{"action", "mend", "outcome", "diverged"}, 2},
		{"unseen", "fettle_effect_delay_seconds", []string{"action", "mend"}, 0},
		{"unseen", "fettle_effect_delay_seconds", []string{"action", "stop"}, 1},
		{"unseen", "fettle_observation_duration_seconds", nil, 3},
		{"unseen", "fettle_observed_facts", nil, 4},
		{"unseen", "fettle_run_duration_seconds", nil, 1},
	} {
		r := newRig(t)
		r.fold(recorded(t, "testdata/"+tt.file+".jsonl"))
		if got := r.value(tt.name, tt.labels...); got != tt.want {
			t.Errorf("%s: %s %v is %v, want %v", tt.file, tt.name, tt.labels, got, tt.want)
		}
	}
}

// TestWhileARunIsUnderWay follows the gauges that a scrape in the middle shows.
func TestWhileARunIsUnderWay(t *testing.T) {
	r := newRig(t)
	var flying, doubtful []string
	for _, e := range recorded(t, "testdata/lease_lost.jsonl") {
		r.Event(e)
		if e.Kind == executor.RunEnded {
			break
		}
		if n := r.value("fettle_runs_active"); n != 1 {
			t.Errorf("after %s %v runs are active", e.Kind, n)
		}
		if r.value("fettle_actions_in_flight") == 1 {
			flying = append(flying, e.Kind)
		}
		if r.value("fettle_intents_in_doubt") == 1 {
			doubtful = append(doubtful, e.Kind)
		}
	}
	if want := slices.Repeat([]string{executor.StepArmed}, 4); !slices.Equal(flying, want) {
		t.Errorf("in flight after %v, want %v", flying, want)
	}
	if want := []string{executor.RoundEnded}; !slices.Equal(doubtful, want) {
		t.Errorf("in doubt after %v, want %v", doubtful, want)
	}
	if n := r.value("fettle_runs_active"); n != 0 {
		t.Errorf("%v runs are active after the end", n)
	}
}

func TestALostLeaseOfARefusedStepCounts(t *testing.T) {
	r := newRig(t)
	r.fold(events(t, []byte(`{"run":"A","kind":"step_armed","data":{"action":"stop(api)","action_id":"A-001"}}
{"run":"A","kind":"step_refused","data":{"action":"stop(api)","action_id":"A-001","kind":"lease","fence":7,"lost":true,"held_ms":1500,"ms":1600}}`)))
	for name, want := range map[string]float64{
		"fettle_leases_lost_total": 1, "fettle_lease_hold_duration_seconds": 1, "fettle_actions_in_flight": 0,
	} {
		if got := r.value(name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

func TestDoubtsOfSeveralRunsCountOnce(t *testing.T) {
	r := newRig(t)
	round := func(run string, ids ...string) {
		raw, err := json.Marshal(executor.RoundEnd{InDoubt: ids})
		if err != nil {
			t.Fatal(err)
		}
		r.Event(journal.Event{Run: run, Kind: executor.RoundEnded, Data: raw})
	}
	is := func(want float64) {
		t.Helper()
		if got := r.value("fettle_intents_in_doubt"); got != want {
			t.Errorf("%v in doubt, want %v", got, want)
		}
	}
	round("A", "A-001", "A-002")
	round("B", "A-001", "B-001")
	is(3)
	r.fold(events(t, []byte(`{"run":"B","kind":"doubt_resolved","data":{"action_id":"A-001","action":"stop(api)","outcome":"applied"}}`)))
	is(2)
	round("A")
	is(1)
}

func TestTheInfoOfAnEndedRunGoesWhenTheNextStarts(t *testing.T) {
	r := newRig(t)
	runs := func() (names []string) {
		for _, mf := range r.families() {
			if mf.GetName() != "fettle_run_info" {
				continue
			}
			for _, m := range mf.GetMetric() {
				for _, l := range m.GetLabel() {
					if l.GetName() == "run" {
						names = append(names, l.GetValue())
					}
				}
			}
		}
		return names
	}
	tell := func(run, kind string) { r.Event(journal.Event{Run: run, Kind: kind, Data: []byte("{}")}) }
	for _, tt := range []struct {
		run, kind string
		want      []string
	}{
		{"A", executor.RunStarted, []string{"A"}},
		{"B", executor.RunStarted, []string{"A", "B"}},
		{"A", executor.RunEnded, []string{"A", "B"}},
		{"C", executor.RunStarted, []string{"B", "C"}},
	} {
		tell(tt.run, tt.kind)
		if got := runs(); !slices.Equal(got, tt.want) {
			t.Errorf("after %s of %s: runs %v, want %v", tt.kind, tt.run, got, tt.want)
		}
	}
}

// TestSeriesDoNotGrowWithObjects replays runs about ever other objects: there
// are as many series as before.
func TestSeriesDoNotGrowWithObjects(t *testing.T) {
	r := newRig(t)
	series := func() (n int) {
		for _, mf := range r.families() {
			n += len(mf.GetMetric())
		}
		return n
	}
	var first int
	for i := range 20 {
		for _, file := range recordings(t) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			raw = bytes.ReplaceAll(raw, []byte("(api)"), fmt.Appendf(nil, "(api%d)", i))
			raw = bytes.ReplaceAll(raw, []byte(`"run":"01`), fmt.Appendf(nil, `"run":"%d-`, i))
			r.fold(events(t, raw))
		}
		if i == 0 {
			first = series()
		}
	}
	if now := series(); now != first {
		t.Errorf("%d series after one time, %d after twenty", first, now)
	}
}

func TestUnreadableAndUnknownEventsAreCounted(t *testing.T) {
	r := newRig(t)
	r.Event(journal.Event{Kind: "step_armed", Data: []byte(`{"fence": "high"}`)})
	r.Event(journal.Event{Kind: "step_armed"})
	r.Event(journal.Event{Kind: "something_new", Data: []byte(`{}`)})
	r.Event(journal.Event{Kind: "something_newer", Data: []byte(`{`)})
	for _, tt := range []struct {
		name   string
		labels []string
		want   float64
	}{
		{"fettle_unreadable_events_total", nil, 2},
		{"fettle_events_total", []string{"kind", "step_armed"}, 2},
		{"fettle_events_total", []string{"kind", "other"}, 2},
		{"fettle_actions_in_flight", nil, 0},
	} {
		if got := r.value(tt.name, tt.labels...); got != tt.want {
			t.Errorf("%s %v is %v, want %v", tt.name, tt.labels, got, tt.want)
		}
	}
}

func TestRunsAndScrapesAtOneTime(t *testing.T) {
	r := newRig(t)
	all := recorded(t, "testdata/lease_lost.jsonl")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for _, e := range all {
				e.Run = fmt.Sprint("run", i)
				r.Event(e)
				if _, err := r.reg.Gather(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := r.value("fettle_runs_ended_total", "status", "succeeded", "reason", ""); n != 8 {
		t.Errorf("%v runs ended, want 8", n)
	}
	if n := r.value("fettle_runs_active"); n != 0 {
		t.Errorf("%v runs are active, want none", n)
	}
}

func TestTwoMetricsNeedTwoRegistries(t *testing.T) {
	reg := prometheus.NewRegistry()
	NewMetrics(reg)
	NewMetrics(prometheus.NewRegistry())
	NewMetrics(nil)
	defer func() {
		if recover() == nil {
			t.Error("one registry took the metrics twice")
		}
	}()
	NewMetrics(reg)
}

// FuzzEvent promises that no event, whatever is in it, breaks a scrape.
func FuzzEvent(f *testing.F) {
	seen := map[string]bool{}
	for _, file := range recordings(f) {
		for _, e := range recorded(f, file) {
			if !seen[e.Kind] {
				seen[e.Kind] = true
				f.Add(e.Run, e.Kind, []byte(e.Data))
			}
		}
	}
	f.Add("\xff", "run_started", []byte(`{"goal": "healthy"}`))
	f.Add("A", "run_ended", []byte(`{"cost_usd": -1e308, "seconds": -5}`))
	f.Fuzz(func(t *testing.T, run, kind string, data []byte) {
		r := newRig(t)
		for range 2 {
			r.Event(journal.Event{Time: time.Unix(0, 0), Run: run, Kind: kind, Data: data})
		}
		r.families()
	})
}
