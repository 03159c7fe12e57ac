package audit

import (
	"encoding/json"
	"slices"
	"time"
)

// Spread is a set of durations in seconds. The zero value is empty.
type Spread struct {
	values []float64
	sorted bool
}

func (s *Spread) add(seconds float64) { s.values, s.sorted = append(s.values, seconds), false }

// N returns how many there are.
func (s *Spread) N() int { return len(s.values) }

// Median returns the middle one, the lower of two; 0 where there are none.
func (s *Spread) Median() float64 {
	if len(s.values) == 0 {
		return 0
	}
	s.sort()
	return s.values[(len(s.values)-1)/2]
}

// Max returns the largest; 0 where there are none.
func (s *Spread) Max() float64 {
	if len(s.values) == 0 {
		return 0
	}
	s.sort()
	return s.values[len(s.values)-1]
}

func (s *Spread) sort() {
	if !s.sorted {
		slices.Sort(s.values)
		s.sorted = true
	}
}

// MarshalJSON writes the number of values, the median and the largest.
func (s Spread) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		N      int     `json:"n"`
		Median float64 `json:"median"`
		Max    float64 `json:"max"`
	}{s.N(), s.Median(), s.Max()})
}

// rounds are the durations that people write, up to the hour.
var rounds = []time.Duration{
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 3 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 20 * time.Second, 30 * time.Second, 45 * time.Second,
	time.Minute, 90 * time.Second, 2 * time.Minute, 3 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 20 * time.Minute, 30 * time.Minute, 45 * time.Minute,
}

// atLeast returns a round duration that is not shorter.
func atLeast(seconds float64) time.Duration {
	d := time.Duration(seconds * float64(time.Second))
	for _, r := range rounds {
		if d <= r {
			return r
		}
	}
	return (d + time.Hour - 1).Truncate(time.Hour)
}
