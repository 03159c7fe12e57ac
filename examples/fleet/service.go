package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Faults that can be injected.
const (
	faultLeak       = "leak"
	faultBadVersion = "bad_version"
	faultHang       = "hang"
	faultExit       = "exit"
)

// health is what a service says about itself at /health.
type health struct {
	Name    string `json:"name"`
	Status  string `json:"status"` // UP or STARTING.
	Version string `json:"version"`
	Memory  string `json:"memory"` // ok or leaking.
	RSS     int64  `json:"rss_bytes"`
}

// app is one service process.
type app struct {
	name     string
	version  atomic.Value // string
	readyAt  time.Time
	leaking  atomic.Bool
	hung     atomic.Bool
	requests atomic.Int64
}

// serveService runs one service until its standard input ends, which it does
// when the parent closes it or dies.
func serveService(ctx context.Context, args []string) error {
	fs := flag.NewFlagSet("service", flag.ContinueOnError)
	name := fs.String("name", "", "name of the service")
	version := fs.String("version", "v40", "version to report")
	listen := fs.String("listen", "127.0.0.1:0", "address to listen on")
	warmup := fs.Duration("warmup", 0, "how long it says STARTING before it says UP")
	if err := fs.Parse(args); err != nil {
		return err
	}
	ln, err := net.Listen("tcp", *listen)
	if err != nil {
		return fmt.Errorf("service %s: %w", *name, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	a := &app{name: *name, readyAt: time.Now().Add(*warmup)}
	a.version.Store(*version)
	srv := &http.Server{Handler: a.handler(ctx), ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	fmt.Println(ln.Addr())
	if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("service %s: %w", *name, err)
	}
	return nil
}

func (a *app) handler(ctx context.Context) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", a.serveHealth)
	mux.HandleFunc("GET /metrics", a.serveMetrics)
	mux.HandleFunc("POST /fault", func(w http.ResponseWriter, r *http.Request) { a.serveFault(ctx, w, r) })
	mux.HandleFunc("/", a.serveRoot)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.hung.Load() {
			<-r.Context().Done()
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func (a *app) serveRoot(w http.ResponseWriter, _ *http.Request) {
	a.requests.Add(1)
	fmt.Fprintf(w, "%s %s\n", a.name, a.version.Load())
}

func (a *app) serveHealth(w http.ResponseWriter, _ *http.Request) {
	h := health{Name: a.name, Status: "UP", Version: a.version.Load().(string), Memory: "ok", RSS: residentBytes()}
	status := http.StatusOK
	if time.Now().Before(a.readyAt) {
		h.Status, status = "STARTING", http.StatusServiceUnavailable
	}
	if a.leaking.Load() {
		h.Memory = "leaking"
	}
	writeJSON(w, status, h)
}

// serveMetrics writes the Prometheus text format by hand: a few lines do not
// call for a client library.
func (a *app) serveMetrics(w http.ResponseWriter, _ *http.Request) {
	leaking := gauge(a.leaking.Load())
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	fmt.Fprintf(w, "# TYPE service_requests_total counter\nservice_requests_total{service=%q} %d\n", a.name, a.requests.Load())
	fmt.Fprintf(w, "# TYPE service_up gauge\nservice_up{service=%q} %d\n", a.name, gauge(!time.Now().Before(a.readyAt)))
	fmt.Fprintf(w, "# TYPE service_leaking gauge\nservice_leaking{service=%q} %d\n", a.name, leaking)
	fmt.Fprintf(w, "# TYPE service_info gauge\nservice_info{service=%q,version=%q} 1\n", a.name, a.version.Load())
	fmt.Fprintf(w, "# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes{service=%q} %d\n", a.name, residentBytes())
}

func (a *app) serveFault(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	var in struct{ Fault, Version string }
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<10)).Decode(&in); err != nil {
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	switch in.Fault {
	case faultLeak:
		if !a.leaking.Swap(true) {
			go leak(ctx)
		}
	case faultBadVersion:
		a.version.Store(in.Version)
	case faultHang:
		a.hung.Store(true)
	default:
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": "no such fault: " + in.Fault})
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{"fault": in.Fault})
}

// leak takes memory and keeps it, a little at a time, up to 32 MiB.
func leak(ctx context.Context) {
	const piece, most = 256 << 10, 32 << 20
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	var held [][]byte
	for range most / piece {
		block := make([]byte, piece)
		for i := 0; i < piece; i += 4096 {
			block[i] = 1 // An untouched page is not resident.
		}
		held = append(held, block)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
	<-ctx.Done()
	_ = held[len(held)-1]
}

// residentBytes is 0 where the system does not say.
func residentBytes() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
