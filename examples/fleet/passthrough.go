package main

import (
	"context"
	"errors"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"

	"github.com/fettleops/fettle/examples/fleet/accesslog"
)

// passThrough gives one service's own answer at path: 502 where it refuses,
// 504 where it does not answer in time.
func (c *control) passThrough(path string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s := c.fleet.find(r.PathValue("name"))
		if s == nil {
			a := noService(r.PathValue("name"))
			writeJSON(w, a.status, a.body)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), probeTimeout)
		defer cancel()
		e := &accesslog.Entry{Kind: accesslog.Observe, Method: r.Method, Path: r.URL.Path, Agent: r.UserAgent()}
		c.log.Begin(e)
		proxy := &httputil.ReverseProxy{
			Transport: c.fleet.balancer.transport,
			Rewrite: func(p *httputil.ProxyRequest) {
				p.SetURL(&url.URL{Scheme: "http", Host: s.address()})
				p.Out.URL.Path = path
			},
			ModifyResponse: func(resp *http.Response) error {
				c.finish(e, resp.StatusCode)
				return nil
			},
			ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
				status := http.StatusBadGateway
				if errors.Is(err, context.DeadlineExceeded) {
					status = http.StatusGatewayTimeout
				}
				c.finish(e, status)
				writeJSON(w, status, map[string]string{"error": err.Error()})
			},
		}
		proxy.ServeHTTP(w, r.WithContext(ctx))
	}
}

// finish writes a request's line; a log that cannot be written is told on
// standard error and does not fail the request.
func (c *control) finish(e *accesslog.Entry, status int) {
	e.Status = status
	if err := c.log.Finish(e); err != nil {
		log.Print(err)
	}
}
