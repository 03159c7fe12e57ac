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
	acted bool                   // something was carried out before
	open  bool                   // the last line was not blank
	tty   bool                   // what is under way may be shown, and overwritten
	doing bool                   // it stands there now
	cols  func() int             // width of the terminal, 0 where there is none
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
		executor.Observed:      decoded(r.observed),
		executor.RoundStarted:  decoded(r.roundStarted),
		executor.AttemptMade:   decoded(r.attempt),
		executor.PlanAccepted:  decoded(r.plan),
		executor.Decided:       decoded(r.decision),
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
	title := fmt.Sprintf("%s · goal %s", e.Scope, e.Goal)
	if e.Doc != "" {
		title += ": " + e.Doc
	}
	r.line("%s", r.p.bold(plain(title)))
	r.gap()
	r.underway("observing")
}

func (r *renderer) observed(e executor.Observation, _ time.Time) {
	var of []string
	for _, t := range sortedKeys(e.Objects) {
		of = append(of, count(e.Objects[t], t))
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
	if r.acted {
		how = "planning from what was observed"
	}
	r.line("%s", r.p.bold(fmt.Sprintf("Round %d of %d · %s", e.Round, e.Of, how)))
	r.underway("  planning")
}

func (r *renderer) attempt(e executor.Attempt, _ time.Time) {
	who := e.Planner
	if e.Attempt > 1 {
		who += fmt.Sprintf("  attempt %d", e.Attempt)
	}
	if e.Verdict == "pass" {
		how := fmt.Sprintf("%s, cost %s, valid", count(len(e.Steps), "step"), number(e.Cost))
		if e.Optimal {
			how += ", optimal"
		}
		r.line("  %s  %s (%s)", pad(who, 9), how, short(e.MS))
		return
	}
	what := e.Critique
	if len(e.Steps) > 0 {
		what = count(len(e.Steps), "step") + "  " + r.p.bad("✗ ") + plain(what)
	} else {
		what = r.p.bad("✗ ") + plain(what)
	}
	r.line("  %s  %s", pad(who, 9), what)
}

func (r *renderer) plan(e executor.Plan, _ time.Time) {
	r.steps, r.width = e.Steps, 0
	actions := make([]string, len(e.Steps))
	for i, s := range e.Steps {
		actions[i] = plain(s.Action)
	}
	r.width = widest(40, actions...)
	r.gap()
	effects := make([]string, len(e.Steps))
	for i, s := range e.Steps {
		effects[i] = effectsLine(s.Effects)
	}
	w := widest(60, effects...)
	unfenced, undo := 0, 0
	for i, s := range e.Steps {
		text := fmt.Sprintf("  %3d  %s  %s  %s", s.Step, pad(actions[i], r.width), pad(effects[i], w), r.p.warn(marks(s)))
		r.line("%s", strings.TrimRight(text, " "))
		if s.Unfenced {
			unfenced++
		}
		if s.Undo {
			undo++
		}
	}
	r.gap()
	r.line("  %s", r.p.faint(plain(strings.Join(promises(e, unfenced, undo), " · "))))
	r.gap()
}

func effectsLine(changes []executor.Change) string {
	if len(changes) == 0 {
		return "holds already"
	}
	var out []string
	for i, c := range changes {
		if i == maxShown {
			out = append(out, fmt.Sprintf("and %d more", len(changes)-i))
			break
		}
		out = append(out, fmt.Sprintf("%s → %s", c.Fluent, show(c.To)))
	}
	return plain(strings.Join(out, ", "))
}

// marks names what deserves a second look about a step.
func marks(s executor.PlannedStep) string {
	var m []string
	if s.Risk != "" && s.Risk != "low" {
		m = append(m, "risk "+s.Risk)
	}
	switch {
	case s.Unprotected:
		m = append(m, "unprotected")
	case s.Unfenced:
		m = append(m, "unfenced")
	}
	return strings.Join(m, ", ")
}

func promises(e executor.Plan, unfenced, undo int) []string {
	out := append([]string(nil), e.Invariants...)
	if unfenced == 0 {
		out = append(out, "all steps fenced")
	} else {
		out = append(out, fmt.Sprintf("%d of %d steps unfenced", unfenced, len(e.Steps)))
	}
	return append(out, fmt.Sprintf("way back known for %d of %d", undo, len(e.Steps)))
}

func (r *renderer) decision(e executor.Decision, _ time.Time) {
	if e.Answer != policy.Continue {
		r.line("  the policy says %s: %s", e.Answer, plain(strings.Join(e.Reasons, "; ")))
	}
}

func (r *renderer) approval(e executor.Approved, _ time.Time) {
	switch {
	case e.Answer == "yes" && e.By != "" && e.Step == 0:
		r.line("  approved by %s", plain(e.By))
		r.gap()
	case e.Answer == "no":
		r.line("  not approved")
		r.gap()
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
