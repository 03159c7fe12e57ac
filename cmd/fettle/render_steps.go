package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fettleops/fettle/executor"
)

func (r *renderer) step(n int, action, text string) {
	r.line("  %3d  %s  %s", n, pad(plain(action), r.width), text)
}

func (r *renderer) detail(format string, args ...any) {
	r.line("         %s", fmt.Sprintf(format, args...))
}

func (r *renderer) acquired(e executor.Acquired, _ time.Time) {
	r.underway("  %3d  %s  observing", e.Step, pad(plain(e.Action), r.width))
}

func (r *renderer) armed(e executor.Armed, _ time.Time) {
	r.underway("  %3d  %s  fence %-6d acting", e.Step, pad(plain(e.Action), r.width), e.Fence)
}

func (r *renderer) skipped(e executor.Skipped, _ time.Time) {
	r.step(e.Step, e.Action, r.p.faint("skipped: its effects hold already"))
}

func (r *renderer) waiting(e executor.Waiting, _ time.Time) {
	if e.Step == 0 { // Not for a step: for what bears on the goal.
		r.said = e.Busy
		r.line("  %s  %s", r.p.warn("waiting"), plain(e.Busy))
		return
	}
	r.step(e.Step, e.Action, r.p.warn("waiting"))
	r.detail("%s", plain(strings.TrimPrefix(e.Busy, "lease: busy: ")))
}

func (r *renderer) refused(e executor.Refused, _ time.Time) {
	r.acted = true
	what := "refused"
	switch {
	case e.Kind == executor.TakenOver:
		what = "not begun"
	case e.Kind == "goal":
		what += ": the rest of the plan no longer reaches the goal"
	case e.AtStep > 0:
		what += ": the rest of the plan no longer holds"
	}
	r.step(e.Step, e.Action, r.p.bad(what))
	r.detail("%s", plain(e.Reason))
	for i, f := range e.Facts {
		if i == maxShown {
			break
		}
		r.detail("%s", r.p.faint(plain(fmt.Sprintf("%s = %s", f.Fluent, show(f.Value)))+seenAt(f)))
	}
}

// seenAt tells when and where a fact was seen.
func seenAt(f executor.Fact) string {
	var s string
	if f.Sampled != nil {
		s += fmt.Sprintf(", sampled %s ago", ago(f.AgeS))
	}
	var where []string
	for _, w := range []string{f.Source, f.Note, f.Error} {
		if w != "" {
			where = append(where, w)
		}
	}
	if len(where) > 0 {
		s += " (" + plain(strings.Join(where, ": ")) + ")"
	}
	return s
}

func (r *renderer) finished(e executor.Finished, _ time.Time) {
	r.acted = true
	text := fmt.Sprintf("fence %-6d %7s  ", e.Fence, short(e.MS))
	switch e.Outcome {
	case "applied":
		r.step(e.Step, e.Action, text+r.p.good("✓")+" "+plain(seenLine(e.Seen)))
		return
	case "diverged":
		text += r.p.bad("✗ " + disagreement(e))
	case "unknown":
		text += r.p.bad("✗ whether it took effect is unknown")
	default:
		text += r.p.bad("✗ failed")
	}
	r.step(e.Step, e.Action, text)
	if e.Message != "" {
		r.detail("%s", plain(e.Message))
	}
	for _, l := range strings.Split(e.Tail, "\n") {
		if l != "" {
			r.detail("%s", r.p.faint("│ "+plain(l)))
		}
	}
	r.detail("%s", plain(seenLine(e.Seen)))
}

// disagreement says in a few words what is wrong with a diverged action.
func disagreement(e executor.Finished) string {
	for _, s := range e.Seen {
		if s.Verified == "no" && s.Value != nil {
			return "the world and the actuator disagree"
		}
	}
	if e.Status != "done" {
		return "it failed, though its effects were seen"
	}
	return "its effect could not be seen"
}

// seenLine tells which effects were seen, and how long after the action ended.
func seenLine(seen []executor.Seen) string {
	var yes, no, assumed []string
	after := 0.0
	for _, s := range seen {
		text := fmt.Sprintf("%s = %s", s.Fluent, show(s.Want))
		switch s.Verified {
		case "observed":
			if len(yes) < maxShown {
				yes = append(yes, text)
			}
			after = max(after, s.AfterS)
		case "assumed":
			assumed = append(assumed, text)
		default:
			why := "it is " + show(s.Value)
			if s.Error != "" {
				why = s.Error
			}
			if len(no) < maxShown {
				no = append(no, text+" not seen ("+why+")")
			}
		}
	}
	var parts []string
	if len(yes) > 0 {
		parts = append(parts, fmt.Sprintf("%s seen after %s", strings.Join(yes, ", "), ago(after)))
	}
	if len(assumed) > 0 {
		parts = append(parts, strings.Join(assumed, ", ")+" assumed")
	}
	return strings.Join(append(parts, no...), "; ")
}

// names tells what became of the leases that the run held across its steps.
func (r *renderer) names(e executor.Ended) {
	if len(e.Kept) > 0 && e.KeptUntil != nil {
		r.line("  kept      %s, until %s for this run alone", plain(strings.Join(e.Kept, ", ")), e.KeptUntil.Local().Format(time.DateTime))
	}
	if len(e.Released) == 0 {
		return
	}
	why := ""
	if e.Status == executor.WaitingStatus {
		why = r.p.faint("  (kept while an approval is awaited where the policy says approval_expires)")
	}
	r.line("  released  %s%s", plain(strings.Join(e.Released, ", ")), why)
}

func (r *renderer) resolved(e executor.Resolved, _ time.Time) {
	if e.By != "" {
		r.line("  %s was in doubt, and is %s by the word of %s: %s", plain(e.Action), strings.ReplaceAll(e.Outcome, "_", " "), plain(e.By), plain(e.Reason))
		return
	}
	r.line("  took over %s, left in doubt by run %s: %s", plain(e.Action), plain(e.Run), strings.ReplaceAll(e.Outcome, "_", " "))
}

func (r *renderer) roundEnded(e executor.RoundEnd, _ time.Time) {
	defer func() { r.said, r.idle = "", false }()
	r.used()
	if e.Steps == 0 && e.Reason != "" && !r.acted && e.Reason != r.said && e.Kind != executor.RejectedKind {
		r.line("  %s", plain(e.Reason))
	}
	r.gap()
}

func (r *renderer) ended(e executor.Ended, _ time.Time) {
	r.used()
	r.gap()
	r.notRestored(e)
	word := strings.ToUpper(e.Status[:1]) + e.Status[1:]
	totals := fmt.Sprintf("%s, %s, %.1f s", count(e.Rounds, "round"), count(e.Actions, "action"), e.Seconds)
	if e.Cost > 0 {
		totals += ", " + usd(e.Cost)
	}
	if e.Status == executor.Succeeded {
		n := len(e.Evidence)
		for _, more := range e.EvidenceMore {
			n += more
		}
		r.line("%s: goal reached in %s · nothing left undone · evidence for %d of %d conditions",
			r.p.good(r.p.bold(word)), totals, n, n)
		r.foot()
		return
	}
	if e.Reason != "" {
		word += " (" + strings.ReplaceAll(e.Reason, "_", " ") + ")"
	}
	r.line("%s: %s", r.p.bad(r.p.bold(word)), plain(e.Message))
	r.undone(e)
	for _, o := range e.Owed {
		if !r.answered || o != executor.OwedApproval {
			r.line("  you owe   %s", plain(o))
		}
	}
	r.putBack(e)
	r.names(e)
	r.line("After %s", totals)
	r.foot()
}

// undone lists the conditions of the goal that do not hold at the end.
func (r *renderer) undone(e executor.Ended) {
	if e.Unseen != "" {
		r.line("What is left undone is not known: %s", plain(e.Unseen))
	}
	if len(e.Undone) == 0 {
		return
	}
	title := "Left undone"
	if e.LastSeen != nil {
		title += fmt.Sprintf(", as last seen at %s, before the process ended", e.LastSeen.Local().Format(time.DateTime))
	}
	r.line("%s", title)
	r.missing(e.Undone)
	if e.UndoneMore > 0 {
		r.line("            and %d more that are not listed", e.UndoneMore)
	}
}

func (r *renderer) foot() { r.line("run %s  fettle show %s", r.run, r.run) }

// show writes a JSON value as the model does.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "unknown"
	case float64:
		return number(v)
	case string:
		return strconv.Quote(v)
	}
	raw, _ := json.Marshal(v) // A bool.
	return string(raw)
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// count writes a number with its noun: 1 step, 2 steps.
func count(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "s") || strings.HasSuffix(noun, "x") || strings.HasSuffix(noun, "ch"):
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// short writes milliseconds with a fitting unit.
func short(ms float64) string {
	if ms < 100 {
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.2f s", ms/1000)
}

// ago writes seconds for a person.
func ago(s float64) string {
	switch {
	case s < 0.1:
		return fmt.Sprintf("%.0f ms", s*1000)
	case s < 120:
		return fmt.Sprintf("%.1f s", s)
	}
	return fmt.Sprintf("%.0f min", s/60)
}
