package notify

import (
	"slices"
	"strings"

	"github.com/fettleops/fettle/executor"
)

// Occasion is something that is told.
type Occasion string

// The occasions. Those of a run's statuses have their names.
const (
	Waiting     Occasion = executor.WaitingStatus
	Succeeded   Occasion = executor.Succeeded
	Escalated   Occasion = executor.Escalated
	Failed      Occasion = executor.FailedStatus
	Cancelled   Occasion = executor.Cancelled
	InDoubt     Occasion = "in_doubt"     // the run ended, and the outcome of an action is unknown
	LeftOut     Occasion = "left_out"     // the run ended, acted, and left something worse than it was
	WaitingLong Occasion = "waiting_long" // a run that is driven has waited for longer than After
)

// trial is the occasion of a message that only tries whether it arrives.
const trial Occasion = "test"

// byDefault are those that are told where a block names none: whatever needs a
// person.
var byDefault = []Occasion{Waiting, Escalated, Failed, InDoubt, LeftOut, WaitingLong}

// wants returns those of the occasions that a notifier is told of.
func (s Settings) wants(all []Occasion) []Occasion {
	var out []Occasion
	for _, o := range all {
		if slices.Contains(s.On, o) {
			out = append(out, o)
		}
	}
	return out
}

func words(all []Occasion) string {
	out := make([]string, len(all))
	for i, o := range all {
		out[i] = string(o)
	}
	return strings.Join(out, ",")
}
