package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"
)

const (
	clientTimeout = time.Second // How long a client waits for a service.
	serviceHeader = "Fleet-Service"
)

// balancer proxies client requests to the services in its pool, in turn. It
// does not check health and does not try again elsewhere.
type balancer struct {
	transport *http.Transport
	addressOf func(name string) string

	mu       sync.Mutex
	pool     []string
	next     int
	inFlight map[string]int
	idle     map[string]chan struct{} // Closed when a draining service has no request left.
}

func newBalancer(addressOf func(string) string) *balancer {
	return &balancer{
		transport: &http.Transport{MaxIdleConnsPerHost: 32, IdleConnTimeout: 10 * time.Second},
		addressOf: addressOf,
		inFlight:  map[string]int{},
		idle:      map[string]chan struct{}{},
	}
}

// add puts a service into the pool; false: it was there.
func (b *balancer) add(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.index(name) >= 0 {
		return false
	}
	b.pool = append(b.pool, name)
	return true
}

// remove takes a service out of the pool and waits for its requests to end;
// false: it was not there. The service stays out where ctx ends first.
func (b *balancer) remove(ctx context.Context, name string) (bool, error) {
	idle, ok := b.takeOut(name)
	if !ok {
		return false, nil
	}
	select {
	case <-idle:
		return true, nil
	case <-ctx.Done():
		return true, fmt.Errorf("requests to %s are still under way: %w", name, ctx.Err())
	}
}

func (b *balancer) takeOut(name string) (<-chan struct{}, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := b.index(name)
	if i < 0 {
		return nil, false
	}
	b.pool = append(b.pool[:i:i], b.pool[i+1:]...)
	idle := make(chan struct{})
	if b.inFlight[name] == 0 {
		close(idle)
	} else {
		b.idle[name] = idle
	}
	return idle, true
}

func (b *balancer) has(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.index(name) >= 0
}

// members is one consistent reading of the pool.
func (b *balancer) members() map[string]bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make(map[string]bool, len(b.pool))
	for _, name := range b.pool {
		out[name] = true
	}
	return out
}

func (b *balancer) index(name string) int {
	for i, n := range b.pool {
		if n == name {
			return i
		}
	}
	return -1
}

func (b *balancer) pick() (string, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.pool) == 0 {
		return "", false
	}
	name := b.pool[b.next%len(b.pool)]
	b.next++
	b.inFlight[name]++
	return name, true
}

func (b *balancer) done(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inFlight[name]--
	if idle, ok := b.idle[name]; ok && b.inFlight[name] == 0 {
		close(idle)
		delete(b.idle, name)
	}
}

// ServeHTTP proxies one client request.
func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, ok := b.pick()
	if !ok {
		http.Error(w, "no service is in the balancer", http.StatusServiceUnavailable)
		return
	}
	defer b.done(name)
	w.Header().Set(serviceHeader, name)
	ctx, cancel := context.WithTimeout(r.Context(), clientTimeout)
	defer cancel()
	target := &url.URL{Scheme: "http", Host: b.addressOf(name)}
	proxy := &httputil.ReverseProxy{
		Rewrite:      func(p *httputil.ProxyRequest) { p.SetURL(target) },
		Transport:    b.transport,
		ErrorHandler: proxyFailed,
	}
	proxy.ServeHTTP(w, r.WithContext(ctx))
}

func proxyFailed(w http.ResponseWriter, _ *http.Request, err error) {
	status := http.StatusBadGateway
	if errors.Is(err, context.DeadlineExceeded) {
		status = http.StatusGatewayTimeout
	}
	http.Error(w, err.Error(), status)
}
