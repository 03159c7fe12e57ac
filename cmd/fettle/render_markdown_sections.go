package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/policy"
)

// section is a list of the report. More counts what it has besides.
type section struct {
	title string
	none  string // how it is called in the list of what there is nothing of; "": not at all
	items []string
	more  int
}

// markdown writes the report. What has to be decided or put back comes first;
// what there is no room for is counted.
func (r *report) markdown(gates []gate, now time.Time) string {
	return mdReport(r.head(gates), r.sections(gates, now), r.foot(now))
}

// head is the title and what the run is about.
func (r *report) head(gates []gate) []string {
	status, e := executor.Running, r.stand.ended
	if r.over {
		status = e.Status
		if e.Reason != "" {
			status += " (" + strings.ReplaceAll(e.Reason, "_", " ") + ")"
		}
	} else if len(gates) > 0 && gates[0].Gate == gateKilled {
		status += " (killed)"
	}
	title := fmt.Sprintf("# Run %s: %s", mdName(r.run), mdWord(status))
	if !r.final() {
		title += ", so far"
	}
	about := fmt.Sprintf("Goal %s of %s", mdName(r.began.Goal), mdName(r.began.Scope))
	if r.began.Doc != "" {
		about += ": " + mdProse(r.began.Doc)
	}
	out := []string{title, about}
	if r.over && e.Message != "" {
		out = append(out, "Why: "+mdProse(e.Message))
	}
	return out
}

// final tells whether the run is over for good.
func (r *report) final() bool { return r.over && r.stand.ended.Status != executor.WaitingStatus }

func (r *report) sections(gates []gate, now time.Time) []section {
	e := r.stand.ended
	if !r.over {
		e = r.sofar()
	}
	at, doubt := r.gates(gates, e, now)
	back := section{title: "Not put back", none: "not put back"}
	for _, n := range e.NotRestored {
		back.items = append(back.items, notRestored(n))
	}
	worse, owed := r.worse(e), r.owed(e, gates)
	if !r.over { // That there is none is known at its end.
		back.none, worse.none, owed.none = "", "", ""
	}
	return []section{
		back, worse, owed, at, doubt,
		r.evidence(e),
		{title: "Last policy decision", items: r.decision()},
		{title: "Failed attempts", none: "failed attempts", items: r.failed.items(), more: r.failed.more},
		{title: "Failed or refused actions", none: "failed actions", items: r.wrong.items(), more: r.wrong.more},
		{title: "Unprotected or unfenced", none: "unprotected or unfenced", items: r.loose.items(), more: r.loose.more},
		{title: "Undone again", items: mdNames(e.Restored)},
		{title: "Known way back, not gone", items: mdNames(e.WayBack)},
		{title: "Said by a person of what was in doubt", items: r.resolved.items(), more: r.resolved.more},
		{title: "Answers of people", items: r.answers},
	}
}

// sofar is how a run that goes on would leave the world.
func (r *report) sofar() executor.Ended {
	e := executor.Ended{Actions: r.actions}
	switch {
	case r.known != nil:
		e.Undone, e.UndoneMore, e.LastSeen = r.known.Missing, r.known.More, &r.known.At
	case r.unknown != "":
		e.Unseen = r.unknown
	}
	return e
}

// worse tells what held when the run began and does not now.
func (r *report) worse(e executor.Ended) section {
	s := section{title: "Left worse than it was", none: "left worse"}
	if !r.final() {
		s.title = "Worse than it was, so far"
	}
	w := executor.Worse(r.first, e)
	s.items = mdNames(w.Conditions)
	for _, c := range w.Unknown {
		s.items = append(s.items, mdName(c)+" held, and is not known to hold now")
	}
	if w.Unsure != "" {
		s.items = append(s.items, "cannot be told: "+mdProse(w.Unsure))
	}
	return s
}

// owed lists the decisions that a person owes, without that on a question which
// was answered since.
func (r *report) owed(e executor.Ended, gates []gate) section {
	s := section{title: "A person owes", none: "decisions owed"}
	for _, o := range e.Owed {
		if (o != executor.OwedApproval || !isAnswered(gates)) && !r.isSettled(o) {
			s.items = append(s.items, mdProse(o))
		}
	}
	return s
}

// gates tells what a run that is not over is at, and which of its actions are in doubt.
func (r *report) gates(gates []gate, e executor.Ended, now time.Time) (at, doubt section) {
	at, doubt = section{title: "What it is at"}, section{title: "In doubt", none: "in doubt"}
	for _, g := range gates {
		text := mdCode(g.text(now), 30, 300)
		if len(g.Next) > 0 {
			text += ": " + mdCommand(g.Next[0])
		}
		if g.Gate == gateInDoubt {
			doubt.items = append(doubt.items, text)
		} else {
			at.items = append(at.items, text)
		}
	}
	if len(doubt.items) == 0 {
		doubt.items = mdProses(slices.DeleteFunc(slices.Clone(e.InDoubt), r.isSettled))
	}
	return at, doubt
}

// isSettled tells whether a text is of an action in doubt of which the run knows
// by now what became of it.
func (r *report) isSettled(text string) bool {
	for id := range r.settled {
		if strings.Contains(text, "("+id+")") {
			return true
		}
	}
	return false
}

func notRestored(n executor.NotRestored) string {
	if n.Fluent == "" {
		return mdProse(n.Reason)
	}
	return fmt.Sprintf("%s was %s, is %s: %s", mdName(n.Fluent), mdName(show(n.Was)), mdName(show(n.Now)), mdProse(n.Reason))
}

// evidence lists the conditions of the goal: what shows that each holds, or what
// keeps it from holding.
func (r *report) evidence(e executor.Ended) section {
	s := section{title: "Goal"}
	missing := e.Undone
	switch {
	case r.over && e.Status == executor.Succeeded:
		for _, ev := range e.Evidence {
			s.items = append(s.items, fmt.Sprintf("%s holds, %s%s", mdName(ev.Condition), mdName(ev.Verified), cited(ev.Facts)))
		}
		for _, n := range e.EvidenceMore {
			s.more += n
		}
		return s
	case r.over, r.known != nil:
		s.more = e.UndoneMore
	case r.looked != nil:
		s.title = "Goal, as the last look found it"
		missing, s.more = r.looked.Missing, r.looked.More
	default:
		return s
	}
	if e.LastSeen != nil {
		s.title = "Goal, as last seen " + stamp(*e.LastSeen)
	}
	for _, m := range missing {
		s.items = append(s.items, missed(m))
	}
	switch {
	case r.over && e.Unseen != "":
		s.items = append(s.items, "not known: "+mdProse(e.Unseen))
	case !r.over && len(missing) == 0:
		s.items = []string{"held when the world was last looked at"}
	}
	return s
}

// missed tells of a condition that does not hold.
func missed(m executor.Missing) string {
	how := "does not hold"
	if m.Unknown {
		how = "is not known to hold"
	}
	text := fmt.Sprintf("%s %s%s", mdName(m.Condition), how, cited(m.Because))
	if m.Note != "" {
		text += ": " + mdProse(m.Note)
	}
	return text
}

// cited tells the first of some facts: its value, and when and where it was seen.
func cited(facts []executor.Fact) string {
	if len(facts) == 0 {
		return ""
	}
	f := facts[0]
	text := ": " + mdName(fmt.Sprintf("%s = %s", f.Fluent, show(f.Value)))
	switch {
	case f.Error != "":
		text += ", " + mdProse(f.Error)
	case f.Source != "":
		text += " at " + mdName(f.Source)
	case f.Note != "":
		text += ", " + mdProse(f.Note)
	}
	if f.Sampled != nil {
		text += ", sampled " + stamp(*f.Sampled)
	}
	if n := len(facts) - 1; n > 0 {
		text += fmt.Sprintf(", and %d more", n)
	}
	return text
}

// decision is the last answer of the policy, and the last rule that was in the way.
func (r *report) decision() []string {
	var out []string
	if d := r.decided; d != nil {
		text := fmt.Sprintf("%s before %s", mdName(string(d.Answer)), mdName(string(d.Point)))
		if d.Reason != "" {
			text += ", " + mdName(d.Reason)
		}
		if len(d.Reasons) > 0 {
			text += ": " + mdProse(strings.Join(d.Reasons, "; "))
		}
		out = append(out, text)
	}
	if u := r.ruled; u != nil {
		what := "asks for approval"
		if u.Effect == policy.EffectDeny {
			what = "denies"
		}
		out = append(out, fmt.Sprintf("rule %s %s: %s", mdName(u.Rule), what, mdProse(u.Reason)))
	}
	return out
}

// foot is what the run took.
func (r *report) foot(now time.Time) []string {
	rounds, actions, cost, seconds := r.round, r.actions, r.spent.Cost, now.Sub(r.beganAt).Seconds()
	if e := r.stand.ended; r.over {
		rounds, actions, cost, seconds = e.Rounds, e.Actions, e.Cost, e.Seconds
	}
	text := fmt.Sprintf("Took %s, %s, %s", ago(max(0, seconds)), count(rounds, "round"), count(r.attempts, "attempt"))
	text += ", " + count(actions, "action")
	if r.spent.Calls > 0 || cost > 0 {
		text += fmt.Sprintf(", %s of models, %s tokens, %s USD", count(r.spent.Calls, "call"), grouped(r.spent.TokensIn+r.spent.TokensOut), strings.TrimPrefix(usd(cost), "$"))
	}
	text += fmt.Sprintf("; began %s, driven by pid %d on %s", stamp(r.beganAt), r.pid, mdName(r.host))
	return []string{text, "Everything: " + mdCommand("fettle show "+r.run)}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
