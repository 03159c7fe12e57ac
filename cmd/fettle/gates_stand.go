package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/policy"
)

// stand is where a run stands by its journal: what it does, and since when.
type stand struct {
	at, what string
	since    time.Time
	last     time.Time // of the last event

	rounds, actions int // begun

	mode    string
	plan    executor.Plan   // the last one that was accepted
	asked   *executor.Asked // the question that waits; nil: none does
	askedAt time.Time
	opens   time.Time // when what the policy has against it goes by itself, where it does
	ended   executor.Ended
	endedAt time.Time
}

// event takes an event in. Kinds and fields that are not known are passed over.
func (s *stand) event(e journal.Event) error {
	s.last = e.Time
	fold, ok := map[string]func(json.RawMessage, time.Time) error{
		executor.RunStarted: decoded(func(d executor.Started, at time.Time) {
			s.mode = d.Mode
			s.is(atObserving, "the world is observed", at)
		}),
		executor.RunResumed:     decoded(func(_ executor.Resumed, at time.Time) { s.is(atObserving, "gone on with; the world is observed", at) }),
		executor.Observed:       decoded(func(_ executor.Observation, at time.Time) { s.looked(at) }),
		executor.RoundStarted:   decoded(s.round),
		executor.AttemptMade:    decoded(s.attempt),
		executor.Decided:        decoded(s.decided),
		executor.PlanAccepted:   decoded(s.accepted),
		executor.ApprovalAsked:  decoded(s.posed),
		executor.Approval:       decoded(s.approval),
		executor.StepWaiting:    decoded(s.waiting),
		executor.StepAcquired:   decoded(func(d executor.Acquired, at time.Time) { s.step(d.StepRef, "is observed for, under its leases", at) }),
		executor.StepArmed:      decoded(s.armed),
		executor.StepFinished:   decoded(func(d executor.Finished, at time.Time) { s.step(d.StepRef, "has ended: "+d.Outcome, at) }),
		executor.StepRefused:    decoded(func(d executor.Refused, at time.Time) { s.step(d.StepRef, "was refused: "+d.Reason, at) }),
		executor.StepSkipped:    decoded(func(d executor.Skipped, at time.Time) { s.step(d.StepRef, "was skipped", at) }),
		executor.RoundEnded:     decoded(func(d executor.RoundEnd, at time.Time) { s.is(atObserving, "a round has ended: "+d.Reason, at) }),
		executor.RestorePlanned: decoded(func(_ executor.RestorePlan, at time.Time) { s.is(atRestoring, "it goes back to where it began", at) }),
		executor.RunEnded:       decoded(func(d executor.Ended, at time.Time) { s.ended, s.endedAt = d, at }),
		executor.LimitShared:    decoded(func(d executor.SharedLimit, _ time.Time) { s.opens = d.Until }),
		executor.RulesAsked:     decoded(s.ruled),
	}[e.Kind]
	if !ok {
		return nil
	}
	if err := fold(e.Data, e.Time); err != nil {
		return fmt.Errorf("event %d (%s) cannot be read: %w", e.Seq, e.Kind, err)
	}
	return nil
}

func (s *stand) is(at, what string, since time.Time) {
	s.at, s.what, s.since = at, what, since
}

// looked notes an observation, by which a wait for others does not end.
func (s *stand) looked(at time.Time) {
	if s.at != gateBusy {
		s.is(atObserving, "the world was observed", at)
	}
}

func (s *stand) round(d executor.Round, at time.Time) {
	s.rounds = d.Round
	s.is(atPlanning, fmt.Sprintf("round %d of %d: a planner is asked", d.Round, d.Of), at)
}

func (s *stand) attempt(d executor.Attempt, at time.Time) {
	switch d.Next {
	case string(planner.AskAgain), string(planner.AskNext):
		s.is(atPlanning, fmt.Sprintf("round %d: a planner is asked, after %s of %s", d.Round, count(d.Attempt, "attempt"), d.Planner), at)
	default:
		s.is(atPlanning, fmt.Sprintf("round %d: %s has answered", d.Round, d.Planner), at)
	}
}

// decided notes since when a planner is asked: each call is decided on.
func (s *stand) decided(d executor.Decision, at time.Time) {
	if s.at == atPlanning && (d.Point == policy.PointAttempt || d.Point == policy.PointCall) {
		s.since = at
	}
}

func (s *stand) accepted(d executor.Plan, at time.Time) {
	s.plan, s.asked = d, nil
	s.is(atActing, "a plan of "+count(len(d.Steps), "step")+" was accepted", at)
	if s.mode == string(policy.Approve) { // Journals of older versions tell no more of the question.
		s.at = gateApproval
	}
}

func (s *stand) posed(d executor.Asked, at time.Time) {
	s.asked, s.askedAt = &d, at
	s.is(gateApproval, "a person is asked", at)
}

func (s *stand) approval(d executor.Approved, at time.Time) {
	if d.Answer == executor.AnswerNone { // The question waits on.
		return
	}
	s.asked = nil
	s.is(atActing, "approved: "+d.Answer, at)
}

func (s *stand) waiting(d executor.Waiting, at time.Time) {
	what := strings.TrimPrefix(d.Busy, "lease: busy: ")
	if d.Action != "" {
		what = fmt.Sprintf("step %d, %s: %s", d.Step, d.Action, what)
	}
	if s.at == gateBusy && s.what == what {
		return
	}
	s.is(gateBusy, what, at)
	if strings.Contains(d.Busy, " is in doubt ") {
		s.at = gateInDoubt
	}
}

func (s *stand) armed(d executor.Armed, at time.Time) {
	s.actions++
	s.step(d.StepRef, fmt.Sprintf("is carried out, fence %d", d.Fence), at)
}

func (s *stand) step(d executor.StepRef, does string, at time.Time) {
	s.is(atActing, fmt.Sprintf("step %d, %s, %s", d.Step, d.Action, does), at)
	if d.Restore {
		s.at = atRestoring
	}
}

// ruled keeps when a window opens, where a rule's denial names that.
func (s *stand) ruled(d executor.Ruled, _ time.Time) {
	for _, r := range rulingsOf(d) {
		if r.Effect == policy.EffectDeny && !r.Opens.IsZero() {
			s.opens = r.Opens
		}
	}
}

// rulingsOf are those of a plan as a whole and of its steps.
func rulingsOf(d executor.Ruled) []policy.Ruling {
	all := []policy.Ruling{d.Ruling}
	for _, st := range d.Steps {
		all = append(all, st.Ruling)
	}
	return all
}

// opened is when what the run waits for goes by itself; zero where nothing says so.
func (s *stand) opened() time.Time {
	if s.ended.Opens != nil {
		return *s.ended.Opens
	}
	return s.opens
}

// question says what a person is asked.
func (s *stand) question() string {
	hash, steps := s.plan.PlanHash, len(s.plan.Steps)
	what := "approval of the plan"
	if q := s.asked; q != nil {
		if hash = q.PlanHash; q.Step > 0 {
			what = fmt.Sprintf("approval of step %d, %s, of the plan", q.Step, q.Action)
		}
	}
	if hash != "" {
		what += " " + hash[:min(len(hash), 12)]
	}
	if steps > 0 && (s.asked == nil || s.asked.PlanHash == s.plan.PlanHash) {
		what += " (" + count(steps, "step") + ")"
	}
	if s.asked != nil && len(s.asked.Why) > 0 {
		what += ", asked for because " + strings.Join(s.asked.Why, "; ")
	}
	return what
}
