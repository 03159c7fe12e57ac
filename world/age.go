package world

import (
	"cmp"
	"fmt"
	"time"

	"github.com/fettleops/fettle/model"
)

// within makes a reading unknown that is older than a guard may take it.
func (o *observer) within(r Reading, notBefore time.Time) Reading {
	switch {
	case !r.Value.Known() || notBefore.IsZero():
		return r
	case o.series == nil:
		return tooOld(r, notBefore)
	case o.series.maxAge == nil:
		return r // the time of the evaluation counts, and it is just over
	case r.Sampled.IsZero():
		return ageless(r, "max_age asks for that")
	}
	return tooOld(r, notBefore.Add(-*o.series.maxAge))
}

// later makes a reading unknown that was not sampled after the moment.
func (o *observer) later(r Reading, after time.Time) Reading {
	if r.Value.Known() && r.Sampled.IsZero() {
		return ageless(r, "an effect is only seen in later samples")
	}
	return tooOld(r, after)
}

func tooOld(r Reading, limit time.Time) Reading {
	if r.Value.Known() && r.Sampled.Before(limit) {
		r.Value, r.TooOld = model.Value{}, true
		r.Err = fmt.Sprintf("sampled %s too early", limit.Sub(r.Sampled).Round(time.Microsecond))
	}
	return r
}

func ageless(r Reading, why string) Reading {
	mend := cmp.Or(r.untimed, "give freshness")
	r.Value, r.Err = model.Value{}, clip(fmt.Sprintf("nothing tells when this was sampled, and %s: %s", why, mend), 300)
	return r
}
