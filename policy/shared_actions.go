package policy

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// SharedUse is how much of a limit on actions is used.
type SharedUse struct {
	Limit string        `json:"limit"` // the attribute
	Of    string        `json:"of,omitempty"`
	Used  int           `json:"used"`
	Most  int           `json:"most"`
	Span  time.Duration `json:"span_ns"`        // in which it is counted
	Frees time.Time     `json:"frees,omitzero"` // when one more fits; zero: now, or never
	Last  *Deed         `json:"last,omitempty"` // that counts
	times []time.Time   // of those that count, oldest first
	next  int           // of those asked about
}

// Acts answers whether all of the actions next may be begun now, given what all
// controllers began before: nil where they may. It depends on its arguments
// alone. An action that is dated in the future, by another clock, counts.
func (s Shared) Acts(history, next []Deed, now time.Time) *SharedRefusal {
	var all []*SharedRefusal
	for _, u := range s.uses(history, next, now) {
		if u.next > 0 && u.Used+u.next > u.Most {
			all = append(all, u.refusal(now))
		}
	}
	no := strictest(all...)
	if no != nil {
		no.Facts = s.resting(history, next, now)
	}
	return no
}

// Uses returns how much is used of every limit on actions that something counts
// towards, in the order of the limits and then of what they are about.
func (s Shared) Uses(history []Deed, now time.Time) []SharedUse {
	return s.uses(history, nil, now)
}

// counter is a limit on the number of actions that have something in common.
type counter struct {
	limit string
	most  Limit[int]
	span  time.Duration
	of    func(Deed) []string
}

func (s Shared) counters() []counter {
	cooldown := Limit[int]{Value: 1, Set: s.Cooldown.Set}
	return []counter{
		{"max_total", s.MaxTotal, s.Window, func(Deed) []string { return []string{""} }},
		{"max_per_action", s.MaxPerAction, s.Window, func(d Deed) []string { return []string{d.Action} }},
		{"max_per_object", s.MaxPerObject, s.Window, func(d Deed) []string { return once(d.Objects) }},
		{"cooldown", cooldown, s.Cooldown.Value, func(d Deed) []string { return []string{d.Ground} }},
	}
}

func once(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

func (s Shared) uses(history, next []Deed, now time.Time) []SharedUse {
	var out []SharedUse
	for _, c := range s.counters() {
		if !c.most.Set {
			continue
		}
		out = append(out, c.uses(history, next, now)...)
	}
	return out
}

func (c counter) uses(history, next []Deed, now time.Time) []SharedUse {
	by := map[string]*SharedUse{}
	use := func(of string) *SharedUse {
		if by[of] == nil {
			by[of] = &SharedUse{Limit: c.limit, Of: of, Most: c.most.Value, Span: c.span}
		}
		return by[of]
	}
	for i := range history {
		d := &history[i]
		if !d.At.After(now.Add(-c.span)) {
			continue
		}
		for _, of := range c.of(*d) {
			u := use(of)
			u.Used++
			u.times = append(u.times, d.At)
			if u.Last == nil || !d.At.Before(u.Last.At) {
				u.Last = d
			}
		}
	}
	for _, d := range next {
		for _, of := range c.of(d) {
			use(of).next++
		}
	}
	out := make([]SharedUse, 0, len(by))
	for _, of := range slices.Sorted(maps.Keys(by)) {
		u := by[of]
		slices.SortFunc(u.times, time.Time.Compare)
		u.Frees = u.frees(max(1, u.next))
		out = append(out, *u)
	}
	return out
}

// frees is when so many more fit; zero where they do now, or never will.
func (u *SharedUse) frees(more int) time.Time {
	over := u.Used + more - u.Most
	if over <= 0 || over > u.Used {
		return time.Time{}
	}
	return u.times[over-1].Add(u.Span)
}

// aheadBy is by how much an action may be dated in the future before a person is
// told that clocks disagree.
const aheadBy = time.Minute

func (u *SharedUse) refusal(now time.Time) *SharedRefusal {
	r := &SharedRefusal{Limit: u.Limit, Word: Limited, Of: u.Of, Used: u.Used, Most: u.Most, Until: u.Frees}
	switch {
	case u.Limit == "cooldown" && u.Last == nil:
		r.Used, r.Most = 0, 0
		r.Reason = fmt.Sprintf("cooldown = %s: %s would be carried out %d times at once", spell(u.Span), u.Of, u.next)
	case u.Limit == "cooldown":
		r.Used, r.Most = 0, 0
		r.Reason = fmt.Sprintf("cooldown = %s: %s was begun at %s by run %s, %s", spell(u.Span), u.Of, stamp(u.Last.At), u.Last.Run, from(r.Until))
	default:
		r.Reason = fmt.Sprintf("%s = %d in %s: %s, %s", u.Limit, u.Most, spell(u.Span), u.begun(), from(r.Until))
	}
	if u.Last != nil && u.Last.At.After(now.Add(aheadBy)) {
		r.Reason += fmt.Sprintf(" (run %s dated it %s ahead of this clock: see that the clocks agree)", u.Last.Run, spell(u.Last.At.Sub(now)))
	}
	return r
}

// begun says what counts, and what is to be begun where that is more than one.
func (u *SharedUse) begun() string {
	what := map[string]string{"max_total": "", "max_per_action": " of " + u.Of, "max_per_object": " on " + u.Of}[u.Limit]
	s := fmt.Sprintf("%s%s begun by all controllers together", actions(u.Used), what)
	if u.Last != nil {
		s += fmt.Sprintf(", the last %s at %s by run %s", u.Last.Ground, stamp(u.Last.At), u.Last.Run)
	}
	if u.next > 1 {
		s += fmt.Sprintf("; the plan has %d more", u.next)
	}
	return s
}

func actions(n int) string {
	if n == 1 {
		return "1 action"
	}
	return fmt.Sprintf("%d actions", n)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
