package world

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
)

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

func (q *promQuery) source() Source {
	return Source{Kind: "prometheus", Query: q.query, Server: q.server.shown()}
}

// sample is one series as it was answered.
type sample struct {
	labels map[string]any
	value  float64
	odd    string // why it has no value
	taken  taken
}

// told is what the freshness query tells of one of its series.
type told struct {
	labels map[string]any
	taken  taken
}

// seriesAnswer is what a Prometheus answered.
type seriesAnswer struct {
	samples []sample
	times   []told   // of the freshness query
	notes   []string // warnings and infos
	partial string   // a warning: the answer may not be whole
	plain   bool     // each series is one that is stored, and made of no others
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
	out := &seriesAnswer{plain: isSelector(q.query)}
	if q.freshness != "" {
		in, err := s.instantAt(ctx, q.freshness)
		if err != nil {
			return nil, fmt.Errorf("freshness: %w", err)
		}
		out.times = in.times()
		out.note(in.notes)
	}
	query := q.query
	if q.freshness == "" && !q.timeless && out.plain {
		query = timed(query)
	}
	in, err := s.instantAt(ctx, query)
	if err != nil {
		return nil, err
	}
	out.samples, out.partial = in.samples(), in.partial
	out.note(in.notes)
	return out, nil
}

// instantAt is instant, and remembers when it was asked.
func (s *promServer) instantAt(ctx context.Context, query string) (*instantAnswer, error) {
	sent := time.Now()
	in, err := s.instant(ctx, query)
	if err != nil {
		return nil, err
	}
	in.sent = sent
	return in, nil
}

// note keeps the first of what was remarked, each once.
func (a *seriesAnswer) note(remarks []string) {
	for _, s := range remarks {
		if s = clip(s, 120); !slices.Contains(a.notes, s) && len(a.notes) < 4 {
			a.notes = append(a.notes, s)
		}
	}
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
