package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"
)

const (
	maxTries     = 4
	longestPause = 30 * time.Second
	maxAnswer    = 4 << 10 // bytes of an answer that are read
)

// caller delivers messages over HTTP.
type caller struct {
	s      Settings
	agent  string
	client *http.Client
	pause  time.Duration // before the second try; it grows
}

func newCaller(s Settings, agent string) *caller {
	base := http.DefaultTransport.(*http.Transport).Clone() // The standard library's own, always of this type.
	base.DisableKeepAlives = true                           // Two messages of a run are far apart.
	return &caller{s: s, agent: agent, pause: 500 * time.Millisecond, client: &http.Client{
		Transport: base,
		// Headers and message go nowhere else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// call sends a message, again where the failure may pass: no answer, an error
// of the server, or the wish to be asked later.
func (c *caller) call(ctx context.Context, m Message, raw []byte) error {
	delays := backoff.NewExponentialBackOff()
	delays.InitialInterval, delays.MaxInterval, delays.Multiplier = c.pause, longestPause, 2
	var last error
	_, err := backoff.Retry(
		ctx, func() (struct{}, error) { return struct{}{}, c.once(ctx, m.ID, raw) },
		backoff.WithBackOff(delays), backoff.WithMaxTries(maxTries), backoff.WithMaxElapsedTime(0),
		backoff.WithNotify(func(err error, _ time.Duration) { last = err }),
	)
	if err != nil && ctx.Err() != nil && last != nil {
		return fmt.Errorf("%w; before that: %w", context.Cause(ctx), last)
	}
	return err
}

// laterError is an answer that asks to come again later.
type laterError struct {
	error
	after *backoff.RetryAfterError
}

func (e *laterError) Unwrap() error { return e.after }

func (c *caller) once(ctx context.Context, id string, raw []byte) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.s.Timeout, fmt.Errorf("no answer within its timeout of %s", c.s.Timeout))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, c.s.Method, c.s.URL, bytes.NewReader(raw))
	if err != nil {
		return backoff.Permanent(bare(err))
	}
	req.Header.Set("Content-Type", "application/json")
	for k, v := range c.s.Headers {
		req.Header.Set(k, v)
	}
	req.Host = req.Header.Get("Host")
	req.Header.Set("User-Agent", c.agent)
	req.Header.Set("Idempotency-Key", id)
	res, err := c.client.Do(req)
	if err != nil {
		return lasting(ctx, bare(err))
	}
	defer res.Body.Close()
	_, _ = io.CopyN(io.Discard, res.Body, maxAnswer) // What it says is not needed; whether it takes the message is.
	return judge(res)
}

// judge tells what an answer means.
func judge(res *http.Response) error {
	status := fmt.Errorf("it answered HTTP %d %s", res.StatusCode, http.StatusText(res.StatusCode))
	switch {
	case res.StatusCode/100 == 2:
		return nil
	case res.StatusCode == http.StatusTooManyRequests, res.StatusCode == http.StatusServiceUnavailable:
		if s, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && s > 0 {
			return &laterError{status, &backoff.RetryAfterError{Duration: min(time.Duration(s)*time.Second, longestPause)}}
		}
		return status
	case res.StatusCode/100 == 5, res.StatusCode == http.StatusRequestTimeout:
		return status
	case res.StatusCode/100 == 3:
		return backoff.Permanent(fmt.Errorf("%w, and a redirect is not followed: write the address that it leads to", status))
	}
	return backoff.Permanent(status)
}

// lasting tells whether a failure to connect is one that another try cannot mend.
func lasting(ctx context.Context, err error) error {
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &certificate):
		return backoff.Permanent(err)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return err
}

// bare takes the address off an error: it may be as good as a password.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
