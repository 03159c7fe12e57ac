package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Endpoint serves the metrics of a registry at /metrics, as text or OpenMetrics,
// and at / a page that points there.
type Endpoint struct {
	listener net.Listener
	server   *http.Server
	done     chan error // the end of serving
}

// ServeMetrics listens on an address, HOST:PORT, where port 0 is any free one,
// and serves until it is closed.
func ServeMetrics(addr string, from prometheus.Gatherer) (*Endpoint, error) {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return nil, fmt.Errorf("%q is no address for metrics: write HOST:PORT, such as 127.0.0.1:9100", addr)
	}
	l, err := net.Listen("tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("metrics cannot be served at %s: the address is in use; name another, or port 0 for any free one", addr)
	case err != nil:
		return nil, fmt.Errorf("metrics cannot be served: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(from, promhttp.HandlerOpts{EnableOpenMetrics: true, MaxRequestsInFlight: maxScrapes}))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, home) // Whoever hangs up reads nothing.
	})
	e := &Endpoint{
		listener: l, done: make(chan error, 1),
		server: &http.Server{Handler: mux, ReadHeaderTimeout: slowest, WriteTimeout: slowest, IdleTimeout: time.Minute},
	}
	go func() { e.done <- e.server.Serve(l) }()
	return e, nil
}

// home is what a person finds who opens the address without a path.
const home = `<!doctype html><title>fettle</title><p>The metrics of this run of fettle are at <a href="/metrics">/metrics</a>.</p>` + "\n"

const (
	maxScrapes = 8                // at a time; more are told to come back
	slowest    = 10 * time.Second // to send a request's head, and to take an answer
	patience   = 2 * time.Second  // with scrapes under way when the endpoint closes
)

// URL is where the metrics are.
func (e *Endpoint) URL() string { return "http://" + e.listener.Addr().String() + "/metrics" }

// Close stops listening, lets the scrapes under way end, and cuts those that
// take long.
func (e *Endpoint) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := e.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = e.server.Close()
	}
	if end := <-e.done; !errors.Is(end, http.ErrServerClosed) {
		err = errors.Join(err, end)
	}
	if err != nil {
		return fmt.Errorf("close the metrics endpoint: %w", err)
	}
	return nil
}
