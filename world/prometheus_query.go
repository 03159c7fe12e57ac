package world

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	prom "github.com/prometheus/common/model"
)

// imprecision is how much later than its scrape a sample may seem to be taken:
// Prometheus moves the time of a scrape by up to 2 ms to its regular moment,
// and times are cut to milliseconds.
const imprecision = 3 * time.Millisecond

// promQuery is one question to a Prometheus, for all objects of a fluent.
type promQuery struct {
	server           *promServer
	query, freshness string
	timeout          time.Duration
	timeless         bool // when the samples were taken is not asked
}

func (q *promQuery) key() string {
	return fmt.Sprintf("prometheus %p %q %q %s %t", q.server, q.query, q.freshness, q.timeout, q.timeless)
}

func (q *promQuery) source() Source { return Source{Kind: "prometheus", Query: q.query} }

// sample is one series as it was answered.
type sample struct {
	labels  map[string]any
	value   float64
	odd     string    // why it has no value
	sampled time.Time // zero: not told
}

// seriesAnswer is what a Prometheus answered.
type seriesAnswer struct {
	samples []sample
	times   []sample // of the freshness query: sampled is what it told
	notes   []string // warnings and infos
	partial string   // a warning: the answer may not be whole
}

func (q *promQuery) ask(ctx context.Context, _ *World) answer {
	limit, cancel := context.WithTimeout(ctx, q.timeout)
	defer cancel()
	a := answer{redact: q.server.secrets()}
	got, err := q.server.answer(limit, q)
	if err != nil {
		a.err = q.why(limit, err)
		return a
	}
	a.env, a.series = map[string]any{}, got
	return a
}

// answer asks for the samples and, in one question or before, for their times.
// Times that were answered first belong to samples that are no newer than those
// answered later.
func (s *promServer) answer(ctx context.Context, q *promQuery) (*seriesAnswer, error) {
	api, err := s.api()
	if err != nil {
		return nil, err
	}
	out := &seriesAnswer{}
	if q.freshness != "" {
		in, err := instant(ctx, api, q.freshness, out)
		if err != nil {
			return nil, fmt.Errorf("freshness: %w", err)
		}
		for _, s := range in.vector {
			out.times = append(out.times, sample{labels: labelsOf(s.Metric), sampled: in.local(s.Timestamp, float64(s.Value))})
		}
	}
	query := q.query
	if q.freshness == "" && !q.timeless && isSelector(query) {
		query = timed(query)
	}
	in, err := instant(ctx, api, query, out)
	if err != nil {
		return nil, err
	}
	out.samples = in.samples()
	return out, nil
}

// instantAnswer is the answer to an instant query.
type instantAnswer struct {
	vector prom.Vector
	sent   time.Time // when it was asked, by our clock
}

func instant(ctx context.Context, api v1.API, query string, out *seriesAnswer) (*instantAnswer, error) {
	in := &instantAnswer{sent: time.Now()}
	v, warnings, infos, err := api.Query(ctx, query, time.Time{})
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		out.partial = w
		out.note("warning: " + w)
	}
	for _, i := range infos {
		out.note("info: " + i)
	}
	switch v := v.(type) {
	case prom.Vector:
		in.vector = v
	case *prom.Scalar:
		in.vector = prom.Vector{{Metric: prom.Metric{}, Value: v.Value, Timestamp: v.Timestamp}}
	default:
		return nil, fmt.Errorf("the query gives a %s, and a value for each series is wanted", v.Type())
	}
	return in, nil
}

func (a *seriesAnswer) note(s string) {
	if !slices.Contains(a.notes, s) && len(a.notes) < 4 {
		a.notes = append(a.notes, clip(s, 120))
	}
}

// local is when a sample was taken by our clock: as long before we asked as it
// was before the evaluation by the server's. Clocks need not agree for that,
// and it is never too late. Zero where the time is none.
func (in *instantAnswer) local(evaluated prom.Time, seconds float64) time.Time {
	age := float64(evaluated)/1000 - seconds
	if math.IsNaN(age) || math.Abs(age) > 1e9 { // three decades
		return time.Time{}
	}
	return in.sent.Add(-time.Duration(max(0, age)*float64(time.Second)) - imprecision)
}

// samples takes the marks off and gives each series its time.
func (in *instantAnswer) samples() []sample {
	times := map[string]time.Time{}
	out := make([]sample, 0, len(in.vector))
	keys := make([]string, 0, len(in.vector))
	for _, s := range in.vector {
		what := s.Metric[mark]
		delete(s.Metric, mark)
		key := ""
		if what != "" {
			key = identity(s.Metric)
		}
		if what == "time" {
			times[key] = in.local(s.Timestamp, float64(s.Value))
			continue
		}
		n := sample{labels: labelsOf(s.Metric), value: float64(s.Value)}
		if s.Histogram != nil {
			n.odd = "the sample is a histogram"
		} else if math.IsNaN(n.value) {
			n.odd = "the sample is NaN"
		}
		out, keys = append(out, n), append(keys, key)
	}
	for i := range out {
		if keys[i] != "" {
			out[i].sampled = times[keys[i]]
		}
	}
	return out
}

// identity is a series without its name, which timestamp takes away.
func identity(m prom.Metric) string {
	name, named := m[prom.MetricNameLabel]
	delete(m, prom.MetricNameLabel)
	key := m.String()
	if named {
		m[prom.MetricNameLabel] = name
	}
	return key
}

func labelsOf(m prom.Metric) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[string(k)] = string(v)
	}
	return out
}

// why says in one line why there is no answer.
func (q *promQuery) why(limit context.Context, err error) string {
	var e *v1.Error
	switch {
	case errors.Is(err, errTooLarge):
		return errTooLarge.Error()
	case limit.Err() != nil:
		return fmt.Sprintf("no answer within %s", q.timeout)
	case !errors.As(err, &e):
		return bare(err).Error()
	}
	prefix := ""
	if strings.HasPrefix(err.Error(), "freshness: ") {
		prefix = "freshness: "
	}
	text := prefix + e.Msg
	switch e.Type {
	case v1.ErrBadResponse:
		text = prefix + "this is not how Prometheus answers: " + e.Msg
	case v1.ErrBadData, v1.ErrExec, v1.ErrTimeout, v1.ErrCanceled:
		text = fmt.Sprintf("%sPrometheus says %s: %s", prefix, e.Type, e.Msg)
	}
	if d := clip(e.Detail, 120); d != "" {
		text += ": " + d
	}
	return text
}
