package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	wantedVersion = "v40"
	badVersion    = "v41"

	startWithin = 8 * time.Second       // How long a service may take to come up.
	probePause  = 20 * time.Millisecond // Between two looks at a starting service.
)

// fleet is the services, the balancer in front of them and the deploy lock.
type fleet struct {
	services []*service
	balancer *balancer
	lock     *deployLock
	output   io.Writer // What the children print.
	warmup   time.Duration
	client   *http.Client
}

// service is one service: what is deployed, and the process that runs it, if
// any. One operation at a time changes it, whoever holds op.
type service struct {
	name string
	op   chan struct{} // Holds one token while an operation is under way.

	mu       sync.Mutex
	process  *process // Nil before the first start.
	starting bool
	deployed string
}

func newFleet(names []string, warmup time.Duration, output io.Writer) (*fleet, error) {
	f := &fleet{output: output, warmup: warmup, client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	f.balancer = newBalancer(func(name string) string { return f.find(name).address() })
	f.lock = &deployLock{names: names}
	for _, name := range names {
		if name == "" || f.find(name) != nil {
			return nil, fmt.Errorf("services must have names that differ, got %q", names)
		}
		f.services = append(f.services, &service{name: name, op: make(chan struct{}, 1), deployed: wantedVersion})
	}
	return f, nil
}

func (f *fleet) find(name string) *service {
	for _, s := range f.services {
		if s.name == name {
			return s
		}
	}
	return nil
}

// start starts every service and puts those that came up into the balancer.
func (f *fleet) start(ctx context.Context) error {
	return f.each(func(s *service) error {
		if err := f.bounce(ctx, s); err != nil {
			return err
		}
		f.balancer.add(s.name)
		return nil
	})
}

// stop ends every child and waits until all are reaped.
func (f *fleet) stop(ctx context.Context) {
	_ = f.each(func(s *service) error {
		if p := s.running(); p != nil {
			p.stop(ctx)
		}
		return nil
	})
}

func (f *fleet) each(do func(*service) error) error {
	errs := make([]error, len(f.services))
	var wg sync.WaitGroup
	for i, s := range f.services {
		wg.Go(func() { errs[i] = do(s) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// begin waits for the service's turn; end gives it up.
func (s *service) begin(ctx context.Context) (end func(), err error) {
	select {
	case s.op <- struct{}{}:
		return func() { <-s.op }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%s is busy with another operation: %w", s.name, ctx.Err())
	}
}

// running is the service's process, or nil where it is gone.
func (s *service) running() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil || !s.process.alive() {
		return nil
	}
	return s.process
}

func (s *service) address() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return ""
	}
	return s.process.address
}

func (s *service) setDeployed(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deployed = version
}

func (s *service) setStarting(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starting = on
}

// bounce replaces the service's process by a new one of the deployed version
// and returns when that says it is up.
func (f *fleet) bounce(ctx context.Context, s *service) error {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	s.setStarting(true)
	defer s.setStarting(false)
	if p := s.running(); p != nil {
		p.stop(ctx)
	}
	s.mu.Lock()
	version := s.deployed
	s.mu.Unlock()
	p, err := startProcess(f.output, "--name", s.name, "--version", version, "--warmup", f.warmup.String())
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	s.mu.Lock()
	s.process = p
	s.mu.Unlock()
	return f.awaitUp(ctx, s, p)
}

func (f *fleet) awaitUp(ctx context.Context, s *service, p *process) error {
	tick := time.NewTicker(probePause)
	defer tick.Stop()
	for {
		h, err := f.probe(ctx, p)
		if err == nil && h.Status == "UP" {
			return nil
		}
		select {
		case <-tick.C:
		case <-p.gone:
			return fmt.Errorf("%s exited while it was starting", s.name)
		case <-ctx.Done():
			return fmt.Errorf("%s did not come up: %w", s.name, ctx.Err())
		}
	}
}
