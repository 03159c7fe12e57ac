package policy

import (
	"slices"
	"time"
)

// SharedFacts are all that a refusal by a shared limit rests on. They fit the
// journal, so that a replay can ask again.
type SharedFacts struct {
	Now     time.Time    `json:"now"`
	Next    []Deed       `json:"next,omitempty"`    // the actions that were asked about
	History []Deed       `json:"history,omitempty"` // those before them that count
	Goal    string       `json:"goal,omitempty"`    // that a run was to begin towards
	Run     string       `json:"run,omitempty"`
	Runs    []RunOutcome `json:"runs,omitempty"` // before it
}

// maxSharedFacts is how many actions a refusal cites; where more count, it has
// no facts.
const maxSharedFacts = 200

// Again answers once more what the facts say was asked.
func (s Shared) Again(f SharedFacts) *SharedRefusal {
	if f.Run == "" {
		return s.Acts(f.History, f.Next, f.Now)
	}
	_, no := s.Begins(f.Goal, f.Runs, f.Run, f.Now)
	return no
}

// resting returns the facts that a refusal of actions rests on.
func (s Shared) resting(history, next []Deed, now time.Time) *SharedFacts {
	counts := s.counters()
	counts = slices.DeleteFunc(counts, func(c counter) bool { return !c.most.Set })
	bearing := func(d Deed) bool {
		return slices.ContainsFunc(counts, func(c counter) bool {
			return d.At.After(now.Add(-c.span)) && slices.ContainsFunc(next, func(n Deed) bool { return meet(c.of(d), c.of(n)) })
		})
	}
	f := &SharedFacts{Now: now, Next: next}
	for _, d := range history {
		if bearing(d) {
			f.History = append(f.History, d)
		}
	}
	if len(f.History)+len(f.Next) > maxSharedFacts {
		return nil
	}
	return f
}

func meet(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}
