package world

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
)

const (
	// imprecision is how much later than its scrape a sample may seem to be taken:
	// Prometheus moves the time of a scrape by up to 2 ms to its regular moment,
	// and times are cut to milliseconds.
	imprecision = 3 * time.Millisecond
	// maxAhead is how far in the future a sample may seem to be taken, by a clock
	// that is ahead of the server's. It counts as taken just now.
	maxAhead = 5 * time.Second
)

// taken is when a sample was taken, by our clock. A zero time: nothing tells,
// and why says the reason where it is a special one.
type taken struct {
	at  time.Time
	why string
}

// older returns the older of two. One that is not told is the oldest.
func (t taken) older(u taken) taken {
	if t.at.IsZero() || !u.at.IsZero() && t.at.Before(u.at) {
		return t
	}
	return u
}

// local is when a sample was taken by our clock: as long before we asked as it
// was before the evaluation by the server's, both in seconds. Clocks need not
// agree for that, and it is never too late.
func (in *instantAnswer) local(evaluated, seconds float64) taken {
	switch age := evaluated - seconds; {
	case math.IsNaN(age), age > 1e9: // three decades
		return taken{}
	case age < -1e9:
		return taken{why: "the time it is given is not in seconds since 1970"}
	case age < -maxAhead.Seconds():
		return taken{why: fmt.Sprintf("the time it is given is %s in the future", time.Duration(-age*float64(time.Second)).Round(time.Second))}
	default:
		return taken{at: in.sent.Add(-time.Duration(max(0, age)*float64(time.Second)) - imprecision)}
	}
}

// times reads the answer of a freshness query. Where it may not be whole, what
// is missing may be older than anything that it tells.
func (in *instantAnswer) times() []told {
	out := make([]told, 0, len(in.vector))
	for _, s := range in.vector {
		t := told{labels: s.Labels}
		switch {
		case in.partial != "":
			t.taken.why = "the answer of freshness may not be whole: " + in.partial
		case !s.isHistogram():
			t.taken = in.local(s.Point.at, s.Point.value)
		}
		out = append(out, t)
	}
	return out
}

// samples takes the marks off and gives each series its time.
func (in *instantAnswer) samples() []sample {
	times := map[string]taken{}
	out := make([]sample, 0, len(in.vector))
	keys := make([]string, 0, len(in.vector))
	for _, s := range in.vector {
		what, marked := s.Labels[mark]
		delete(s.Labels, mark)
		key := ""
		if marked {
			key = identity(s.Labels)
		}
		n := sample{labels: s.Labels}
		switch {
		case s.isHistogram():
			n.odd = "the sample is a histogram"
		case what == "time":
			times[key] = in.local(s.Point.at, s.Point.value)
			continue
		case math.IsNaN(s.Point.value):
			n.odd = "the sample is NaN"
		default:
			n.value = s.Point.value
		}
		out, keys = append(out, n), append(keys, key)
	}
	for i := range out {
		if keys[i] != "" {
			out[i].taken = times[keys[i]]
		}
	}
	return out
}

// identity is a series without its name, which timestamp takes away.
func identity(labels map[string]any) string {
	out := []byte{'{'}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if name != nameLabel {
			text, _ := labels[name].(string)
			out = strconv.AppendQuote(append(strconv.AppendQuote(out, name), '='), text)
		}
	}
	return string(out)
}
