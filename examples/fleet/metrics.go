package main

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/fettleops/fettle/examples/fleet/accesslog"
)

// serveMetrics tells Prometheus what only the balancer knows: who gets client
// requests, who holds the deploy lock and what is deployed. What a service knows
// of itself is in its own metrics. A scrape is an observation, and is logged.
func (c *control) serveMetrics(w http.ResponseWriter, r *http.Request) {
	e := &accesslog.Entry{Kind: accesslog.Observe, Method: r.Method, Path: r.URL.Path, Agent: r.UserAgent()}
	c.log.Begin(e)
	text := c.fleet.metrics()
	c.finish(e, http.StatusOK)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	_, _ = w.Write([]byte(text))
}

func (f *fleet) metrics() string {
	in, holder := f.balancer.members(), f.lock.heldFor()
	var pool, locks, deployed strings.Builder
	for _, s := range f.services {
		fmt.Fprintf(&pool, "fleet_in_lb{service=%q} %d\n", s.name, gauge(in[s.name]))
		fmt.Fprintf(&locks, "fleet_deploy_lock{service=%q} %d\n", s.name, gauge(holder == s.name))
		s.mu.Lock()
		fmt.Fprintf(&deployed, "fleet_deployed_info{service=%q,version=%q,wanted=%q} 1\n", s.name, s.deployed, wantedVersion)
		s.mu.Unlock()
	}
	return "# HELP fleet_in_lb 1 where the balancer sends the service client requests.\n# TYPE fleet_in_lb gauge\n" + pool.String() +
		"# HELP fleet_deploy_lock 1 where the deploy lock is held for the service.\n# TYPE fleet_deploy_lock gauge\n" + locks.String() +
		"# HELP fleet_deployed_info The version that is deployed, and the one that is wanted.\n# TYPE fleet_deployed_info gauge\n" + deployed.String()
}

func gauge(on bool) int {
	if on {
		return 1
	}
	return 0
}
