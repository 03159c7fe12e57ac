package main

import (
	"fmt"
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
		if !byMode(why) {
			r.line("  %s  %s", r.p.warn("asked because of"), plain(why))
		}
	}
	what := "plan " + shortHash(plain(e.PlanHash))
	if e.Step > 0 {
		what = fmt.Sprintf("step %d of plan %s", e.Step, shortHash(plain(e.PlanHash)))
	}
	if e.Restore {
		what = "going back, " + what + ","
	}
	until := ""
	if e.Expires != nil {
		until = ", until " + e.Expires.Local().Format(time.DateTime)
	}
	r.line("  %s", r.p.faint(fmt.Sprintf("%s waits for an answer%s; from elsewhere: fettle approve %s", what, until, r.run)))
	r.gap()
}

// byMode tells whether a reason to ask is the policy's mode, which says nothing of the plan.
func byMode(why string) bool { return strings.HasPrefix(why, "mode = ") }

// approval tells what became of a question.
func (r *renderer) approval(e executor.Approved, _ time.Time) {
	who := answeredBy(e)
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
		r.line("  %s", r.p.warn(fmt.Sprintf("the approval%s is void: %s", by(who), whyVoid(e))))
	case executor.AnswerExpired:
		r.line("  %s", r.p.warn(what+": the time to answer, or the approval"+by(who)+", has expired"))
	default:
		return
	}
	r.gap()
}

// answeredBy says who gave an answer, from where, and how where not at a question.
func answeredBy(e executor.Approved) string {
	who := plain(e.By)
	switch {
	case who == "":
		return plain(e.How)
	case e.How != "":
		return who + " with " + plain(e.How)
	case e.Host != "":
		return who + " on " + plain(e.Host)
	}
	return who
}

// whyVoid says why an approval no longer lets its plan be carried out.
func whyVoid(e executor.Approved) string {
	if e.Reason == executor.RoundOver {
		return e.Reason + "; what is planned now is asked about"
	}
	return "the plan is no longer valid from what is observed; it is planned and asked anew"
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
