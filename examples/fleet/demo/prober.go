package main

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	probers     = 4
	requestGap  = 4 * time.Millisecond
	sampleGap   = 3 * time.Millisecond
	serviceName = "Fleet-Service" // Header in which the balancer names who served.
)

// prober is the fleet's clients and a watcher of its pool. It looks at nothing
// but the balancer.
type prober struct {
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu  sync.Mutex
	res probeResult
}

// probeResult is what the clients and the watcher saw.
type probeResult struct {
	Served    int
	Failures  []failure
	Samples   int
	MostOut   []string // The largest set of services that were out at one time.
	SampleErr error    // The last sample that could not be taken.
}

// failure is one client request without a good answer.
type failure struct {
	Began, Ended time.Time
	Service      string // Empty: the balancer itself did not answer.
	Why          string
}

func startProber(ctx context.Context, base string) *prober {
	ctx, cancel := context.WithCancel(ctx)
	p := &prober{cancel: cancel}
	fleet := newFleetClient(base)
	p.wg.Go(func() { every(ctx, sampleGap, func() { p.sample(ctx, fleet) }) })
	for range probers {
		p.wg.Go(func() { every(ctx, requestGap, func() { p.request(ctx, fleet) }) })
	}
	return p
}

// stop ends the probing; it may be called again.
func (p *prober) stop() {
	p.cancel()
	p.wg.Wait()
}

// result is to be read after stop.
func (p *prober) result() probeResult {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.res
}

func (p *prober) sample(ctx context.Context, fleet *fleetClient) {
	services, err := fleet.pool(ctx)
	if ctx.Err() != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.res.SampleErr = err
		return
	}
	p.res.note(services)
}

// note counts one sample of the pool.
func (r *probeResult) note(services []serviceView) {
	r.Samples++
	var out []string
	for _, s := range services {
		if !s.InLB {
			out = append(out, s.Name)
		}
	}
	if len(out) > len(r.MostOut) {
		r.MostOut = out
	}
}

func (p *prober) request(ctx context.Context, fleet *fleetClient) {
	f := failure{Began: time.Now()}
	f.Service, f.Why = get(ctx, fleet)
	f.Ended = time.Now()
	if ctx.Err() != nil {
		return // Cut off by the end of the probing.
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if f.Why == "" {
		p.res.Served++
	} else {
		p.res.Failures = append(p.res.Failures, f)
	}
}

// get makes one client request; why is empty where it was served.
func get(ctx context.Context, fleet *fleetClient) (service, why string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fleet.base+"/", nil)
	if err != nil {
		return "", err.Error()
	}
	resp, err := fleet.http.Do(req)
	if err != nil {
		return "", err.Error()
	}
	defer resp.Body.Close()
	service = resp.Header.Get(serviceName)
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return service, err.Error()
	}
	if resp.StatusCode != http.StatusOK {
		return service, resp.Status
	}
	return service, ""
}

func every(ctx context.Context, gap time.Duration, do func()) {
	tick := time.NewTicker(gap)
	defer tick.Stop()
	for {
		do()
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
