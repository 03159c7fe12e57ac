package executor

import "github.com/fettleops/fettle/policy"

// barrier is what stands in the way of a run and ends it: a rule, or a limit
// that all controllers share.
type barrier struct {
	word  string // of the run that cannot wait until it goes by
	waits string // of the run that waits for that
	opens bool   // it goes by itself
}

// limited takes the shared limit as it was told: it looks at what other
// controllers did. A run that may not begin towards its goal does not wait.
func (r *replayer) limited(v SharedLimit) error {
	r.taken("limits that all controllers share")
	r.shut = &barrier{v.Word, v.Word, v.Action != "" && v.Word == policy.Limited && !v.Until.IsZero()}
	return r.fold()
}

// stepDenied notes that a rule denies a step which it allowed when the step was
// planned, because a window has closed: that ends the run, and no way back.
func (r *replayer) stepDenied(v Ruled) {
	for _, s := range v.Steps {
		if s.Ruling.Effect == policy.EffectDeny && !s.Ruling.Opens.IsZero() && r.back == nil {
			r.shut = &barrier{policy.Denied, Window, true}
		}
	}
}

// closed notes what denies everything that was proposed. Whether it goes by is
// taken as told: what was proposed is not ruled on in the journal.
func (r *replayer) closed(v Ended) {
	switch v.Reason {
	case policy.Limited:
		r.shut = &barrier{policy.Limited, policy.Limited, v.Opens != nil}
	case policy.Denied, Window:
		r.shut = &barrier{policy.Denied, Window, v.Opens != nil}
	}
}

// leaves notes whether the run has made things worse, where something may bar its
// way: what it puts back later does not count.
func (r *replayer) leaves() { r.worse = r.blind == "" && r.p.worse() }

// barred is how the run ends: it waits until the barrier goes by, unless it has
// left the severity above that of the start.
func (r *replayer) barred(b barrier) (status, reason string) {
	if !b.opens || r.worse {
		return Escalated, b.word
	}
	return WaitingStatus, b.waits
}
