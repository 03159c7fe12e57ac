package server

import (
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/fettleops/fettle/journal"
)

// Metrics are the metrics of runs, folded from their events: a function of the
// journal and of nothing else. It is safe for concurrent use, also by several
// runs, of which each brings its own events in order.
type Metrics struct {
	events     *prometheus.CounterVec // by kind
	unreadable prometheus.Counter

	runs     runMetrics
	planning planningMetrics
	leases   leaseMetrics
	actions  actionMetrics

	folds map[string]func(journal.Event) error // by kind of event

	mu     sync.Mutex
	active map[string]bool                // runs under way
	ended  []prometheus.Labels            // infos that go when the next run starts
	infos  map[string]prometheus.Labels   // of the runs under way
	flying map[string]string              // run by the id of its armed action
	doubts map[string]map[string]struct{} // ids of actions in doubt, by the run that knows of them
}

// runMetrics tell of runs, of what they observe and of their ends.
type runMetrics struct {
	info        *prometheus.GaugeVec   // run, goal, scope, mode, version
	active      prometheus.Gauge       //
	started     *prometheus.CounterVec // goal
	ended       *prometheus.CounterVec // status, reason
	duration    prometheus.Histogram
	begun, over prometheus.Gauge
	evidence    *prometheus.CounterVec // verified
	cost        prometheus.Counter
	decisions   *prometheus.CounterVec // point, answer, reason
	approvals   *prometheus.CounterVec // subject, answer
	observation prometheus.Histogram
	facts       prometheus.Gauge
	unknown     prometheus.Gauge
	unmet       prometheus.Gauge
	objects     *prometheus.GaugeVec // type
}

// planningMetrics tell of rounds, attempts and plans.
type planningMetrics struct {
	rounds    prometheus.Counter
	failed    *prometheus.CounterVec   // kind
	attempts  *prometheus.CounterVec   // planner, verdict
	critiques *prometheus.CounterVec   // planner, kind
	took      *prometheus.HistogramVec // planner
	plans     *prometheus.CounterVec   // planner
	steps     prometheus.Histogram
}

// leaseMetrics tell of what is held, waited for, lost and in doubt.
type leaseMetrics struct {
	wait     *prometheus.HistogramVec // result
	waits    prometheus.Counter
	hold     prometheus.Histogram
	lost     prometheus.Counter
	inDoubt  prometheus.Gauge
	resolved *prometheus.CounterVec // action, outcome
}

// actionMetrics tell of actions and of their effects.
type actionMetrics struct {
	finished *prometheus.CounterVec   // action, outcome
	refused  *prometheus.CounterVec   // action, reason
	skipped  *prometheus.CounterVec   // action
	inFlight prometheus.Gauge         //
	took     *prometheus.HistogramVec // action
	delay    *prometheus.HistogramVec // action
	diverged *prometheus.CounterVec   // action, fluent, direction
}

// NewMetrics registers the metrics of runs. It panics where the registry has
// metrics of these names already. A nil registry registers nothing.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	f := factory{promauto.With(reg)}
	m := &Metrics{
		events:     f.counters("events_total", "Events of the journal by kind.", "kind"),
		unreadable: f.counter("unreadable_events_total", "Events of the journal that could not be read, so that other metrics lack them."),
		runs:       newRunMetrics(f), planning: newPlanningMetrics(f), leases: newLeaseMetrics(f), actions: newActionMetrics(f),
		active: map[string]bool{}, infos: map[string]prometheus.Labels{}, flying: map[string]string{}, doubts: map[string]map[string]struct{}{},
	}
	m.folds = m.table()
	m.begin()
	return m
}

// otherKind counts the events of kinds that are unknown here.
const otherKind = "other"

// Event takes one event in. One of an unknown kind is counted as "other" and
// passed over; one that cannot be read is counted as unreadable.
func (m *Metrics) Event(e journal.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	fold, ok := m.folds[e.Kind]
	if !ok {
		m.events.WithLabelValues(otherKind).Inc()
		return
	}
	m.events.WithLabelValues(e.Kind).Inc()
	e.Run = strings.ToValidUTF8(e.Run, "\uFFFD") // As labels must be.
	if err := fold(e); err != nil {
		m.unreadable.Inc()
	}
}

// decoded makes a fold of events from one of their data.
func decoded[T any](f func(journal.Event, T)) func(journal.Event) error {
	return func(e journal.Event) error {
		var v T
		if err := json.Unmarshal(e.Data, &v); err != nil {
			return err
		}
		f(e, v)
		return nil
	}
}

// schema is the name in the model of a ground atom: what a label may be.
func schema(atom string) string {
	name, _, _ := strings.Cut(atom, "(")
	return name
}

// inSeconds turns the milliseconds of an event into Prometheus's unit.
func inSeconds(ms float64) float64 { return ms / 1000 }

func timestamp(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
