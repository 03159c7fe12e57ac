package server

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/planner"
)

// table says what becomes of the events of each kind.
func (m *Metrics) table() map[string]func(journal.Event) error {
	return map[string]func(journal.Event) error{
		executor.RunStarted:    decoded(m.runStarted),
		executor.Observed:      decoded(m.observed),
		executor.RoundStarted:  decoded(m.roundStarted),
		executor.AttemptMade:   decoded(m.attempt),
		executor.PlanAccepted:  decoded(m.plan),
		executor.Decided:       decoded(m.decision),
		executor.Approval:      decoded(m.approval),
		executor.StepSkipped:   decoded(m.stepSkipped),
		executor.StepWaiting:   decoded(m.stepWaiting),
		executor.StepAcquired:  decoded(m.stepAcquired),
		executor.StepRefused:   decoded(m.stepRefused),
		executor.StepArmed:     decoded(m.stepArmed),
		executor.StepFinished:  decoded(m.stepFinished),
		executor.RoundEnded:    decoded(m.roundEnded),
		executor.DoubtResolved: decoded(m.doubtResolved),
		executor.RunEnded:      decoded(m.runEnded),
	}
}

func (m *Metrics) runStarted(e journal.Event, s executor.Started) {
	for _, labels := range m.ended {
		m.runs.info.Delete(labels)
	}
	m.ended = nil
	m.infos[e.Run] = prometheus.Labels{"run": e.Run, "goal": s.Goal, "scope": s.Scope, "mode": s.Mode, "version": s.Version}
	m.runs.info.With(m.infos[e.Run]).Set(1)
	m.runs.started.WithLabelValues(schema(s.Goal)).Inc()
	m.runs.begun.Set(timestamp(e.Time))
	m.active[e.Run] = true
	m.runs.active.Set(float64(len(m.active)))
}

func (m *Metrics) observed(e journal.Event, o executor.Observation) {
	m.runs.observation.Observe(inSeconds(o.MS))
	m.runs.facts.Set(float64(o.Facts))
	m.runs.unknown.Set(float64(o.Unknown))
	m.runs.unmet.Set(float64(len(o.Missing) + o.More))
	m.runs.objects.Reset()
	for typ, n := range o.Objects {
		m.runs.objects.WithLabelValues(typ).Set(float64(n))
	}
	m.doubtful(e.Run, o.InDoubt)
}

func (m *Metrics) roundStarted(journal.Event, executor.Round) { m.planning.rounds.Inc() }

func (m *Metrics) attempt(_ journal.Event, a executor.Attempt) {
	m.beginPlanner(a.Planner)
	m.planning.attempts.WithLabelValues(a.Planner, a.Verdict).Inc()
	if a.Verdict == string(planner.Fail) {
		m.planning.critiques.WithLabelValues(a.Planner, a.Kind).Inc()
	}
	m.planning.took.WithLabelValues(a.Planner).Observe(inSeconds(a.MS))
}

// plan counts the plan, and begins the counts of its actions.
func (m *Metrics) plan(_ journal.Event, p executor.Plan) {
	m.planning.plans.WithLabelValues(p.Planner).Inc()
	m.planning.steps.Observe(float64(len(p.Steps)))
	for _, s := range p.Steps {
		m.beginStep(s)
	}
}

func (m *Metrics) decision(_ journal.Event, d executor.Decision) {
	m.runs.decisions.WithLabelValues(string(d.Point), string(d.Answer), d.Reason).Inc()
}

func (m *Metrics) approval(_ journal.Event, a executor.Approved) {
	subject := "plan"
	if a.Step != 0 {
		subject = "step"
	}
	m.runs.approvals.WithLabelValues(subject, a.Answer).Inc()
}

func (m *Metrics) roundEnded(e journal.Event, r executor.RoundEnd) {
	m.planning.failed.WithLabelValues(r.Kind).Inc()
	m.doubtful(e.Run, r.InDoubt)
}

func (m *Metrics) runEnded(e journal.Event, end executor.Ended) {
	m.runs.ended.WithLabelValues(end.Status, end.Reason).Inc()
	m.runs.duration.Observe(end.Seconds)
	m.runs.over.Set(timestamp(e.Time))
	m.runs.cost.Add(max(0, end.Cost))
	for _, ev := range end.Evidence {
		m.runs.evidence.WithLabelValues(ev.Verified).Inc()
	}
	for verified, n := range end.EvidenceMore {
		m.runs.evidence.WithLabelValues(verified).Add(float64(n))
	}
	m.runs.unmet.Set(float64(len(end.Undone) + end.UndoneMore))
	delete(m.active, e.Run)
	m.runs.active.Set(float64(len(m.active)))
	if labels, ok := m.infos[e.Run]; ok {
		m.ended = append(m.ended, labels)
		delete(m.infos, e.Run)
	}
	for id, run := range m.flying {
		if run == e.Run {
			m.landed(id)
		}
	}
}
