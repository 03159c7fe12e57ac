package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fettleops/fettle/executor"
)

func (r *renderer) plan(e executor.Plan, _ time.Time) {
	r.used()
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
	unfenced := 0
	for i, s := range e.Steps {
		text := fmt.Sprintf("  %3d  %s  %s  %s", s.Step, pad(actions[i], r.width), pad(effects[i], w), r.p.warn(marks(s)))
		r.line("%s", strings.TrimRight(text, " "))
		if s.Unfenced {
			unfenced++
		}
	}
	r.gap()
	r.line("  %s", r.p.faint(plain(strings.Join(promises(e, unfenced), " · "))))
	for _, s := range e.Remarks {
		r.line("  %s", r.p.warn("critic: "+plain(s)))
	}
	if names := unprotected(e.Steps); len(names) > 0 {
		r.line("  %s", r.p.warn(plain(whyUnprotected(names))))
	}
	r.gap()
}

// whyUnprotected says what makes actions unprotected, and how to mend it.
func whyUnprotected(names []string) string {
	be, keep, theirs := " are unprotected: they keep", "their timeouts are", "the timeouts"
	if len(names) == 1 {
		be, keep, theirs = " is unprotected: it keeps", "its timeout is", "the timeout"
	}
	return strings.Join(names, ", ") + be + " no fence, and " + keep + " longer than a lease lasts unrenewed; raise --lease-ttl, or lower " + theirs
}

// unprotected names the actions of steps that may act late, each once.
func unprotected(steps []executor.PlannedStep) []string {
	var names []string
	for _, s := range steps {
		name, _, _ := strings.Cut(s.Action, "(")
		if s.Unprotected && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
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
	if s.Way != nil && !s.Way.Known() {
		m = append(m, "no way back")
	}
	switch {
	case s.Unprotected:
		m = append(m, "unprotected")
	case s.Unfenced:
		m = append(m, "unfenced")
	}
	return strings.Join(m, ", ")
}

func promises(e executor.Plan, unfenced int) []string {
	out := append([]string(nil), e.Invariants...)
	if unfenced == 0 {
		out = append(out, "all steps fenced")
	} else {
		out = append(out, fmt.Sprintf("%d of %d steps unfenced", unfenced, len(e.Steps)))
	}
	return append(out, waysBack(e.Steps))
}
