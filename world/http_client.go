package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/hcl/v2"
)

// Bounds of HTTP.
const (
	maxBody         = 1 << 20
	maxRedirects    = 5
	defaultAskTime  = 5 * time.Second
	defaultRaise    = 20 * time.Second // an actuator may wait for older acts to end
	maxHeaderBytes  = 64 << 10
	idleConnections = 16
)

// newClients returns the client that observes and raises, and the one that
// acts. A proxy is used only where the environment asks for one.
//
// Acting never follows a redirect, and uses each connection once: on a reused
// one, Go's transport sends a request that has an Idempotency-Key a second time
// when the connection breaks, and an action must not be done twice unseen.
func newClients() (asking, acting *http.Client) {
	once := newTransport()
	once.DisableKeepAlives = true
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: newTransport(), CheckRedirect: sameHost}, &http.Client{Transport: once, CheckRedirect: stay}
}

func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{KeepAlive: 15 * time.Second}).DialContext,
		MaxIdleConnsPerHost:    idleConnections,
		IdleConnTimeout:        30 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
}

// sameHost follows a redirect that stays with the same server, which may see
// the headers. Any other is an answer in itself.
func sameHost(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	if len(via) > maxRedirects || req.URL.Host != first.Host || req.URL.Scheme != first.Scheme || via[0].Method != req.Method {
		return http.ErrUseLastResponse
	}
	return nil
}

// header evaluates headers and adds the fixed ones, which win.
func (g *ground) header(e hcl.Expression, fixed map[string]string) (http.Header, error) {
	texts, err := g.texts(e)
	if err != nil {
		return nil, err
	}
	h := http.Header{}
	for k, v := range texts {
		h.Set(k, v)
	}
	for k, v := range fixed {
		h.Set(k, v)
	}
	return h, nil
}

// exchange is one request as it went.
type exchange struct {
	status  int
	header  http.Header
	started time.Time
	sent    bool  // a connection was made, so the server may have got it
	err     error // no answer, or one that broke off
}

// failed names a status that is no success: HTTP 503 Service Unavailable.
func (x *exchange) failed() string {
	if x.status >= 200 && x.status < 300 {
		return ""
	}
	text := fmt.Sprintf("HTTP %d %s", x.status, http.StatusText(x.status))
	if l := x.header.Get("Location"); l != "" && x.status/100 == 3 {
		text += " (redirect not followed)"
	}
	return text
}

// do sends a request and copies the answer's body to a writer.
func do(ctx context.Context, c *http.Client, method, address string, h http.Header, body io.Reader, to io.Writer) exchange {
	x := exchange{started: time.Now()}
	// Dialling may go on in the background after do has returned.
	var connected atomic.Bool
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }}
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, trace), method, address, body)
	if err != nil {
		x.err = bare(err)
		return x
	}
	req.Header = h
	if host := h.Get("Host"); host != "" {
		req.Host = host
	}
	res, err := c.Do(req)
	x.sent = connected.Load()
	if err != nil {
		x.err = bare(err)
		return x
	}
	defer res.Body.Close()
	x.status, x.header = res.StatusCode, res.Header
	if _, err := io.Copy(to, res.Body); err != nil {
		x.err = fmt.Errorf("the answer broke off: %w", bare(err))
	}
	return x
}

// bare takes the method and the URL off an error, which are told elsewhere.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return refusedError{}
	}
	if errors.Is(err, io.EOF) {
		return errors.New("the connection was closed without an answer")
	}
	return err
}

type refusedError struct{}

func (refusedError) Error() string { return "connection refused" }

// Is tells that the error is the system's.
func (refusedError) Is(target error) bool { return target == syscall.ECONNREFUSED }

// shownURL is an address without credentials.
func shownURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Redacted()
}
