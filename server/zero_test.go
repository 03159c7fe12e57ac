package server

import (
	"slices"
	"testing"

	dto "github.com/prometheus/client_model/go"

	"github.com/fettleops/fettle/executor"
)

// counted lists the series of counters and histograms.
func (r *rig) counted() map[string]bool {
	r.Helper()
	out := map[string]bool{}
	for _, mf := range r.families() {
		if mf.GetType() == dto.MetricType_GAUGE {
			continue
		}
		for _, m := range mf.GetMetric() {
			name := mf.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetName() + "=" + l.GetValue()
			}
			out[name] = true
		}
	}
	return out
}

// An increase from nothing is not seen by Prometheus. Goals, planners and
// actions are known by their names once a run, an attempt and a plan tell them.
func TestNoSeriesBeginsWithTheEventThatItCounts(t *testing.T) {
	telling := []string{executor.RunStarted, executor.AttemptMade, executor.PlanAccepted}
	for _, file := range recordings(t) {
		r := newRig(t)
		for _, e := range recorded(t, file) {
			before := r.counted()
			r.Event(e)
			if slices.Contains(telling, e.Kind) {
				continue
			}
			for name := range r.counted() {
				if !before[name] {
					t.Errorf("%s: %s began with %s", file, name, e.Kind)
				}
			}
		}
	}
}

func TestWhatAnAlertAsksForIsThereBeforeItHappens(t *testing.T) {
	r := newRig(t)
	r.fold(events(t, []byte(`{"run":"A","kind":"plan","data":{"planner":"search","steps":[{"action":"stop(api)","effects":[{"fluent":"up(api)","to":false}]}]}}`)))
	got := r.counted()
	for _, name := range []string{
		"fettle_effect_divergences_total action=stop direction=unseen fluent=up",
		"fettle_effect_divergences_total action=stop direction=unannounced fluent=up",
		"fettle_guard_refusals_total action=stop reason=precondition",
		"fettle_guard_refusals_total action=stop reason=unknown_value",
		"fettle_guard_refusals_total action=stop reason=fence",
		"fettle_actions_total action=stop outcome=unknown",
		"fettle_intents_resolved_total action=stop outcome=applied",
		"fettle_runs_ended_total reason=lease_lost status=escalated",
		"fettle_runs_ended_total reason=error status=failed",
		"fettle_policy_decisions_total answer=stop point=round reason=no_progress",
		"fettle_events_total kind=other",
	} {
		if !got[name] {
			t.Errorf("there is no %s", name)
		}
	}
}
