package main

import (
	"context"
	"net/http"
	"strings"
	"sync"
)

// meeting is on the way from controllers to the fleet. It holds what goes in and
// out of the balancer back until two services are about to be taken out: then
// these two go, and nothing else before both have been answered. Who is kept
// from it by locks, it waits for in vain.
type meeting struct {
	came chan struct{} // The first drain is on its way.
	met  chan struct{} // Two drains have been answered, of two services.

	two     chan struct{} // Two are on their way.
	opened  chan struct{} // Everything goes through.
	open    func()
	mu      sync.Mutex
	coming  map[string]bool
	answers int
}

// meet makes the next two services to be taken out of the balancer meet. It is to be opened before the test ends.
func (n *network) meet() *meeting {
	m := &meeting{
		came: make(chan struct{}), met: make(chan struct{}), two: make(chan struct{}), opened: make(chan struct{}),
		coming: map[string]bool{},
	}
	m.open = sync.OnceFunc(func() { close(m.opened) })
	n.mu.Lock()
	defer n.mu.Unlock()
	n.meeting = m
	return m
}

func (n *network) meetingOf() *meeting {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.meeting
}

// pass serves a request in its turn.
func (m *meeting) pass(w http.ResponseWriter, r *http.Request, to http.Handler) {
	service, verb, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/services/"), "/")
	if verb != "drain" && verb != "add" {
		to.ServeHTTP(w, r)
		return
	}
	r = r.WithContext(context.WithoutCancel(r.Context())) // What is on its way arrives, even if its sender gives up.
	if verb != "drain" || !m.first(service) {
		<-m.opened
		to.ServeHTTP(w, r)
		return
	}
	select {
	case <-m.two:
	case <-m.opened:
	}
	to.ServeHTTP(w, r)
	m.answered()
}

// first tells whether this is the first drain of one of the two services.
func (m *meeting) first(service string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.coming[service] || len(m.coming) == 2 {
		return false
	}
	m.coming[service] = true
	if len(m.coming) == 1 {
		close(m.came)
	} else {
		close(m.two)
	}
	return true
}

func (m *meeting) answered() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.answers++; m.answers == 2 {
		close(m.met)
	}
}
