package policy

import (
	"slices"
	"time"
)

// How far a denial is looked ahead, and at how many instants at most.
const (
	ahead     = 8 * 24 * time.Hour
	maxLooked = 4000
)

// opens returns the first instant after now at which the same facts are not
// denied; zero where that is none of the next days. Only time moves on: what it
// changes, it changes at the instants that are looked at.
func (p *Policy) opens(f Facts) time.Time {
	now := f.Now
	var at []time.Time
	for i := range p.Rules {
		if c := p.Rules[i].cond; c != nil {
			at = c.changes(at, &f)
		}
	}
	at = slices.DeleteFunc(at, func(t time.Time) bool { return !t.After(now) || t.After(now.Add(ahead)) })
	slices.SortFunc(at, time.Time.Compare)
	at = slices.CompactFunc(at, time.Time.Equal)
	for _, t := range at[:min(len(at), maxLooked)] {
		f.Now = t
		if p.rule(f).Effect != EffectDeny {
			return t.UTC()
		}
	}
	return time.Time{}
}

// changes appends every instant of the days around now at which what the
// condition asks of time may change. Others may be among them.
func (c *condition) changes(at []time.Time, f *Facts) []time.Time {
	for _, w := range c.windows {
		at = wallTimes(at, f.Now, w.zone, []int{w.start, w.end})
	}
	clock := []int{0}
	for h := 1; c.hourly && h < 24; h++ {
		clock = append(clock, 3600*h)
	}
	for _, z := range c.zones {
		at = wallTimes(at, f.Now, z, clock)
	}
	for _, span := range c.spans {
		for i := range f.History {
			at = append(at, f.History[i].At.Add(span))
		}
	}
	return at
}

// wallTimes appends the instants of the next days at which a clock on the wall
// shows one of the times, in seconds from midnight, and those at which it is
// changed. A time that the clock shows twice is there twice.
func wallTimes(at []time.Time, now time.Time, zone *time.Location, clock []int) []time.Time {
	const day = 24 * time.Hour
	for t := now.In(zone); t.Before(now.Add(ahead)); {
		_, end := t.ZoneBounds()
		if end.IsZero() {
			break
		}
		at = append(at, end)
		t = end
	}
	y, m, d := now.In(zone).Date()
	for n := range int(ahead/day) + 2 {
		for _, seconds := range clock {
			wall := time.Date(y, m, d+n, 0, 0, seconds, 0, time.UTC)
			last := 0
			for i, near := range []time.Time{wall.Add(-day), wall.Add(day)} {
				_, offset := near.In(zone).Zone()
				if i == 0 || offset != last {
					at = append(at, wall.Add(-time.Duration(offset)*time.Second))
				}
				last = offset
			}
		}
	}
	return at
}
