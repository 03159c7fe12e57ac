package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/fettleops/fettle/executor"
)

// severity tells how bad things were when the run began.
func (r *renderer) severity(e executor.Baseline, _ time.Time) {
	r.line("  severity  %s now, and no higher when the run ends", plain(level(e.Severity)))
	r.gap()
}

func level(s executor.Severity) string {
	switch {
	case s.Least == nil && s.Most == nil:
		return "unknown"
	case s.Least == nil:
		return number(*s.Most) + " or less"
	case s.Most == nil:
		return number(*s.Least) + " or more"
	case *s.Least == *s.Most:
		return number(*s.Least)
	}
	return number(*s.Least) + " to " + number(*s.Most)
}

func severityOf(f *float64) string {
	if f == nil {
		return "unknown"
	}
	return number(*f)
}

// restorePlan tells that a run which stopped short goes back, and how.
func (r *renderer) restorePlan(e executor.RestorePlan, _ time.Time) {
	r.steps, r.width = e.Steps, 0
	actions := make([]string, len(e.Steps))
	for i, s := range e.Steps {
		actions[i] = plain(s.Action)
	}
	r.width = widest(40, actions...)
	r.gap()
	r.line("%s", r.p.bold("Going back")+plain(fmt.Sprintf(" · severity %s, at the start %s · %s", severityOf(e.Now), severityOf(e.Start), byWhat(e.How))))
	r.line("  %s", plain(e.Stopped))
	r.gap()
	for i, s := range e.Steps {
		r.line("%s", strings.TrimRight(fmt.Sprintf("  %3d  %s  %s  %s", s.Step, pad(actions[i], r.width), effectsLine(s.Effects), r.p.warn(marks(s))), " "))
	}
	r.gap()
	r.line("  %s", r.p.faint(fmt.Sprintf("at most %s and %s for going back", count(e.Actions, "action"), roundTime(e.WithinS))))
	r.gap()
}

// roundTime writes seconds as a policy would: 10m.
func roundTime(s float64) string {
	text := time.Duration(s * float64(time.Second)).Round(time.Second).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

func byWhat(how string) string {
	switch how {
	case executor.ByUndo:
		return "by undoing what was done"
	case executor.ByPart:
		return "by undoing what the run did, though that is not enough"
	}
	return "by a plan of the search"
}

// restoreDecision tells only of what stops going back; it is said at the end too.
func (r *renderer) restoreDecision(e executor.RestoreDecision, _ time.Time) {
	if e.Answer != "continue" {
		r.line("  the policy says %s: %s", e.Answer, plain(strings.Join(e.Reasons, "; ")))
	}
}

// notRestored says first what could not be put back.
func (r *renderer) notRestored(e executor.Ended) {
	if len(e.NotRestored) == 0 {
		return
	}
	line := r.p.bad(r.p.bold("Not put back"))
	if s := e.Severity; s != nil {
		line += fmt.Sprintf(": severity %s, at the start %s", severityOf(s.Now), severityOf(s.Start))
	}
	r.line("%s", line)
	facts := make([]string, len(e.NotRestored))
	for i, n := range e.NotRestored {
		facts[i] = plain(n.Fluent)
	}
	w := widest(40, facts...)
	for i, n := range e.NotRestored {
		if n.Fluent == "" {
			continue
		}
		if i == maxShown {
			r.line("            and %d more", len(facts)-i)
			break
		}
		r.line("            %s  %s", pad(facts[i], w), plain(fmt.Sprintf("is %s, was %s%s", show(n.Now), show(n.Was), byOthers(n))))
	}
	r.line("  because   %s", plain(e.NotRestored[0].Reason))
}

// byOthers says that a fact is not what it was by nothing that the run did.
func byOthers(n executor.NotRestored) string {
	if n.Others {
		return " · not by this run"
	}
	return ""
}

// putBack tells what was put back, and the way that is still to go.
func (r *renderer) putBack(e executor.Ended) {
	if len(e.Restored) > 0 {
		r.line("  put back  %s · severity %s, at the start %s", plain(strings.Join(e.Restored, ", ")), severityOf(e.Severity.Now), severityOf(e.Severity.Start))
	}
	if len(e.WayBack) > 0 {
		r.line("  way back  %s", plain(strings.Join(e.WayBack, ", ")))
	}
}

// waysBack says of how many steps of a plan a way back is known. Where the goal
// gives no severity nothing is looked for, and only what the model names is told.
// Before some ways are gone a person is asked.
func waysBack(steps []executor.PlannedStep) string {
	known, undo, asks, told := 0, 0, 0, false
	for _, s := range steps {
		told = told || s.Way != nil
		if s.Way.Known() {
			known++
			if len(s.Way.Asks) > 0 {
				asks++
			}
		}
		if s.Undo {
			undo++
		}
	}
	switch {
	case told && asks > 0:
		return fmt.Sprintf("way back known for %d of %d, a person is asked before %d of them", known, len(steps), asks)
	case told:
		return fmt.Sprintf("way back known for %d of %d", known, len(steps))
	}
	return fmt.Sprintf("undo named for %d of %d", undo, len(steps))
}
