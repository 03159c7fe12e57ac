package world

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/api"
	"github.com/zclconf/go-cty/cty"
)

// maxSeries bounds an answer of Prometheus in bytes. Ten thousand series and
// their times are about three million.
const maxSeries = 32 << 20

// promServer is a Prometheus, and how it is spoken to.
type promServer struct {
	address       string
	timeout       time.Duration // zero: not given
	header        http.Header
	files         tlsFiles
	trouble       string // why it cannot be asked
	connect       sync.Once
	client        api.Client
	closeIdle     func()
	connectFailed error
}

type tlsFiles struct{ ca, cert, key string }

// address returns the server that a body asks: the one it names, or else the
// provider's. The provider's credentials are sent nowhere but to its address.
func (d *decoder) address() *promServer {
	provider := d.w.provider
	v, ok := d.fixed("address", cty.String)
	switch {
	case ok:
		if err := checkURL(v.AsString()); err != nil {
			d.errorf(d.attrs["address"].Expr.Range(), "Unsuitable value", "The address of %s: %s.", d.what, err)
			return nil
		}
		if provider != nil && provider.address == v.AsString() {
			return provider
		}
		return d.w.server(v.AsString())
	case !d.has("address") && provider == nil:
		d.errorf(d.rng, "No address", "The %s does not say which Prometheus it asks. Give the model a block provider \"prometheus\" { address = \"http://…\" }, or this one an address.", d.what)
	}
	return provider
}

// server returns the server at an address without credentials.
func (w *World) server(address string) *promServer {
	for _, s := range w.servers {
		if s.address == address && s != w.provider {
			return s
		}
	}
	s := &promServer{address: address}
	w.servers = append(w.servers, s)
	return s
}

// secrets returns what must not be shown of the connection.
func (s *promServer) secrets() []string {
	out := secrets(s.header)
	for _, v := range s.header.Values("Authorization") {
		if _, encoded, ok := strings.Cut(v, "Basic "); ok {
			plain, _ := base64.StdEncoding.DecodeString(encoded)
			if _, password, _ := strings.Cut(string(plain), ":"); len(password) >= minSecret {
				out = append(out, password)
			}
		}
	}
	if u, err := url.Parse(s.address); err == nil && u.User != nil {
		if password, _ := u.User.Password(); len(password) >= minSecret {
			out = append(out, password)
		}
	}
	return out
}

// shown is the address without credentials.
func (s *promServer) shown() string {
	u, err := url.Parse(s.address)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// api connects at the first question, so that a model can be checked where the
// files of certificates are not.
func (s *promServer) api() (api.Client, error) {
	if s.trouble != "" {
		return nil, errors.New(s.trouble)
	}
	s.connect.Do(func() { s.client, s.connectFailed = s.dial() })
	if s.connectFailed != nil {
		return nil, s.connectFailed
	}
	return s.client, nil
}

func (s *promServer) dial() (api.Client, error) {
	t := newTransport()
	var err error
	if t.TLSClientConfig, err = s.files.config(); err != nil {
		return nil, err
	}
	s.closeIdle = t.CloseIdleConnections
	return api.NewClient(api.Config{Address: s.address, Client: &http.Client{
		Transport: &promTransport{next: t, header: s.header}, CheckRedirect: sameHost,
	}})
}

// close ends idle connections.
func (s *promServer) close() {
	s.connect.Do(func() { s.connectFailed = errors.New("the world is closed") })
	if s.closeIdle != nil {
		s.closeIdle()
	}
}

// promTransport adds the headers and bounds the answer.
type promTransport struct {
	next   http.RoundTripper
	header http.Header
}

// RoundTrip sends a copy of the request.
func (t *promTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Cache-Control", "no-cache")
	for k, v := range t.header {
		req.Header[k] = v
	}
	if host := t.header.Get("Host"); host != "" {
		req.Host = host
	}
	resp, err := t.next.RoundTrip(req)
	if err == nil {
		resp.Body = &boundedBody{ReadCloser: resp.Body, left: maxSeries}
	}
	return resp, err
}

var errTooLarge = fmt.Errorf("the answer is larger than %d MiB", maxSeries>>20)

// boundedBody fails where an answer is larger than it may be.
type boundedBody struct {
	io.ReadCloser
	left int
}

// Read reads at most what is left.
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}
