package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// network is the way from a controller to the fleet. It can hold a request back
// and deliver it later, whether or not its sender still waits for the answer.
type network struct {
	base string

	mu      sync.Mutex
	holds   map[string]*held
	meeting *meeting // Nil: none.
}

// held is a request held back.
type held struct {
	arrived chan struct{} // It is on its way.
	hungUp  chan struct{} // Its sender no longer waits.
	release chan struct{}
	status  chan int // What the fleet answered.
	once    sync.Once
}

// startNetwork opens a way to the fleet. What is held is dropped at the test's end.
func startNetwork(t *testing.T, f *fleet) *network {
	t.Helper()
	to, err := url.Parse(f.base)
	if err != nil {
		t.Fatal(err)
	}
	n := &network{holds: map[string]*held{}}
	proxy := &httputil.ReverseProxy{
		Rewrite:      func(p *httputil.ProxyRequest) { p.SetURL(to) },
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) {}, // Its sender is gone.
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h := n.holdOf(r.Method + " " + r.URL.Path); h != nil {
			h.pass(w, r, f.base)
			return
		}
		if m := n.meetingOf(); m != nil {
			m.pass(w, r, proxy)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	n.base = srv.URL
	t.Cleanup(func() {
		n.mu.Lock()
		for _, h := range n.holds {
			h.once.Do(func() { close(h.release) })
		}
		n.mu.Unlock()
		srv.CloseClientConnections()
		srv.Close()
	})
	return n
}

// hold holds the next request of this method and path back.
func (n *network) hold(what string) *held {
	h := &held{
		arrived: make(chan struct{}), hungUp: make(chan struct{}), release: make(chan struct{}), status: make(chan int, 1),
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.holds[what] = h
	return h
}

func (n *network) holdOf(what string) *held {
	n.mu.Lock()
	defer n.mu.Unlock()
	h := n.holds[what]
	if h == nil {
		return nil
	}
	select {
	case <-h.arrived: // One was held already.
		return nil
	default:
		close(h.arrived)
		return h
	}
}

func (h *held) pass(w http.ResponseWriter, r *http.Request, base string) {
	select {
	case <-h.release:
	case <-r.Context().Done():
		close(h.hungUp)
		<-h.release
	}
	req, err := http.NewRequest(r.Method, base+r.URL.Path, nil) // Acts of this fleet have no body.
	if err != nil {
		panic(err)
	}
	req.Header = r.Header.Clone()
	resp, err := http.DefaultClient.Do(req)
	if err != nil { // The fleet is gone, at the end of the test.
		h.status <- 0
		return
	}
	defer resp.Body.Close()
	h.status <- resp.StatusCode
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(w, resp.Body)
}

// deliver lets the request through, and returns the fleet's answer.
func (h *held) deliver() int {
	h.once.Do(func() { close(h.release) })
	return <-h.status
}

// line is the way from a controller to etcd. It can be cut: nothing goes
// through then, and nobody is told, until it heals.
type line struct {
	endpoint string

	mu  sync.Mutex
	run *sync.Cond
	cut bool
}

func startLine(t *testing.T, endpoint string) *line {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln := &line{endpoint: "http://" + l.Addr().String()}
	ln.run = sync.NewCond(&ln.mu)
	var open sync.WaitGroup
	ends := make(chan struct{})
	open.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", strings.TrimPrefix(endpoint, "http://"))
			if err != nil {
				near.Close()
				continue
			}
			open.Go(func() { ln.copy(far, near) })
			open.Go(func() { ln.copy(near, far) })
			open.Go(func() {
				<-ends
				near.Close()
				far.Close()
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		close(ends)
		ln.set(false)
		open.Wait()
	})
	return ln
}

func (l *line) copy(to, from net.Conn) {
	defer to.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		l.await()
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (l *line) await() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.cut {
		l.run.Wait()
	}
}

// set cuts the line or heals it.
func (l *line) set(cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = cut
	l.run.Broadcast()
}
