package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	probeTimeout = 500 * time.Millisecond // How long a health check may take.
	tellTimeout  = 3 * time.Second        // How long a service may take to accept a fault.
)

// view is what the control API says of a service.
type view struct {
	Name    string `json:"name"`
	InLB    bool   `json:"in_lb"`
	State   string `json:"state"` // running, starting or exited.
	Version string `json:"version"`
	Wanted  string `json:"wanted_version"`
	Address string `json:"address"`
	Healthy bool   `json:"healthy"` // It answered its health check with UP, in time.
	Memory  string `json:"memory"`  // ok, leaking, or unknown where it did not answer.
	RSS     int64  `json:"rss_bytes"`
	PID     int    `json:"pid"`
	Reason  string `json:"reason,omitempty"` // Why it is not healthy.
}

// probe asks a process for its health; a service that is not up yet answers
// without an error.
func (f *fleet) probe(ctx context.Context, p *process) (health, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	var h health
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.address+"/health", nil)
	if err != nil {
		return h, fmt.Errorf("health: %w", err)
	}
	resp, err := f.client.Do(req)
	if err != nil {
		return h, fmt.Errorf("health: %w", err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, 64<<10)).Decode(&h); err != nil {
		return h, fmt.Errorf("health: %w", err)
	}
	return h, nil
}

// tell injects a fault into a running process.
func (f *fleet) tell(ctx context.Context, p *process, fault string) error {
	ctx, cancel := context.WithTimeout(ctx, tellTimeout)
	defer cancel()
	body, err := json.Marshal(map[string]string{"fault": fault, "version": badVersion})
	if err != nil {
		return fmt.Errorf("fault: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+p.address+"/fault", bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("fault: %w", err)
	}
	resp, err := f.client.Do(req)
	if err != nil {
		return fmt.Errorf("fault: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("fault: the service answered %s", resp.Status)
	}
	return nil
}

// look is what can be said of a service now.
func (f *fleet) look(ctx context.Context, s *service) view {
	s.mu.Lock()
	v := view{Name: s.name, State: "exited", Version: s.deployed, Wanted: wantedVersion, Memory: "unknown", Reason: "the process has ended"}
	p, starting := s.process, s.starting
	s.mu.Unlock()
	v.InLB = f.balancer.has(s.name)
	if p != nil {
		v.Address = p.address
	}
	switch {
	case starting:
		v.State, v.Reason = "starting", "it is being started"
	case p == nil || !p.alive():
		return v
	default:
		v.State, v.Reason = "running", ""
	}
	if p == nil {
		return v
	}
	v.PID = p.pid()
	h, err := f.probe(ctx, p)
	if err != nil {
		v.Reason = err.Error()
		return v
	}
	v.Healthy, v.Version, v.Memory, v.RSS = h.Status == "UP", h.Version, h.Memory, h.RSS
	return v
}

func (f *fleet) lookAll(ctx context.Context) []view {
	views := make([]view, len(f.services))
	var wg sync.WaitGroup
	for i, s := range f.services {
		wg.Go(func() { views[i] = f.look(ctx, s) })
	}
	wg.Wait()
	return views
}
