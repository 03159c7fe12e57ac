package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fettleops/fettle/executor"
)

// shortHash shows enough of a plan's hash to tell plans of one run apart.
func shortHash(hash string) string { return hash[:min(len(hash), 12)] }

// asked tells what a person is asked because of, beyond the mode, and how that
// can be answered from elsewhere.
func (r *renderer) asked(e executor.Asked, _ time.Time) {
	r.gap()
	for _, why := range e.Why {
		if !strings.HasPrefix(why, "mode = ") {
			r.line("  %s  %s", r.p.warn("asked because of"), plain(why))
		}
	}
	what := "plan " + shortHash(plain(e.PlanHash))
	if e.Step > 0 {
		what = fmt.Sprintf("step %d of plan %s", e.Step, shortHash(plain(e.PlanHash)))
	}
	until := ""
	if e.Expires != nil {
		until = ", until " + e.Expires.Local().Format(time.DateTime)
	}
	r.line("  %s", r.p.faint(fmt.Sprintf("%s waits for an answer%s; from elsewhere: fettle approve %s", what, until, r.run)))
	r.gap()
}

// approval tells what became of a question.
func (r *renderer) approval(e executor.Approved, _ time.Time) {
	who := plain(e.By)
	if e.Host != "" {
		who += " on " + plain(e.Host)
	}
	what := "the plan"
	if e.Step > 0 {
		what = fmt.Sprintf("step %d", e.Step)
	}
	switch e.Answer {
	case executor.AnswerYes:
		r.approved(e, who)
	case executor.AnswerNo:
		line := "not approved" + by(who)
		if e.Feedback != "" {
			line += ": " + plain(e.Feedback)
		}
		r.line("  %s", line)
	case executor.AnswerCovered:
		r.line("  covered by the approval of plan %s%s: %s", shortHash(plain(e.Covers)), by(who), plain(e.Bounds))
	case executor.AnswerVoid:
		r.line("  %s", r.p.warn(fmt.Sprintf("the approval%s is void: the plan is no longer valid from what is observed; it is planned and asked anew", by(who))))
	case executor.AnswerExpired:
		r.line("  %s", r.p.warn(what+": the time to answer, or the approval"+by(who)+", has expired"))
	default:
		return
	}
	r.gap()
}

func by(who string) string {
	if who == "" {
		return ""
	}
	return " by " + who
}

func (r *renderer) approved(e executor.Approved, who string) {
	if who == "" || e.Step > 0 && e.Host == "" { // Whoever is at the terminal has just typed it.
		return
	}
	line := "approved by " + who
	if e.Step > 0 {
		line = fmt.Sprintf("step %d approved by %s", e.Step, who)
	}
	if e.Edited {
		line += ", a plan of their own"
	}
	if e.Reason != "" {
		line += ": " + plain(e.Reason)
	}
	r.line("  %s", line)
}

// planLines writes a plan in a few lines.
func planLines(steps []string, more int) string {
	var b strings.Builder
	for i, s := range slices.All(steps) {
		fmt.Fprintf(&b, "  %3d  %s\n", i+1, plain(s))
	}
	if more > 0 {
		fmt.Fprintf(&b, "       and %s more\n", count(more, "step"))
	}
	return b.String()
}
