package world

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/expr-lang/expr/types"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// httpKind observes by a request, and acts by one.
//
// An answer offers status, headers (by canonical and by lower-case name), body
// (decoded where it is JSON, a text otherwise) and text (the body as it is). A
// body in which an object gives a key twice has no value.
// Any answer to a request about one object can be evaluated, since a health
// endpoint may say DOWN with a 503; a list is only read from a success, unless
// its expressions look at the status.
func httpKind() kind {
	question := []hcl.AttributeSchema{{Name: "url", Required: true}, {Name: "method"}, {Name: "headers"}, {Name: "timeout"}}
	return kind{
		name:       "http",
		attributes: listAttributes(question),
		observe:    func(d *decoder) asker { return decodeHTTPObserve(d) },
		answers: types.Map{
			"status": types.Int, "headers": types.TypeOf(map[string]any{}), "body": types.Any, "text": types.String,
		},
		verdict: "status",
		judged:  true,
		runAttributes: []hcl.AttributeSchema{
			{Name: "url", Required: true}, {Name: "method"}, {Name: "headers"}, {Name: "body"}, {Name: "expect_status"},
		},
		run: func(d *decoder) actuator { return decodeHTTPRun(d) },
		fenceAttributes: []hcl.AttributeSchema{
			{Name: "url", Required: true}, {Name: "headers"}, {Name: "reject", Required: true}, {Name: "timeout"},
		},
		fence:    func(d *decoder) raiser { return decodeHTTPFence(d) },
		question: question,
		discover: func(d *decoder) asker { return decodeHTTPObserve(d) },
	}
}

type httpObserve struct {
	url, method, headers hcl.Expression
	timeout              time.Duration
}

func decodeHTTPObserve(d *decoder) *httpObserve {
	return &httpObserve{
		url: d.url("url"), method: d.method(), headers: d.expr("headers", cty.Map(cty.String)),
		timeout: d.duration("timeout", defaultAskTime),
	}
}

// method returns the expression of a request's method, checked where known.
func (d *decoder) method() hcl.Expression {
	if v, ok := d.known("method", cty.String); ok && !isMethod(v.AsString()) {
		d.errorf(d.attrs["method"].Expr.Range(), "Unsuitable value", "The method of %s must be in capital letters, such as GET or POST, not %q.", d.what, v.AsString())
	}
	return d.given("method")
}

func isMethod(s string) bool {
	return s != "" && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

func (g *ground) method(e hcl.Expression, def string) (string, error) {
	if e == nil {
		return def, nil
	}
	m, err := g.text(e)
	if err == nil && !isMethod(m) {
		err = fmt.Errorf("%q is not a method", m)
	}
	return m, err
}

func (o *httpObserve) expressions() []hcl.Expression {
	return []hcl.Expression{o.url, o.method, o.headers}
}

func (o *httpObserve) query(g *ground) (query, error) {
	q := &httpQuery{timeout: o.timeout}
	var err error
	if q.url, err = g.url(o.url); err != nil {
		return nil, err
	}
	if q.method, err = g.method(o.method, http.MethodGet); err != nil {
		return nil, err
	}
	if q.header, err = g.header(o.headers, nil); err != nil {
		return nil, err
	}
	return q, nil
}

type httpQuery struct {
	method, url string
	header      http.Header
	timeout     time.Duration
}

func (q *httpQuery) key() string {
	return fmt.Sprintf("http %q %q %q %s", q.method, q.url, q.header, q.timeout) // fmt sorts maps
}

func (q *httpQuery) source() Source { return Source{Kind: "http", Query: shownURL(q.url)} }

func (q *httpQuery) ask(ctx context.Context, w *World) answer {
	limit, cancel := context.WithTimeout(ctx, q.timeout)
	defer cancel()
	hidden := secrets(q.header)
	body := &limited{max: maxBody}
	x := do(limit, w.asking, q.method, q.url, q.header.Clone(), nil, stopAt{body, cancel})
	a := answer{sampled: x.started, redact: hidden}
	switch {
	case body.more:
		a.err = fmt.Sprintf("the answer is larger than %d KiB", maxBody>>10)
	case x.err != nil:
		a.err, a.absent = unanswered(limit, x.err, q.timeout)
	default:
		if a.failed = x.failed(); a.failed != "" {
			a.status = fmt.Sprintf("HTTP %d", x.status)
		}
		a.env = map[string]any{
			"status": x.status, "headers": headerNames(x.header), "text": string(body.buf),
			"body": a.decode(body.buf, x.header.Get("Content-Type")),
		}
	}
	return a
}

// stopAt ends a request as soon as its answer is too large.
type stopAt struct {
	*limited
	stop func()
}

// Write keeps what fits, and stops the request at what does not.
func (s stopAt) Write(p []byte) (int, error) {
	n, err := s.limited.Write(p)
	if s.more {
		s.stop()
	}
	return n, err
}

// unanswered says why a query has no answer, and whether that is one of the
// reasons that `absent` speaks of: refused, or timed out by its own limit.
func unanswered(limit context.Context, err error, timeout time.Duration) (why string, absent bool) {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return err.Error(), true
	case limit.Err() != nil:
		return fmt.Sprintf("no answer within %s", timeout), true
	}
	return err.Error(), false
}

// headerNames offers each header by its canonical and its lower-case name.
func headerNames(h http.Header) map[string]any {
	out := make(map[string]any, 2*len(h))
	for k, v := range h {
		text := strings.Join(v, ", ")
		out[k], out[strings.ToLower(k)] = text, text
	}
	return out
}
