package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fettleops/fettle/executor"
)

// approvedJSON is an approval, as JSON.
type approvedJSON struct {
	executor.Reply
	Plan    []string               `json:"plan"`              // that is approved
	Steps   []executor.PlannedStep `json:"steps,omitempty"`   // of it, as the journal tells of them
	Action  string                 `json:"action,omitempty"`  // the step that is approved, where it is one
	Restore bool                   `json:"restore,omitempty"` // it is about going back, after the run stopped
	Next    string                 `json:"next"`              // what is to be done
}

// sayApproved shows what was approved: each step with what it does and what
// deserves a second look, and why a person was asked.
func (a *app) sayApproved(p executor.Pending, rep executor.Reply, steps []executor.PlannedStep, next, format string) error {
	names, more := p.Plan, p.More
	if len(rep.Plan) > 0 {
		names, more = rep.Plan, 0
	}
	if format == "json" {
		return writeJSON(a.out, approvedJSON{rep, names, steps, p.Action, p.Restore, next})
	}
	what := "plan " + shortHash(rep.PlanHash)
	switch {
	case p.Step > 0:
		what = fmt.Sprintf("step %d of plan %s, %s", p.Step, shortHash(p.PlanHash), plain(p.Action))
		steps = slices.DeleteFunc(slices.Clone(steps), func(s executor.PlannedStep) bool { return s.Step != p.Step })
		names, more = nil, 0
	case len(rep.Plan) > 0:
		what += ", in place of " + shortHash(p.PlanHash)
	}
	if p.Restore {
		what = "going back, after the run stopped: " + what
	}
	fmt.Fprintf(a.out, "approved for run %s, goal %s: %s\n", p.Run, plain(p.Goal), what)
	if len(steps) > 0 {
		fmt.Fprint(a.out, approvedLines(steps, p.Step == 0 && !p.Restore))
	} else {
		fmt.Fprint(a.out, planLines(names, more))
	}
	for _, why := range rep.Why {
		if !byMode(why) {
			fmt.Fprintf(a.out, "asked because of %s\n", plain(why))
		}
	}
	if rep.Expires != nil {
		fmt.Fprintf(a.out, "good until %s\n", rep.Expires.Local().Format(time.DateTime))
	}
	fmt.Fprintln(a.out, next)
	return nil
}

// planLines writes the names of a plan's steps.
func planLines(steps []string, more int) string {
	var b strings.Builder
	for i, s := range steps {
		fmt.Fprintf(&b, "  %3d  %s\n", i+1, plain(s))
	}
	if more > 0 {
		fmt.Fprintf(&b, "       and %s more\n", count(more, "step"))
	}
	return b.String()
}

// approvedLines writes what the steps of a plan do, and what deserves a second
// look about each. A whole plan says too for how many of them a way back is known.
func approvedLines(steps []executor.PlannedStep, whole bool) string {
	actions, effects := make([]string, len(steps)), make([]string, len(steps))
	for i, s := range steps {
		actions[i], effects[i] = plain(s.Action), effectsLine(s.Effects)
	}
	wide, far := widest(40, actions...), widest(60, effects...)
	var b strings.Builder
	for i, s := range steps {
		line := fmt.Sprintf("  %3d  %s  %s  %s", s.Step, pad(actions[i], wide), pad(effects[i], far), marksAndWay(s))
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if whole {
		fmt.Fprintf(&b, "  %s\n", waysBack(steps))
	}
	return b.String()
}

// marksAndWay are the marks of a step, with the way back from the state after it.
func marksAndWay(s executor.PlannedStep) string {
	m := marks(s)
	w := s.Way
	if w == nil || len(w.Steps) == 0 {
		return m
	}
	way := "way back: " + plain(strings.Join(w.Steps, ", "))
	if w.More > 0 {
		way += " and " + count(w.More, "step") + " more"
	}
	if m == "" {
		return way
	}
	return m + "; " + way
}
