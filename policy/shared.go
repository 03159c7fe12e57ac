package policy

import (
	"fmt"
	"slices"
	"time"
)

// Shared are the limits that hold for all controllers of a scope together: a
// run that keeps to its own limits may still be the twentieth of this hour. The
// zero value limits nothing.
type Shared struct {
	Window       time.Duration        // in which actions are counted
	MaxPerObject Limit[int]           // actions that name the object
	MaxPerAction Limit[int]           // executions of one action, whatever its arguments
	MaxTotal     Limit[int]           // actions
	Cooldown     Limit[time.Duration] // between two executions of one ground action
	Breaker      Limit[int]           // runs towards one goal in a row without success
	BreakerReset Limit[time.Duration] // after which one more run is let through; never where not set
	Ineffective  Limit[time.Duration] // for how long a success has to last
}

// The reasons of runs that a shared limit stops.
const (
	Limited     = "limit"       // actions of all controllers
	Broken      = "breaker"     // runs in a row without success
	Ineffective = "ineffective" // the last success did not last
)

const (
	// SharedReach is the furthest that a shared limit may look back for actions.
	SharedReach = 7 * 24 * time.Hour
	// sharedRuns is how many runs towards a goal are kept to be counted.
	sharedRuns = 100
)

// LimitsActions tells whether any limit counts actions.
func (s Shared) LimitsActions() bool {
	return s.MaxPerObject.Set || s.MaxPerAction.Set || s.MaxTotal.Set || s.Cooldown.Set
}

// LimitsRuns tells whether any limit looks at earlier runs.
func (s Shared) LimitsRuns() bool { return s.Breaker.Set || s.Ineffective.Set }

// Reach is how far back the limits look for actions.
func (s Shared) Reach() time.Duration { return max(s.Window, s.Cooldown.Or(0)) }

// SharedRefusal says which shared limit is in the way. It fits the journal.
type SharedRefusal struct {
	Limit string `json:"limit"` // the attribute: max_total, cooldown, breaker, …
	// Word is the reason of a run that ends because of it.
	Word   string    `json:"word"`
	Of     string    `json:"of,omitempty"` // the object, action, ground action or goal
	Used   int       `json:"used"`         // of the limit; of a span of time: 0
	Most   int       `json:"most"`
	Until  time.Time `json:"until,omitzero"` // when it is no longer in the way; zero: not by itself
	Reason string    `json:"reason"`         // one sentence
	More   int       `json:"more,omitempty"` // other limits that are in the way, and free earlier
	// Facts are what it rests on; nil where they are too many for the journal.
	Facts *SharedFacts `json:"facts,omitempty"`
}

// strictest returns the refusal that is in the way for longest, and counts the
// others, some of which may be nil.
func strictest(all ...*SharedRefusal) *SharedRefusal {
	all = slices.DeleteFunc(slices.Clone(all), func(r *SharedRefusal) bool { return r == nil })
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b *SharedRefusal) int {
		if a.Until.IsZero() || b.Until.IsZero() {
			return a.Until.Compare(b.Until) // For ever, before any time.
		}
		return b.Until.Compare(a.Until)
	})
	out := *all[0]
	if out.More = len(all) - 1; out.More > 0 {
		out.Reason += fmt.Sprintf("; %s in the way too", otherLimits(out.More))
	}
	return &out
}

// from says when a limit is no longer in the way.
func from(until time.Time) string {
	if until.IsZero() {
		return "it never fits"
	}
	return "again from " + until.UTC().Format(time.RFC3339)
}

// Spell writes a duration for a person: 10m and not 10m0s.
func Spell(d time.Duration) string { return spell(d) }

func otherLimits(n int) string {
	if n == 1 {
		return "1 other limit is"
	}
	return fmt.Sprintf("%d other limits are", n)
}
