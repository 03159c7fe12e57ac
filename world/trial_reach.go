package world

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/world/process"
)

func (r *httpRun) expressions() []hcl.Expression { return []hcl.Expression{r.url} }

func (r *httpRun) endpoint(g *ground, _ *World) (endpoint, error) {
	address, err := g.url(r.url)
	if err != nil {
		return endpoint{}, err
	}
	u, err := url.Parse(address)
	if err != nil {
		return endpoint{}, err
	}
	return endpoint{
		key: "connect " + u.Scheme + " " + u.Host, shown: shownURL(address),
		try: func(ctx context.Context, _ *World) (string, error) { return Connect(ctx, address) },
	}, nil
}

// Connect tells whether the server of a URL accepts connections, and where the
// URL says https whether its certificate is good. Nothing is sent. Where the
// environment names a proxy for the URL, it is the proxy that is connected to.
func Connect(ctx context.Context, address string) (says string, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	to, suffix := u, ""
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u}); err != nil {
		return "", err
	} else if proxy != nil {
		to, suffix = proxy, ", a proxy"
	}
	limit, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(limit, "tcp", hostPort(to))
	if err == nil {
		defer conn.Close()
		if to.Scheme == "https" {
			err = tls.Client(conn, &tls.Config{ServerName: to.Hostname(), MinVersion: tls.VersionTLS12}).HandshakeContext(limit)
		}
	}
	if err != nil {
		if why, timedOut := unanswered(limit, bare(err), connectTime); timedOut {
			err = errors.New(why)
		}
		return "", fmt.Errorf("%s: %w", to.Host, bare(err))
	}
	return to.Host + suffix + " accepts connections", nil
}

func hostPort(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	if u.Scheme == "https" {
		return net.JoinHostPort(u.Hostname(), "443")
	}
	return net.JoinHostPort(u.Hostname(), "80")
}

func (f *httpFence) endpoint(g *ground, _ *World) (endpoint, error) {
	t, err := f.target(g)
	if err != nil {
		return endpoint{}, err
	}
	own := t.(*httpTarget)
	return endpoint{key: "options " + t.key(), shown: shownURL(own.url), try: own.options}, nil
}

// options asks the keeper of a fence what it answers to. HTTP calls that method
// safe: it changes nothing. Any answer shows that the keeper is there, but one
// that says that there is nothing at the address, or that the server fails.
func (t *httpTarget) options(ctx context.Context, w *World) (string, error) {
	limit, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	h := t.header.Clone()
	h.Del("Content-Type")
	x := do(limit, w.asking, http.MethodOptions, t.url, h, nil, io.Discard)
	if x.err != nil {
		why, _ := unanswered(limit, x.err, t.timeout)
		return "", errors.New(redact(why, secrets(t.header)))
	}
	says := fmt.Sprintf("HTTP %d %s to OPTIONS", x.status, http.StatusText(x.status))
	switch {
	case x.status == http.StatusNotFound, x.status == http.StatusGone, x.status >= 500 && x.status != http.StatusNotImplemented:
		return "", errors.New("answers " + says)
	case x.status == http.StatusUnauthorized, x.status == http.StatusForbidden:
		return "", errors.New("answers " + says + "; look at the headers")
	}
	return "answers " + says + "; the fence was not raised", nil
}

func (r *execRun) endpoint(g *ground, w *World) (endpoint, error) {
	return r.startable(g, w.folder, "could be started; it was not run")
}

func (f *execFence) endpoint(g *ground, w *World) (endpoint, error) {
	return f.startable(g, w.folder, "could be started; it was not run, since it may raise the fence")
}

func (c command) startable(g *ground, folder, says string) (endpoint, error) {
	p, err := c.process(g, folder)
	if err != nil {
		return endpoint{}, err
	}
	return endpoint{
		key: fmt.Sprintf("start %q %q %s", p.Argv[0], p.Dir, says), shown: commandLine(p.Argv),
		try: func(context.Context, *World) (string, error) {
			return says, process.Process{Argv: p.Argv, Dir: p.Dir}.Startable()
		},
	}, nil
}
