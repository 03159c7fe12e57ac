package main

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"syscall"
)

// The operations on a service. Each returns when it is done. 409 is kept for
// late fences, so that a caller can tell them from every other refusal.

func (f *fleet) drain(ctx context.Context, s *service) answer {
	was, err := f.balancer.remove(ctx, s.name)
	if !was {
		return refuse(http.StatusUnprocessableEntity, "%s is not in the balancer", s.name)
	}
	if err != nil {
		return refuse(http.StatusServiceUnavailable, "%v", err)
	}
	return done(s, "drained")
}

// add does not look at health: that is for whoever operates the balancer.
func (f *fleet) add(_ context.Context, s *service) answer {
	if s.running() == nil {
		return refuse(http.StatusUnprocessableEntity, "%s is not running", s.name)
	}
	if !f.balancer.add(s.name) {
		return refuse(http.StatusUnprocessableEntity, "%s is in the balancer already", s.name)
	}
	return done(s, "added")
}

func (f *fleet) restart(ctx context.Context, s *service) answer {
	if err := f.bounce(ctx, s); err != nil {
		return refuse(http.StatusServiceUnavailable, "%v", err)
	}
	return done(s, "restarted")
}

func (f *fleet) revert(ctx context.Context, s *service) answer {
	if holder := f.lock.heldFor(); holder != s.name {
		return refuse(http.StatusLocked, "the deploy lock is not held for %s", s.name)
	}
	s.setDeployed(wantedVersion)
	if err := f.bounce(ctx, s); err != nil {
		return refuse(http.StatusServiceUnavailable, "%v", err)
	}
	return done(s, "reverted")
}

// breakDown injects a fault. An exit is a kill from outside, so that it works
// on a service that hangs too.
func (f *fleet) breakDown(ctx context.Context, s *service, fault string) answer {
	p := s.running()
	if p == nil {
		return refuse(http.StatusUnprocessableEntity, "%s is not running", s.name)
	}
	switch fault {
	case faultExit:
		p.signal(syscall.SIGKILL)
		<-p.gone
		return done(s, fault)
	case faultLeak, faultHang, faultBadVersion:
	default:
		return refuse(http.StatusBadRequest, "no fault %q; there are leak, bad_version, hang and exit", fault)
	}
	if err := f.tell(ctx, p, fault); err != nil {
		return refuse(http.StatusServiceUnavailable, "%v", err)
	}
	if fault == faultBadVersion {
		s.setDeployed(badVersion)
	}
	return done(s, fault)
}

func done(s *service, what string) answer {
	return answer{http.StatusOK, map[string]string{"service": s.name, "done": what}}
}

// deployLock is the fleet's one deploy lock, held for a service or free.
type deployLock struct {
	names []string

	mu     sync.Mutex
	holder string // Empty: free.
}

type lockView struct {
	Free   bool          `json:"free"`
	Holder string        `json:"holder"`
	Locks  []lockForView `json:"locks"`
}

type lockForView struct {
	Service string `json:"service"`
	Held    bool   `json:"held"`
}

func (l *deployLock) heldFor() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.holder
}

func (l *deployLock) look() lockView {
	holder := l.heldFor()
	v := lockView{Free: holder == "", Holder: holder}
	for _, name := range l.names {
		v.Locks = append(v.Locks, lockForView{name, name == holder})
	}
	return v
}

func (l *deployLock) take(name string) answer {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.names, name) {
		return refuse(http.StatusNotFound, "there is no service %q", name)
	}
	if l.holder != "" {
		return refuse(http.StatusLocked, "the deploy lock is held for %s", l.holder)
	}
	l.holder = name
	return answer{http.StatusOK, map[string]string{"holder": name}}
}

func (l *deployLock) release(name string) answer {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holder != name {
		return refuse(http.StatusUnprocessableEntity, "the deploy lock is not held for %q", name)
	}
	l.holder = ""
	return answer{http.StatusOK, map[string]string{"holder": ""}}
}
