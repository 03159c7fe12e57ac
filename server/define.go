package server

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// namespace begins the name of every metric.
const namespace = "fettle"

// The buckets, in seconds. Reading the world and taking leases are quick or
// broken; planning may be a search of a millisecond or a language model's
// minute; an action, a lease held for it and a wait for others may be long.
var (
	quick = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
	wide  = []float64{.001, .005, .01, .05, .1, .5, 1, 5, 10, 30, 60, 300}
	long  = []float64{.01, .05, .1, .5, 1, 5, 10, 30, 60, 300, 900, 3600}
	steps = []float64{1, 2, 3, 5, 8, 13, 21, 34, 55, 89}
)

func newRunMetrics(f factory) runMetrics {
	return runMetrics{
		info:      f.gauges("run_info", "What a run is about; 1 while it is under way, and afterwards until the next one starts.", "run", "goal", "scope", "mode", "version"),
		active:    f.gauge("runs_active", "Runs under way."),
		started:   f.counters("runs_started_total", "Runs started, by the goal's name.", "goal"),
		ended:     f.counters("runs_ended_total", "Runs ended by status and, where it is not success, reason.", "status", "reason"),
		duration:  f.histogram("run_duration_seconds", "Time from the start of a run to its end.", long),
		begun:     f.gauge("last_run_start_timestamp_seconds", "When the newest run started, in seconds since 1970."),
		over:      f.gauge("last_run_end_timestamp_seconds", "When a run last ended, in seconds since 1970; 0 before."),
		evidence:  f.counters("goal_evidence_total", "Conditions of goals at the end of runs that found them to hold, by how each was verified.", "verified"),
		cost:      f.counter("planner_cost_dollars_total", "Cost of the planners' calls of language models, counted at the end of each run."),
		decisions: f.counters("policy_decisions_total", "Answers of the policy by the point at which it was asked, answer, and reason of a no.", "point", "answer", "reason"),
		approvals: f.counters("approvals_total", "Questions put to a person by subject (plan or step) and answer (yes, no, or none where nobody could be asked).", "subject", "answer"),

		observation: f.histogram("observation_duration_seconds", "Time to observe everything at the start of a round.", quick),
		facts:       f.gauge("observed_facts", "Facts of the last observation, the unknown ones included."),
		unknown:     f.gauge("observed_unknown_facts", "Facts of the last observation whose value is unknown."),
		unmet:       f.gauge("goal_conditions_unmet", "Conditions of the goal that did not hold, or were unknown, when last looked at."),
		objects:     f.gauges("observed_objects", "Objects of the last observation by type.", "type"),
	}
}

func newPlanningMetrics(f factory) planningMetrics {
	return planningMetrics{
		rounds:    f.counter("rounds_total", "Rounds begun."),
		failed:    f.counters("rounds_failed_total", "Rounds that ended before their plan was carried out whole, by kind of failure.", "kind"),
		attempts:  f.counters("attempts_total", "Proposals of planners by what the validator said.", "planner", "verdict"),
		critiques: f.counters("critiques_total", "Proposals that the validator sent back, by kind of the first violation.", "planner", "kind"),
		took:      f.histograms("planning_duration_seconds", "Time of one proposal and its validation.", wide, "planner"),
		plans:     f.counters("plans_accepted_total", "Plans that the validator accepted.", "planner"),
		steps:     f.histogram("plan_steps", "Steps of accepted plans.", steps),
	}
}

func newLeaseMetrics(f factory) leaseMetrics {
	return leaseMetrics{
		wait:     f.histograms("lease_wait_duration_seconds", "Time from first asking for a step's leases until the request that was granted, or until they were given up.", wide, "result"),
		waits:    f.counter("lease_waits_total", "Times that a run began to wait: for others' leases, or for an unfenced action in doubt to be past its time-out."),
		hold:     f.histogram("lease_hold_duration_seconds", "Time for which a step's leases were held.", long),
		lost:     f.counter("leases_lost_total", "Leases that were lost while a step held them."),
		inDoubt:  f.gauge("intents_in_doubt", "Actions of unknown outcome that the runs know of and have not resolved."),
		resolved: f.counters("intents_resolved_total", "Actions in doubt, of any run, that were taken over and observed, by what was found.", "action", "outcome"),
	}
}

func newActionMetrics(f factory) actionMetrics {
	return actionMetrics{
		finished: f.counters("actions_total", "Actions carried out, by outcome as it was observed.", "action", "outcome"),
		refused:  f.counters("guard_refusals_total", "Steps that the guard refused, nothing being done, by reason.", "action", "reason"),
		skipped:  f.counters("steps_skipped_total", "Steps left out because every effect was seen to hold already.", "action"),
		inFlight: f.gauge("actions_in_flight", "Actions armed, so that they may be under way, and not yet finished."),
		took:     f.histograms("action_duration_seconds", "Time that actuators took to carry an action out.", long, "action"),
		delay:    f.histograms("effect_delay_seconds", "Time from the end of an action to the sample in which an effect was seen.", wide, "action"),
		diverged: f.counters("effect_divergences_total",
			"Effects on which actuator and observation disagreed: unseen after an action said to be done, or unannounced after one said to have failed.",
			"action", "fluent", "direction"),
	}
}

// factory makes metrics of our namespace in one registry.
type factory struct{ auto promauto.Factory }

func (f factory) counter(name, help string) prometheus.Counter {
	return f.auto.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help})
}

func (f factory) counters(name, help string, labels ...string) *prometheus.CounterVec {
	return f.auto.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
}

func (f factory) gauge(name, help string) prometheus.Gauge {
	return f.auto.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help})
}

func (f factory) gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	return f.auto.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, labels)
}

func (f factory) histogram(name, help string, buckets []float64) prometheus.Histogram {
	return f.auto.NewHistogram(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets})
}

func (f factory) histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return f.auto.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}, labels)
}
