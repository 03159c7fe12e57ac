package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/policy"
)

// renderer tells a run to a person, event by event. `run` and `show` both use
// it, so that a run reads the same live and from the journal.
type renderer struct {
	w     io.Writer
	p     paint
	run   string
	round int
	steps []executor.PlannedStep // of the plan under way
	width int                    // of the widest action of that plan
	spent spent                  // by calls of models
	acted bool                   // something was carried out before
	open  bool                   // the last line was not blank
	said  string                 // what the run waits for
	idle  bool                   // it looks whether the world has changed meanwhile
	tty   bool                   // what is under way may be shown, and overwritten
	doing bool                   // it stands there now
	cols  func() int             // width of the terminal, 0 where there is none

	answered bool // by a person, what the run waits with
}

func newRenderer(w io.Writer, run string) *renderer {
	return &renderer{w: w, p: newPaint(w), run: run, tty: isTerminal(w), cols: func() int { return columns(w) }}
}

func (r *renderer) line(format string, args ...any) {
	r.done()
	fmt.Fprintln(r.w, wrap(fmt.Sprintf(format, args...), r.cols()))
	r.open = true
}

// underway shows on a terminal what is being done, until the next line.
func (r *renderer) underway(format string, args ...any) {
	if !r.tty {
		return
	}
	r.done()
	fmt.Fprint(r.w, r.p.faint(fmt.Sprintf(format, args...)+" …"))
	r.doing = true
}

func (r *renderer) done() {
	if r.doing {
		fmt.Fprint(r.w, "\r\x1b[K")
	}
	r.doing = false
}

// gap leaves one blank line, however often it is asked for.
func (r *renderer) gap() {
	r.done()
	if r.open {
		fmt.Fprintln(r.w)
	}
	r.open = false
}

// event shows one event; kinds that tell a person nothing new are passed over.
func (r *renderer) event(e journal.Event) error {
	show, ok := map[string]func(json.RawMessage, time.Time) error{
		executor.RunStarted:    decoded(r.started),
		executor.RunResumed:    decoded(r.resumed),
		executor.Discovered:    decoded(r.discovered),
		executor.Observed:      decoded(r.observed),
		executor.RoundStarted:  decoded(r.roundStarted),
		executor.AttemptMade:   decoded(r.attempt),
		executor.PlanAccepted:  decoded(r.plan),
		executor.Decided:       decoded(r.decision),
		executor.ApprovalAsked: decoded(r.asked),
		executor.Approval:      decoded(r.approval),
		executor.StepAcquired:  decoded(r.acquired),
		executor.StepArmed:     decoded(r.armed),
		executor.StepSkipped:   decoded(r.skipped),
		executor.StepWaiting:   decoded(r.waiting),
		executor.StepRefused:   decoded(r.refused),
		executor.StepFinished:  decoded(r.finished),
		executor.DoubtResolved: decoded(r.resolved),
		executor.RoundEnded:    decoded(r.roundEnded),
		executor.RunEnded:      decoded(r.ended),

		executor.LessonsProposed: decoded(r.proposed),

		executor.SeverityTaken:  decoded(r.severity),
		executor.RestorePlanned: decoded(r.restorePlan),
		executor.RestoreDecided: decoded(r.restoreDecision),
	}[e.Kind]
	if !ok {
		return nil
	}
	if err := show(e.Data, e.Time); err != nil {
		return fmt.Errorf("event %d (%s) cannot be read: %w", e.Seq, e.Kind, err)
	}
	return nil
}

func decoded[T any](show func(T, time.Time)) func(json.RawMessage, time.Time) error {
	return func(raw json.RawMessage, at time.Time) error {
		var v T
		if err := json.Unmarshal(raw, &v); err != nil {
			return err
		}
		show(v, at)
		return nil
	}
}

func (r *renderer) started(e executor.Started, _ time.Time) {
	r.spent.maxCalls, r.spent.maxCost = e.MaxCalls, e.MaxCost
	title := fmt.Sprintf("%s · goal %s", e.Scope, e.Goal)
	if e.Doc != "" {
		title += ": " + e.Doc
	}
	r.line("%s", r.p.bold(plain(title)))
	r.gap()
	r.underway("observing")
}

func (r *renderer) resumed(e executor.Resumed, _ time.Time) {
	r.gap()
	if e.Was == executor.Stalled {
		r.line("  %s", r.p.warn("this process had lost the right to drive the run (it or etcd stood still for too long); nobody else has had it, so it goes on"))
		r.gap()
		return
	}
	line := fmt.Sprintf("Resumed on %s, pid %d, after %.1f s of use", plain(e.Host), e.PID, e.UsedS)
	if e.By != "" {
		line = fmt.Sprintf("Resumed by %s on %s, pid %d, after %.1f s of use", plain(e.By), plain(e.Host), e.PID, e.UsedS)
	}
	r.line("%s", r.p.bold(line))
	if e.Was == executor.Running {
		r.line("  the process that drove it before ended without a word")
	}
	if e.Changed {
		r.line("  %s", r.p.warn("the model or its variables have changed since: no approval stands"))
	}
	if len(e.InDoubt) > 0 {
		r.line("  %s  %s", r.p.warn("in doubt"), plain(strings.Join(e.InDoubt, ", ")))
	}
	if len(e.Adopted) > 0 {
		r.line("  takes back the %s of %s", nouns(len(e.Adopted), "lease"), plain(strings.Join(e.Adopted, ", ")))
	}
	r.gap()
}

// nouns is a noun in the number that fits.
func nouns(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

func (r *renderer) observed(e executor.Observation, _ time.Time) {
	if r.idle && len(e.Changed) == 0 && e.Body == nil {
		return // Nothing has.
	}
	var of []string
	for _, t := range sortedKeys(e.Objects) {
		n := count(e.Objects[t], t)
		if slices.Contains(e.Open, t) {
			n += " or more"
		}
		of = append(of, n)
	}
	line := "Observed " + count(e.Facts, "fact")
	if len(of) > 0 {
		line += " of " + strings.Join(of, ", ")
	}
	r.gap()
	line += fmt.Sprintf(" in %.0f ms", e.MS)
	if e.Unknown > 0 {
		line += r.p.warn(fmt.Sprintf(" · %d unknown", e.Unknown))
	}
	r.line("%s", line)
	r.missing(e.Missing)
	if len(e.Missing) == 0 {
		r.line("  the goal holds")
	}
	r.gap()
}

// missing lists conditions that do not hold, each with what was seen of it.
func (r *renderer) missing(ms []executor.Missing) {
	label, conds := "missing", make([]string, len(ms))
	for i, m := range ms {
		conds[i] = plain(m.Condition)
	}
	w := widest(32, conds...)
	for i, m := range ms {
		if i == maxShown {
			r.line("            and %d more", len(ms)-i)
			break
		}
		var why []string
		for k, f := range m.Because {
			if k == 3 {
				why = append(why, fmt.Sprintf("and %d more", len(m.Because)-k))
				break
			}
			why = append(why, factLine(f, len(m.Because) > 1 || f.Fluent != m.Condition))
		}
		if m.Note != "" {
			why = append(why, plain(m.Note))
		}
		r.line("  %s   %s  %s", pad(label, 7), pad(conds[i], w), r.p.faint(strings.Join(why, "; ")))
		label = ""
	}
}

// maxShown bounds lists on the screen; the journal has them whole.
const maxShown = 12

// factLine tells what was seen of a fluent, where, and when.
func factLine(f executor.Fact, named bool) string {
	var parts []string
	if named {
		parts = append(parts, fmt.Sprintf("%s = %s", f.Fluent, show(f.Value)))
	}
	if f.Source != "" {
		parts = append(parts, f.Source)
	}
	switch {
	case f.Error != "":
		parts = append(parts, f.Error)
	case f.Note != "":
		parts = append(parts, f.Note)
	}
	s := strings.Join(parts, "  ")
	if f.Sampled != nil && f.Error == "" {
		s += fmt.Sprintf(", sampled %s ago", ago(f.AgeS))
	}
	return plain(s)
}

func (r *renderer) roundStarted(e executor.Round, _ time.Time) {
	r.round = e.Round
	how := "planning"
	switch {
	case e.Again:
		how = "gone on with, planning from what was observed"
	case r.acted:
		how = "planning from what was observed"
	}
	r.line("%s", r.p.bold(fmt.Sprintf("Round %d of %d · %s", e.Round, e.Of, how)))
	r.underway("  planning")
}

func (r *renderer) decision(e executor.Decision, _ time.Time) {
	r.calling(e)
	if e.Answer != policy.Continue {
		r.line("  the policy says %s: %s", e.Answer, plain(strings.Join(e.Reasons, "; ")))
		r.idle = true // Before going back it looks once more.
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
