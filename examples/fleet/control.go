package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fettleops/fettle/examples/fleet/accesslog"
)

const (
	actWithin   = 15 * time.Second // An act goes on after its caller has gone, this long at most.
	raiseWithin = 15 * time.Second // A raise waits this long for older acts to end.
	maxBody     = 64 << 10
	proberAgent = "fleet-prober" // Requests of an onlooker are counted and not logged.
)

// control is the control API. Whatever is not one of its paths is a client's
// request and goes to the balancer.
type control struct {
	fleet   *fleet
	fences  *fenceKeeper
	answers *answers
	log     *accesslog.Log
	clients atomic.Int64
	probes  atomic.Int64
}

type handler func(*http.Request, *accesslog.Entry) answer

func (c *control) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /lb", c.logged(accesslog.Observe, c.getPool))
	mux.HandleFunc("GET /services", c.logged(accesslog.Observe, c.getServices))
	mux.HandleFunc("GET /services/{name}", c.logged(accesslog.Observe, c.getService))
	mux.HandleFunc("GET /services/{name}/health", c.passThrough("/health"))
	mux.HandleFunc("GET /services/{name}/metrics", c.passThrough("/metrics"))
	mux.HandleFunc("GET /lock", c.logged(accesslog.Observe, func(*http.Request, *accesslog.Entry) answer {
		return answer{http.StatusOK, c.fleet.lock.look()}
	}))
	mux.HandleFunc("GET /metrics", c.serveMetrics)
	mux.HandleFunc("GET /stats", c.logged(accesslog.Observe, c.getStats))
	mux.HandleFunc("POST /fence", c.logged(accesslog.Raise, c.raise))
	mux.HandleFunc("POST /services/{name}/drain", c.acting(c.onService(c.fleet.drain)))
	mux.HandleFunc("POST /services/{name}/add", c.acting(c.onService(c.fleet.add)))
	mux.HandleFunc("POST /services/{name}/restart", c.acting(c.onService(c.fleet.restart)))
	mux.HandleFunc("POST /services/{name}/revert", c.acting(c.onService(c.fleet.revert)))
	mux.HandleFunc("POST /lock/{name}", c.acting(func(_ context.Context, r *http.Request) answer {
		return c.fleet.lock.take(r.PathValue("name"))
	}))
	mux.HandleFunc("DELETE /lock/{name}", c.acting(func(_ context.Context, r *http.Request) answer {
		return c.fleet.lock.release(r.PathValue("name"))
	}))
	mux.HandleFunc("POST /faults", c.logged(accesslog.Admin, c.postFault))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		c.clients.Add(1)
		c.fleet.balancer.ServeHTTP(w, r)
	})
	return mux
}

// logged answers with what h says and logs the request; the line is written
// before the answer leaves.
func (c *control) logged(kind string, h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if kind == accesslog.Observe && strings.HasPrefix(r.UserAgent(), proberAgent) {
			c.probes.Add(1)
			a := h(r, &accesslog.Entry{})
			writeJSON(w, a.status, a.body)
			return
		}
		e := &accesslog.Entry{
			Kind: kind, Method: r.Method, Path: r.URL.Path, Agent: r.UserAgent(),
			Run: r.Header.Get("Fettle-Run"), Step: r.Header.Get("Fettle-Step"), ActionID: r.Header.Get("Idempotency-Key"),
		}
		c.log.Begin(e)
		a := h(r, e)
		if a.status >= 300 {
			e.Reason = reasonOf(a.body)
		}
		c.finish(e, a.status)
		writeJSON(w, a.status, a.body)
	}
}

// acting is logged, once per idempotency key, and subject to the fences.
func (c *control) acting(do func(context.Context, *http.Request) answer) http.HandlerFunc {
	return c.logged(accesslog.Act, func(r *http.Request, e *accesslog.Entry) answer {
		if err := readIdentity(r, e); err != nil {
			return refuse(http.StatusBadRequest, "%v", err)
		}
		// A caller that hangs up does not stop what it has begun.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), actWithin)
		defer cancel()
		a, repeat := c.answers.once(ctx, e.ActionID, r.Method+" "+r.URL.Path, func() answer {
			end, err := c.fences.admit(e.Fence, e.Writes)
			if err != nil {
				return late(err)
			}
			defer end()
			return do(ctx, r)
		})
		e.Repeat = repeat
		return a
	})
}

// readIdentity takes the token, the revision at which the act was armed and what
// may be written from the headers.
func readIdentity(r *http.Request, e *accesslog.Entry) error {
	token := r.Header.Get("Fettle-Fence")
	if token == "" {
		e.Unfenced = true
		return nil
	}
	fence, err := strconv.ParseInt(token, 10, 64)
	if err != nil || fence <= 0 {
		return fmt.Errorf("Fettle-Fence must be a positive number, got %q", token)
	}
	e.Fence = fence
	if armed := r.Header.Get("Fettle-Armed"); armed != "" {
		if e.Armed, err = strconv.ParseInt(armed, 10, 64); err != nil {
			return fmt.Errorf("Fettle-Armed must be a number, got %q", armed)
		}
	}
	if writes := r.Header.Get("Fettle-Writes"); writes != "" {
		if err := json.Unmarshal([]byte(writes), &e.Writes); err != nil {
			return fmt.Errorf("Fettle-Writes must be a JSON array of resources: %w", err)
		}
	}
	return nil
}

func (c *control) onService(do func(context.Context, *service) answer) func(context.Context, *http.Request) answer {
	return func(ctx context.Context, r *http.Request) answer {
		s := c.fleet.find(r.PathValue("name"))
		if s == nil {
			return noService(r.PathValue("name"))
		}
		end, err := s.begin(ctx)
		if err != nil {
			return refuse(http.StatusServiceUnavailable, "%v", err)
		}
		defer end()
		return do(ctx, s)
	}
}

func (c *control) raise(r *http.Request, e *accesslog.Entry) answer {
	var in struct {
		Fence     int64    `json:"fence"`
		Resources []string `json:"resources"`
		Writes    []string `json:"writes"`
		Run       string   `json:"run"`
		ActionID  string   `json:"action_id"`
	}
	if err := readJSON(r, &in); err != nil {
		return refuse(http.StatusBadRequest, "%v", err)
	}
	e.Fence, e.Resources, e.Run, e.ActionID = in.Fence, in.Resources, in.Run, in.ActionID
	if in.Fence <= 0 || len(in.Resources) == 0 {
		return refuse(http.StatusBadRequest, "a raise needs a positive fence and at least one resource")
	}
	ctx, cancel := context.WithTimeout(r.Context(), raiseWithin)
	defer cancel()
	if err := c.fences.raise(ctx, in.Fence, in.Resources, in.Writes); err != nil {
		return late(err)
	}
	return answer{http.StatusOK, map[string]int64{"fence": in.Fence}}
}

func late(err error) answer {
	var l *lateError
	if errors.As(err, &l) {
		return answer{http.StatusConflict, l}
	}
	return refuse(http.StatusServiceUnavailable, "%v", err)
}

func (c *control) getPool(*http.Request, *accesslog.Entry) answer {
	type member struct {
		Name string `json:"name"`
		InLB bool   `json:"in_lb"`
	}
	in := c.fleet.balancer.members()
	out := make([]member, 0, len(c.fleet.services))
	for _, s := range c.fleet.services {
		out = append(out, member{s.name, in[s.name]})
	}
	return answer{http.StatusOK, map[string]any{"services": out}}
}

func (c *control) getServices(r *http.Request, _ *accesslog.Entry) answer {
	return answer{http.StatusOK, map[string]any{"services": c.fleet.lookAll(r.Context())}}
}

func (c *control) getService(r *http.Request, _ *accesslog.Entry) answer {
	s := c.fleet.find(r.PathValue("name"))
	if s == nil {
		return noService(r.PathValue("name"))
	}
	return answer{http.StatusOK, c.fleet.look(r.Context(), s)}
}

func (c *control) getStats(*http.Request, *accesslog.Entry) answer {
	return answer{http.StatusOK, map[string]int64{"client_requests": c.clients.Load(), "prober_samples": c.probes.Load()}}
}

func (c *control) postFault(r *http.Request, _ *accesslog.Entry) answer {
	var in struct{ Service, Fault string }
	if err := readJSON(r, &in); err != nil {
		return refuse(http.StatusBadRequest, "%v", err)
	}
	s := c.fleet.find(in.Service)
	if s == nil {
		return noService(in.Service)
	}
	return c.fleet.breakDown(r.Context(), s, in.Fault)
}

func noService(name string) answer {
	return refuse(http.StatusNotFound, "there is no service %q", name)
}

func readJSON(r *http.Request, into any) error {
	if err := json.NewDecoder(io.LimitReader(r.Body, maxBody)).Decode(into); err != nil {
		return fmt.Errorf("the body must be JSON: %w", err)
	}
	return nil
}

func reasonOf(body any) string {
	switch b := body.(type) {
	case map[string]string:
		return b["error"]
	case error:
		return b.Error()
	}
	return ""
}
