package world

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// instantAnswer is the answer to an instant query.
type instantAnswer struct {
	vector  []*promSeries
	notes   []string  // warnings and infos
	partial string    // a warning: the answer may not be whole
	sent    time.Time // when it was asked, by our clock
}

// promSeries is one element of a vector: its labels, each a text, and either a
// value or a histogram.
type promSeries struct {
	Labels    map[string]any  `json:"metric"`
	Point     *promPoint      `json:"value"`
	Histogram json.RawMessage `json:"histogram"`
}

// promPoint is a value and the moment of its evaluation, in seconds since 1970
// by the server's clock.
type promPoint struct{ at, value float64 }

// UnmarshalJSON reads a point as Prometheus writes it, [1435781451.781, "1"],
// and nothing else. The text is known to be well-formed JSON.
func (p *promPoint) UnmarshalJSON(b []byte) error {
	wrong := fmt.Errorf("a sample is [time, \"value\"], and this is %s", clip(string(b), 60))
	list, isList := bytes.CutPrefix(b, []byte("["))
	list, closed := bytes.CutSuffix(list, []byte("]"))
	first, second, two := bytes.Cut(list, []byte(","))
	second = bytes.TrimSpace(second)
	if !isList || !closed || !two || len(second) < 2 || second[0] != '"' || second[len(second)-1] != '"' {
		return wrong
	}
	var err error
	if p.at, err = strconv.ParseFloat(string(bytes.TrimSpace(first)), 64); err != nil {
		return wrong
	}
	if p.value, err = strconv.ParseFloat(string(second[1:len(second)-1]), 64); err != nil {
		return wrong
	}
	return nil
}

// read reads the value of a query as series.
func (d *promData) read() (*instantAnswer, error) {
	in := &instantAnswer{}
	if len(d.Result) == 0 {
		return nil, badAnswer("it has no result")
	}
	switch d.Type {
	case "vector":
		if err := json.Unmarshal(d.Result, &in.vector); err != nil {
			return nil, badAnswer("%s", jsonTrouble(err))
		}
		if in.vector == nil {
			return nil, badAnswer("its result is null")
		}
	case "scalar":
		one := &promSeries{Labels: map[string]any{}}
		if err := json.Unmarshal(d.Result, &one.Point); err != nil {
			return nil, badAnswer("%s", jsonTrouble(err))
		}
		in.vector = []*promSeries{one}
	case "matrix", "string":
		return nil, fmt.Errorf("the query gives a %s, and a value for each series is wanted", d.Type)
	default:
		return nil, badAnswer("its result is of type %q", clip(d.Type, 60))
	}
	for i, s := range in.vector {
		if why := s.lacks(); why != "" {
			return nil, badAnswer("series %d of %d %s", i+1, len(in.vector), why)
		}
	}
	return in, nil
}

// lacks tells what a series should have and has not, "" where it is whole.
func (s *promSeries) lacks() string {
	switch {
	case s == nil:
		return "is null"
	case s.Labels == nil:
		return "has no labels"
	case s.Point == nil && !s.isHistogram():
		return "has no value"
	}
	for name, v := range s.Labels {
		if _, ok := v.(string); !ok {
			return fmt.Sprintf("has a label %s that is %s", clip(strconv.Quote(name), 60), describe(v))
		}
	}
	return ""
}

func (s *promSeries) isHistogram() bool {
	return len(s.Histogram) > 0 && string(s.Histogram) != "null"
}
