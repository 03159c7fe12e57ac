package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/policy"
)

// report gathers from the events of a run what a ticket needs to say of it. It
// keeps no more of a long run than it can show.
type report struct {
	run     string
	stand   stand
	began   executor.Started
	beganAt time.Time
	over    bool // the last event ended the run
	host    string
	pid     int
	first   *executor.Observation // what it found when it began
	looked  *executor.Observation // the last one
	known   *executor.LastKnown   // of a run that goes on: what its journal knows of the world
	unknown string                // why it does not
	decided *executor.Decision    // the policy's last answer
	ruled   *policy.Ruling        // the last one of its rules that was no leave

	round, actions int
	attempts       int
	failed         tally           // attempts
	wrong          tally           // steps that were refused or failed
	settled        map[string]bool // ids of actions that were in doubt
	resolved       tally           // those of them by a person's word
	loose          tally           // steps carried out, or planned where none was, that may act late
	armed          bool
	answers        []string // of people
	told           map[answerKey]bool
	spent          planner.Usage
}

// tally counts what is the same, in the order in which it came first.
type tally struct {
	entries []string
	times   map[string]int
	more    int // entries that there is no room for
}

// maxTallied bounds what is kept of one kind: far more than is shown.
const maxTallied = 100

func (t *tally) add(entry string) {
	if t.times == nil {
		t.times = map[string]int{}
	}
	if t.times[entry] == 0 {
		if len(t.entries) == maxTallied {
			t.more++
			return
		}
		t.entries = append(t.entries, entry)
	}
	t.times[entry]++
}

// items are the entries with how often each came.
func (t *tally) items() []string {
	out := slices.Clone(t.entries)
	for i, e := range out {
		if n := t.times[e]; n > 1 {
			out[i] = fmt.Sprintf("%s (%d times)", e, n)
		}
	}
	return out
}

// event takes an event in.
func (r *report) event(e journal.Event) error {
	r.run = e.Run
	if err := r.stand.event(e); err != nil {
		return err
	}
	fold, ok := map[string]func(json.RawMessage, time.Time) error{
		executor.RunStarted:   decoded(r.started),
		executor.RunResumed:   decoded(r.resumed),
		executor.Observed:     decoded(r.observed),
		executor.RoundStarted: decoded(func(d executor.Round, _ time.Time) { r.round = d.Round }),
		executor.AttemptMade:  decoded(r.attempt),
		executor.Decided:      decoded(func(d executor.Decision, _ time.Time) { r.decided = &d }),
		executor.PlanAccepted: decoded(r.planned),
		executor.Approval:     decoded(r.answered),
		executor.StepArmed:    decoded(r.acted),
		executor.StepRefused:  decoded(r.refused),
		executor.StepFinished: decoded(r.finished),
		executor.RunEnded:     decoded(func(executor.Ended, time.Time) { r.over = true }),
		executor.RulesAsked:   decoded(r.ruling),

		executor.DoubtResolved: decoded(r.saidOf),
	}[e.Kind]
	if !ok {
		return nil
	}
	if err := fold(e.Data, e.Time); err != nil {
		return fmt.Errorf("event %d (%s) cannot be read: %w", e.Seq, e.Kind, err)
	}
	return nil
}

func (r *report) started(d executor.Started, at time.Time) {
	r.began, r.beganAt, r.host, r.pid = d, at, d.Host, d.PID
}

func (r *report) resumed(d executor.Resumed, _ time.Time) {
	r.over, r.host, r.pid = false, d.Host, d.PID
}

func (r *report) observed(d executor.Observation, _ time.Time) {
	r.looked = &d
	if r.first == nil {
		r.first = &d
	}
}

func (r *report) attempt(d executor.Attempt, _ time.Time) {
	r.attempts++
	r.spent = r.spent.Add(planner.Usage{Calls: d.Calls, TokensIn: d.Tokens, Cost: d.CostUSD})
	if d.Verdict == string(planner.Pass) {
		return
	}
	kind := d.Kind
	if kind == "" {
		kind = d.Verdict
	}
	r.failed.add(fmt.Sprintf("%s, %s: %s", mdName(asker(d.Planner, d.Model)), mdName(kind), mdProse(d.Critique)))
}

// planned keeps what of a plan may act late, until something of one is carried out.
func (r *report) planned(d executor.Plan, _ time.Time) {
	if r.armed {
		return
	}
	r.loose = tally{}
	for _, s := range d.Steps {
		r.unguarded(s)
	}
}

func (r *report) unguarded(s executor.PlannedStep) {
	switch {
	case s.Unprotected:
		r.loose.add(mdName(s.Action) + ", unprotected")
	case s.Unfenced:
		r.loose.add(mdName(s.Action) + ", unfenced")
	}
}

// answerKey tells answers apart.
type answerKey struct {
	hash   string
	step   int
	answer string
	at     int64 // in ns; 0 in journals of older versions, which do not tell
}

// replied takes in what people answered that the journal does not have yet: it
// is told there once the run goes on.
func (r *report) replied(replies []executor.Reply) {
	for _, rep := range replies {
		k := answerKey{rep.PlanHash, rep.Step, rep.Answer, rep.At.UnixNano()}
		old := k
		old.at = 0
		if !r.told[k] && !r.told[old] {
			r.answered(executor.Approved{Step: rep.Step, Answer: rep.Answer, By: rep.By, PlanHash: rep.PlanHash, Feedback: rep.Feedback}, rep.At)
		}
	}
}

func (r *report) answered(d executor.Approved, at time.Time) {
	k := answerKey{hash: d.PlanHash, step: d.Step, answer: d.Answer}
	if d.At != nil {
		k.at = d.At.UnixNano()
	}
	if r.told == nil {
		r.told = map[answerKey]bool{}
	}
	r.told[k] = true
	if d.By == "" || d.Answer == executor.AnswerNone {
		return
	}
	what := "the plan"
	if d.Step > 0 {
		what = fmt.Sprintf("step %d", d.Step)
	}
	text := fmt.Sprintf("%s to %s by %s, %s", mdName(d.Answer), what, mdName(d.By), stamp(at))
	if d.Feedback != "" {
		text += ": " + mdProse(d.Feedback)
	}
	if r.answers = append(r.answers, text); len(r.answers) > maxTallied {
		r.answers = r.answers[1:]
	}
}

func (r *report) acted(d executor.Armed, _ time.Time) {
	r.actions++
	if !r.armed {
		r.armed, r.loose = true, tally{}
	}
	if i := d.Step - 1; i >= 0 && i < len(r.stand.plan.Steps) && r.stand.plan.Steps[i].Action == d.Action {
		r.unguarded(r.stand.plan.Steps[i])
	}
}

func (r *report) refused(d executor.Refused, _ time.Time) {
	r.wrong.add(fmt.Sprintf("%s refused, %s: %s", mdName(d.Action), mdName(d.Kind), mdProse(d.Reason)))
}

func (r *report) finished(d executor.Finished, _ time.Time) {
	if d.Outcome == "applied" {
		return
	}
	why := d.Message
	if why == "" {
		why = seenLine(d.Seen)
	}
	r.wrong.add(fmt.Sprintf("%s %s: %s", mdName(d.Action), mdName(strings.ReplaceAll(d.Outcome, "_", " ")), mdProse(why)))
}

// saidOf keeps what became of an action in doubt.
func (r *report) saidOf(d executor.Resolved, at time.Time) {
	if r.settled == nil {
		r.settled = map[string]bool{}
	}
	r.settled[d.ActionID] = true
	if d.By != "" {
		r.resolved.add(fmt.Sprintf("%s (%s) %s by %s, %s: %s", mdName(d.Action), mdName(d.ActionID), mdName(strings.ReplaceAll(d.Outcome, "_", " ")), mdName(d.By), stamp(at), mdProse(d.Reason)))
	}
}

func (r *report) ruling(d executor.Ruled, _ time.Time) {
	for _, u := range rulingsOf(d) {
		if u.Effect != "" && u.Effect != policy.EffectAllow {
			r.ruled = &u
		}
	}
}

// reportRun writes the report of a run, also of one that goes on.
func (a *app) reportRun(ctx context.Context, s *store, path, id string) error {
	r := &report{run: id}
	if err := each(s.journal.Events(ctx, id), r.event); err != nil {
		return err
	}
	gates, replies, err := a.gatesOf(ctx, s, id)
	if err != nil {
		return err
	}
	r.replied(replies)
	if !r.over {
		if err := r.know(ctx, s, id, a.modelOf(ctx, s, path, id)); err != nil {
			return err
		}
	}
	_, err = fmt.Fprint(a.out, r.markdown(gates, time.Now()))
	return err
}

// know finds out what the journal of a run that goes on knows of the world.
func (r *report) know(ctx context.Context, s *store, id string, of executor.ModelOf) error {
	var events []journal.Event
	err := each(s.journal.Events(ctx, id), func(e journal.Event) error {
		events = append(events, e)
		return nil
	})
	if err != nil {
		return err
	}
	if r.known, err = executor.Known(events, func(sum string) ([]byte, error) { return s.journal.Blob(ctx, id, sum) }, of); err != nil {
		r.unknown = err.Error()
	}
	return nil
}
