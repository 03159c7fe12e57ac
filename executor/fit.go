package executor

import (
	"encoding/json"

	"github.com/fettleops/fettle/journal"
)

// room is how large the lists of an event may make it: the journal refuses what
// is larger than its bound, and nothing may fail for having seen too much.
const room = journal.MaxEvent / 2

func tooLarge(event any) bool {
	raw, err := json.Marshal(event) // Bools, numbers, strings and lists of them: cannot fail.
	return err == nil && len(raw) > room
}

// fit cuts the lists of an observation until it fits into an event.
func (o *Observation) fit() {
	for len(o.Missing)+len(o.Errors) > 0 && tooLarge(o) {
		keep := len(o.Missing) / 2
		o.More += len(o.Missing) - keep
		o.Missing, o.Errors = o.Missing[:keep], o.Errors[:len(o.Errors)/2]
	}
}

// fit cuts the lists of a run's end until they fit into an event, and counts
// what it leaves out.
func (e *Ended) fit() {
	e.cut(maxListed)
	for n := max(len(e.Evidence), len(e.Undone)); n > 0 && tooLarge(e); {
		n /= 2
		e.cut(n)
	}
}

// cut leaves at most n conditions in each list.
func (e *Ended) cut(n int) {
	if len(e.Evidence) > n {
		if e.EvidenceMore == nil {
			e.EvidenceMore = map[string]int{}
		}
		for _, ev := range e.Evidence[n:] {
			e.EvidenceMore[ev.Verified]++
		}
		e.Evidence = e.Evidence[:n]
	}
	if len(e.Undone) > n {
		e.UndoneMore += len(e.Undone) - n
		e.Undone = e.Undone[:n]
	}
}
