package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fettleops/fettle/executor/audit"
)

// printAudit shows an audit to a person: what disagrees first.
func (a *app) printAudit(l *loaded, r audit.Report, since time.Time) {
	if r.Runs.Total == 0 {
		when := ""
		if !since.IsZero() {
			when = " since " + since.Local().Format(time.DateTime)
		}
		fmt.Fprintf(a.err, "nothing to audit: no run%s\n", when)
		return
	}
	p := auditPrinter{a: a, p: newPaint(a.out), width: actionWidth(r.Actions)}
	p.line("%s · %s", p.p.bold(plain(l.Scope)), auditedRuns(r.Runs))
	for _, act := range r.Actions {
		p.action(act)
	}
	p.planners(r.Planners)
}

type auditPrinter struct {
	a     *app
	p     paint
	width int
}

func (p *auditPrinter) line(format string, args ...any) { fmt.Fprintf(p.a.out, format+"\n", args...) }

func actionWidth(actions []*audit.Action) int {
	const widest = 24
	w := 0
	for _, act := range actions {
		w = max(w, min(len(act.Name), widest))
	}
	return w
}

func auditedRuns(r audit.Runs) string {
	s := count(r.Total, "run")
	if r.First != nil {
		s += fmt.Sprintf(" begun %s to %s", r.First.Local().Format(time.DateTime), r.Last.Local().Format(time.DateTime))
	}
	s += ": " + byCount(r.ByStatus)
	if r.OtherModels > 0 {
		s += fmt.Sprintf(" · %d with another version of the model", r.OtherModels)
	}
	if r.Unreadable > 0 {
		s += fmt.Sprintf(" · %s cannot be read", count(r.Unreadable, "event"))
	}
	return s
}

// byCount lists what was counted, the most frequent first.
func byCount(counts map[string]int) string {
	keys := slices.SortedFunc(maps.Keys(counts), func(x, y string) int {
		return cmp.Or(counts[y]-counts[x], strings.Compare(x, y))
	})
	var parts []string
	for _, k := range keys {
		name := plain(k)
		if name == "" {
			name = "other"
		}
		parts = append(parts, fmt.Sprintf("%d %s", counts[k], name))
	}
	return strings.Join(parts, ", ")
}

func (p *auditPrinter) action(act *audit.Action) {
	name := pad(plain(act.Name), p.width)
	p.line("")
	if act.Disagreed == 0 && act.Unfinished == 0 {
		p.line("%s  %s", name, p.agreed(act))
	} else {
		p.line("%s  %s", p.p.bold(name), p.summary(act))
	}
	for _, e := range act.Effects {
		p.line("  %s  %s", pad(plain(e.Fluent), p.width), effectText(e))
	}
	if act.ActS.N() > 0 {
		p.line("  %s  %s", pad("took", p.width), spreadText(&act.ActS, act.TimeoutS))
	}
	if len(act.Refused) > 0 {
		p.line("  %s  %s", pad("refused", p.width), byCount(act.Refused))
	}
	if act.Unfinished > 0 || len(act.Resolved) > 0 {
		p.line("  %s  %s", pad("in doubt", p.width), doubtText(act))
	}
	for _, c := range act.Changes {
		p.line("  %s %s", p.p.warn("→"), plain(c))
	}
	if act.Example != "" {
		p.line("  %s", p.p.faint("see fettle show "+plain(act.Example)))
	}
}

// summary says how often the action was carried out, and what came of it.
func (p *auditPrinter) summary(act *audit.Action) string {
	s := count(act.Executions, "execution")
	if act.Disagreed > 0 {
		s += ", " + p.p.bad(fmt.Sprintf("%d not as declared", act.Disagreed))
	}
	if act.Executions > 0 {
		s += ": " + byCount(act.Outcomes)
	}
	return s + asides(act)
}

// agreed is summary of an action that did what it declares, or nothing.
func (p *auditPrinter) agreed(act *audit.Action) string {
	if act.Executions == 0 {
		return "not carried out" + asides(act)
	}
	s := count(act.Executions, "execution")
	switch failed := act.Executions - act.Outcomes["applied"]; {
	case failed > 0:
		s += ": " + byCount(act.Outcomes)
		if act.Failure != "" {
			s += "; last: " + plain(act.Failure)
		}
	default:
		s += ", " + p.p.good("all as declared")
	}
	return s + asides(act)
}

func asides(act *audit.Action) string {
	s := ""
	if act.Skipped > 0 {
		s += fmt.Sprintf("; skipped %d times, its effects held already", act.Skipped)
		s = strings.Replace(s, " 1 times", " once", 1)
	}
	if act.Gone {
		s += "; the model has no such action any more"
	}
	return s
}

func effectText(e *audit.Effect) string {
	if e.Assumed == e.Declared {
		return "a belief, which nothing observes"
	}
	s := fmt.Sprintf("seen %d of %d", e.Seen, e.Declared)
	if e.Seen > 0 {
		s += ", " + strings.Replace("after "+spreadText(&e.AfterS, 0), "after under 1 ms", "at once", 1)
	}
	if n := e.Other; n > 0 {
		s += fmt.Sprintf("; %d not", n)
	}
	if n := e.Unknown; n > 0 {
		s += fmt.Sprintf("; %d unknown", n)
	}
	if e.Later > 0 {
		s += fmt.Sprintf("; %d came true later, at most %s after the action", e.Later, audit.Seconds(e.LaterS.Max()))
	}
	if e.Again > 0 {
		s += fmt.Sprintf("; %d once it was done again, at most %s after the first time", e.Again, audit.Seconds(e.AgainS.Max()))
	}
	return s
}

// spreadText says how long something took: mostly, and at most of what it may.
func spreadText(s *audit.Spread, limit float64) string {
	text := audit.Seconds(s.Median())
	if most := audit.Seconds(s.Max()); most != text {
		text += ", at most " + most
	}
	if limit > 0 {
		text += " of " + audit.Seconds(limit)
	}
	return text
}

func doubtText(act *audit.Action) string {
	var parts []string
	if act.Unfinished > 0 {
		parts = append(parts, fmt.Sprintf("%d begun with no end on record", act.Unfinished))
	}
	if len(act.Resolved) > 0 {
		later := "found out later: " + byCount(act.Resolved)
		if act.ByHand > 0 {
			later += fmt.Sprintf(", %d of them by a person's word", act.ByHand)
		}
		parts = append(parts, later)
	}
	return strings.Join(parts, "; ")
}

func (p *auditPrinter) planners(ps []*audit.Planner) {
	if len(ps) == 0 {
		return
	}
	p.line("\nPlanners")
	width := 0
	for _, pl := range ps {
		width = max(width, len(asker(pl.Name, pl.Model)))
	}
	for _, pl := range ps {
		p.line("  %s  %s", pad(plain(asker(pl.Name, pl.Model)), width), proposals(pl))
		if s := uptake(pl); s != "" {
			p.line("  %s  %s", pad("", width), s)
		}
		if pl.Calls > 0 {
			p.line("  %s  %s, %s tokens, %s; %s an attempt", pad("", width), count(pl.Calls, "call"), grouped(pl.Tokens), usd(pl.CostUSD), spreadText(&pl.TookS, 0))
		}
	}
}

func proposals(pl *audit.Planner) string {
	s := fmt.Sprintf("%s: %d valid", count(pl.Attempts, "attempt"), pl.Valid)
	if pl.Proofs > 0 {
		s += ", " + count(pl.Proofs, "proof") + " that there is no plan"
	}
	if pl.Errors > 0 {
		s += fmt.Sprintf(", %d without an answer", pl.Errors)
	}
	if len(pl.Failed) > 0 {
		s += "; failed: " + byCount(pl.Failed)
	}
	return s
}

// uptake says how a planner uses critiques.
func uptake(pl *audit.Planner) string {
	if pl.Critiques == 0 {
		return ""
	}
	const percent = 100
	s := fmt.Sprintf("critiques taken up: %d of %d (%d %%)", pl.Used, pl.Critiques, percent*pl.Used/pl.Critiques)
	const enough, half = 4, 2
	if pl.Critiques >= enough && half*pl.Used < pl.Critiques {
		s += "; it mostly repeats the failure: another model, or same_failure_retries, would save attempts"
	}
	return s
}
