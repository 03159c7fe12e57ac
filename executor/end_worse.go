package executor

import (
	"fmt"
	"strings"
)

// Worsened is what a run left worse than it found it.
type Worsened struct {
	Conditions []string // of the goal: they held when the run began, and definitely do not now
	Unknown    []string // those of which it is not known whether they still hold
	Unsure     string   // why there may be more of either; "": there are not
}

// Worse compares the goal at a run's end with what the run found when it began;
// nil stands for a first observation that is not known. A run that did nothing
// made nothing worse.
func Worse(first *Observation, e Ended) Worsened {
	switch {
	case e.Actions == 0 || e.Status == Succeeded:
		return Worsened{}
	case e.Unseen != "":
		return Worsened{Unsure: e.Unseen}
	case first == nil:
		return Worsened{Unsure: "what held when the run began is not known"}
	}
	before := map[string]bool{}
	for _, m := range first.Missing {
		before[m.Condition] = true
	}
	var w Worsened
	if e.UndoneMore > 0 {
		w.Unsure = fmt.Sprintf("%d conditions that do not hold are not on record", e.UndoneMore)
	}
	for _, m := range e.Undone {
		switch {
		case before[m.Condition]:
		case first.More > 0:
			return Worsened{Unsure: "more conditions did not hold when the run began than are on record"}
		case m.Unknown:
			w.Unknown = append(w.Unknown, m.Condition)
		default:
			w.Conditions = append(w.Conditions, m.Condition)
		}
	}
	return w
}

// oweWorse adds the decision that a person owes about what the run left worse
// than it was, where nothing says so yet.
func (e *Ended) oweWorse(first *Observation) {
	w, waits := Worse(first, *e), e.Status == WaitingStatus
	what := few(w.Conditions)
	if waits && what == "" && len(e.NotRestored) > 0 {
		what = e.NotRestored[0].Fluent
	}
	switch {
	case len(e.NotRestored) > 0 && !waits: // It is owed in the words of what was not put back.
	case what != "" && waits:
		e.Owed = append(e.Owed, "go on with it, or put back what is worse: "+what)
	case what != "":
		e.Owed = append(e.Owed, "decide what becomes of what is worse than it was: "+what)
	case w.Unsure != "" && !waits:
		e.Owed = append(e.Owed, "look at how the run left the world: "+w.Unsure)
	}
}

// few lists the first of some texts.
func few(all []string) string {
	const most = 5
	if len(all) > most {
		return fmt.Sprintf("%s, and %d more", strings.Join(all[:most], ", "), len(all)-most)
	}
	return strings.Join(all, ", ")
}
