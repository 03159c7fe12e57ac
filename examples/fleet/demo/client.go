package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// proberAgent marks requests that the fleet counts and does not log.
const proberAgent = "fleet-prober"

// fleetClient speaks to the fleet's control API as an onlooker.
type fleetClient struct {
	base string
	http *http.Client
}

func newFleetClient(base string) *fleetClient {
	return &fleetClient{base: base, http: &http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 8}}}
}

// serviceView is what the fleet says of one service.
type serviceView struct {
	Name    string `json:"name"`
	InLB    bool   `json:"in_lb"`
	State   string `json:"state"`
	Version string `json:"version"`
	Wanted  string `json:"wanted_version"`
	Healthy bool   `json:"healthy"`
	Memory  string `json:"memory"`
	PID     int    `json:"pid"`
}

// amiss names what is wrong with a service; nil: nothing.
func (v serviceView) amiss() []string {
	var out []string
	if !v.InLB {
		out = append(out, v.Name+" is out of the balancer")
	}
	if !v.Healthy {
		out = append(out, v.Name+" is not healthy ("+v.State+")")
	}
	if v.Healthy && v.Memory != "ok" {
		out = append(out, v.Name+" memory is "+v.Memory)
	}
	if v.Version != v.Wanted {
		out = append(out, v.Name+" runs "+v.Version+", wanted "+v.Wanted)
	}
	return out
}

func (c *fleetClient) services(ctx context.Context) ([]serviceView, error) {
	var body struct{ Services []serviceView }
	err := c.do(ctx, http.MethodGet, "/services", nil, &body)
	return body.Services, err
}

// pool says of each service whether the balancer sends it requests.
func (c *fleetClient) pool(ctx context.Context) ([]serviceView, error) {
	var body struct{ Services []serviceView }
	err := c.do(ctx, http.MethodGet, "/lb", nil, &body)
	return body.Services, err
}

func (c *fleetClient) lockHolder(ctx context.Context) (string, error) {
	var body struct{ Holder string }
	err := c.do(ctx, http.MethodGet, "/lock", nil, &body)
	return body.Holder, err
}

func (c *fleetClient) fault(ctx context.Context, service, fault string) error {
	return c.do(ctx, http.MethodPost, "/faults", map[string]string{"service": service, "fault": fault}, nil)
}

func (c *fleetClient) do(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	req.Header.Set("User-Agent", proberAgent)
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, bytes.TrimSpace(text))
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}
