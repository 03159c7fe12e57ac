package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/server"
)

// metricsFlags say where a run serves its metrics, and how long after its end.
type metricsFlags struct {
	addr   string
	linger time.Duration
}

func (f *metricsFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&f.addr, "metrics", "", "serve the run's metrics to Prometheus at http://`HOST:PORT`/metrics for as long as it lasts")
	fl.DurationVar(&f.linger, "metrics-linger", 0, "go on serving them after the run, for a last scrape; a signal ends that")
}

func (f metricsFlags) check() error {
	switch {
	case f.linger < 0:
		return fmt.Errorf("--metrics-linger must not be negative, and is %s", f.linger)
	case f.linger > 0 && f.addr == "":
		return errors.New("--metrics-linger says how long to go on serving metrics, and --metrics HOST:PORT is missing")
	}
	return nil
}

// runMetrics are the metrics of one run, served while it lasts. Nil is none.
type runMetrics struct {
	metrics  *server.Metrics
	endpoint *server.Endpoint
	linger   time.Duration
	begun    bool // There was an event.
}

// serveMetrics begins to serve, before anything of the run is done. It returns
// nil where nobody asked for metrics.
func (a *app) serveMetrics(f metricsFlags) (*runMetrics, error) {
	if f.addr == "" {
		return nil, nil
	}
	reg := prometheus.NewRegistry()
	m := &runMetrics{metrics: server.NewMetrics(reg), linger: f.linger}
	var err error
	if m.endpoint, err = server.ServeMetrics(f.addr, reg); err != nil {
		return nil, fmt.Errorf("--metrics: %w", err)
	}
	fmt.Fprintln(a.err, "metrics at", m.endpoint.URL())
	return m, nil
}

// event takes an event of the run in.
func (m *runMetrics) event(e journal.Event) {
	if m != nil {
		m.begun = true
		m.metrics.Event(e)
	}
}

// catchUp takes in what a run that is gone on with has done before. How it
// stopped is none of it: it goes on.
func (m *runMetrics) catchUp(events iter.Seq2[journal.Event, error]) error {
	if m == nil {
		return nil
	}
	return each(events, func(e journal.Event) error {
		if e.Kind != executor.RunEnded {
			m.metrics.Event(e)
		}
		return nil
	})
}

// close lingers, after a run that had begun, and stops serving.
func (m *runMetrics) close(ctx context.Context, a *app) {
	if m == nil {
		return
	}
	if m.begun && m.linger > 0 && ctx.Err() == nil {
		fmt.Fprintf(a.err, "the run is over; its metrics stay at %s for %s\n", m.endpoint.URL(), m.linger)
		wait, cancel := context.WithTimeout(ctx, m.linger)
		<-wait.Done()
		cancel()
	}
	if err := m.endpoint.Close(); err != nil {
		fmt.Fprintln(a.err, "Error:", err)
	}
}

// inOrder tells several of an event, one after another. Nil ones are left out.
func inOrder(tell ...func(journal.Event)) func(journal.Event) {
	return func(e journal.Event) {
		for _, f := range tell {
			if f != nil {
				f(e)
			}
		}
	}
}
