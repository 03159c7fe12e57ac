package server

import (
	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/policy"
	"github.com/fettleops/fettle/validator"
)

// A counter that is first seen at 1 has not increased, as far as Prometheus can
// tell: increase() and rate() miss the first event, and of what is worth an alert
// that one is the most important. So every series begins at zero as soon as its
// labels are known: some with the process, some with a plan or an attempt. A word
// that is missing here is counted all the same, from its first event on.

// The words of labels, as the executor writes them.
var (
	outcomes  = []string{"applied", "not_applied", diverged, "unknown"}
	findings  = []string{"applied", "not_applied", "unknown"} // of an action in doubt
	grades    = []string{"observed", "derived", "assumed"}
	seenAs    = []string{"unseen", "unannounced"} // of an effect on which actuator and observation disagree
	breaches  = []validator.Kind{validator.Precondition, validator.UnknownValue, validator.EffectConflict, validator.Invariant, validator.Policy, validator.Goal}
	slips     = []validator.Kind{validator.Syntax, validator.UnknownAction, validator.WrongArity, validator.UnknownObject, validator.WrongType}
	noPlan    = []string{string(planner.NoPlan), string(planner.Unsolvable), string(planner.Unobservable), string(planner.Exhausted)}
	hindrance = []string{"approval", "busy", "fence", "in_doubt", "infrastructure", "lease", "observe", policy.Paused, "raise", "stopped", "taken_over"}
)

// ends are the reasons with which runs end, by status.
var ends = map[string][]string{
	executor.Succeeded:     {""},
	executor.Cancelled:     {""},
	executor.FailedStatus:  {policy.Errors},
	executor.WaitingStatus: {"approval", policy.Busy, policy.Paused},
	executor.Escalated: {
		policy.Rounds, policy.Budget, policy.Deadline, policy.NoProgress, policy.Denied, "rejected", "in_doubt", executor.LeaseLost,
		string(planner.Unsolvable), string(planner.Unobservable), string(planner.Exhausted),
	},
}

// answers are the policy's, with the reasons that each is given for.
var answers = map[policy.Answer][]string{
	policy.Continue:   {""},
	policy.Checkpoint: {policy.Busy, policy.Paused},
	policy.Stop:       {policy.Rounds, policy.Budget, policy.Deadline, policy.NoProgress, policy.Denied, policy.Errors},
}

// begin begins what is known from the start at zero.
func (m *Metrics) begin() {
	m.events.WithLabelValues(otherKind)
	for kind := range m.folds {
		m.events.WithLabelValues(kind)
	}
	for status, reasons := range ends {
		for _, reason := range reasons {
			m.runs.ended.WithLabelValues(status, reason)
		}
	}
	for _, point := range []policy.Point{policy.PointAttempt, policy.PointCall, policy.PointAction, policy.PointRetry, policy.PointRound} {
		for answer, reasons := range answers {
			for _, reason := range reasons {
				m.runs.decisions.WithLabelValues(string(point), string(answer), reason)
			}
		}
	}
	for _, subject := range []string{"plan", "step"} {
		for _, answer := range []string{"yes", "no", "none"} {
			m.runs.approvals.WithLabelValues(subject, answer)
		}
	}
	for _, v := range grades {
		m.runs.evidence.WithLabelValues(v)
	}
	for _, kind := range append(append(append(words(breaches), hindrance...), noPlan...), outcomes[1:]...) {
		m.planning.failed.WithLabelValues(kind)
	}
	for _, result := range []string{granted, givenUp} {
		m.leases.wait.WithLabelValues(result)
	}
}

// beginPlanner begins what is counted of a planner.
func (m *Metrics) beginPlanner(name string) {
	for _, verdict := range []planner.Outcome{planner.Pass, planner.Fail, planner.Error, planner.NeedsPerson} {
		m.planning.attempts.WithLabelValues(name, string(verdict))
	}
	for _, kind := range append(append(words(breaches), words(slips)...), string(planner.NoPlan), string(planner.Repeat)) {
		m.planning.critiques.WithLabelValues(name, kind)
	}
	m.planning.plans.WithLabelValues(name)
}

// beginStep begins what is counted of a step's action, before anything of it is
// carried out.
func (m *Metrics) beginStep(s executor.PlannedStep) {
	action := schema(s.Action)
	for _, outcome := range outcomes {
		m.actions.finished.WithLabelValues(action, outcome)
	}
	for _, reason := range append(words(breaches), hindrance...) {
		m.actions.refused.WithLabelValues(action, reason)
	}
	for _, outcome := range findings {
		m.leases.resolved.WithLabelValues(action, outcome)
	}
	for _, e := range s.Effects {
		for _, direction := range seenAs {
			m.actions.diverged.WithLabelValues(action, schema(e.Fluent), direction)
		}
	}
	m.actions.skipped.WithLabelValues(action)
	m.actions.took.WithLabelValues(action)
	m.actions.delay.WithLabelValues(action)
}

func words[T ~string](of []T) []string {
	out := make([]string, len(of))
	for i, w := range of {
		out[i] = string(w)
	}
	return out
}
