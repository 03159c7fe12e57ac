package world

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

type httpRun struct {
	url, method, headers, body hcl.Expression
	expect                     []int // empty: any 2xx
}

func decodeHTTPRun(d *decoder) *httpRun {
	return &httpRun{
		url: d.url("url"), method: d.method(), headers: d.expr("headers", cty.Map(cty.String)),
		body: d.expr("body", cty.DynamicPseudoType), expect: d.codes("expect_status", 100, 599, nil),
	}
}

// act sends the request. It failed where the actuator said so, or where no
// connection was made; once something may have been sent, anything but a whole
// answer leaves the outcome in doubt.
func (r *httpRun) act(ctx context.Context, w *World, g *ground, c Call) (Outcome, int) {
	address, method, h, body, err := r.request(g, c)
	if err != nil {
		return Outcome{Status: Failed, Message: "not sent: " + clip(err.Error(), 300)}, 0
	}
	out := &output{}
	told := &hiding{s: w.sensitive, to: out}
	x := do(ctx, w.acting, method, address, h, strings.NewReader(body), told)
	told.flush()
	hidden := secrets(h)
	o := Outcome{Output: []byte(redact(string(out.bytes()), hidden)), Cut: out.cut()}
	switch {
	case x.status == 0 && !x.sent && ctx.Err() == nil:
		o.Status, o.Message = Failed, "not sent: "+x.err.Error()
	case x.status == 0 || x.err != nil && r.expected(x.status):
		o.Status, o.Message = InDoubt, x.err.Error()
		if ctx.Err() != nil {
			o.Message = "no whole answer: " + ended(ctx)
		}
	case r.expected(x.status):
		o.Status, o.Message = Done, fmt.Sprintf("HTTP %d %s", x.status, http.StatusText(x.status))
	default:
		o.Status, o.Message = Failed, statusText(&x)
		if x.status == http.StatusBadGateway || x.status == http.StatusGatewayTimeout {
			o.Status = InDoubt // A gateway lost the answer; the actuator may have acted.
		}
	}
	o.Message = redact(o.Message, hidden)
	return o, x.status
}

func statusText(x *exchange) string {
	if s := x.failed(); s != "" {
		return s
	}
	return fmt.Sprintf("HTTP %d, which is not expected", x.status)
}

func (r *httpRun) expected(status int) bool {
	if len(r.expect) == 0 {
		return status >= 200 && status < 300
	}
	return slices.Contains(r.expect, status)
}

func (r *httpRun) request(g *ground, c Call) (address, method string, h http.Header, body string, err error) {
	if address, err = g.url(r.url); err != nil {
		return
	}
	if method, err = g.method(r.method, http.MethodPost); err != nil {
		return
	}
	fixed := map[string]string{
		"Fettle-Run": c.Run, "Fettle-Step": strconv.Itoa(c.Step),
		"Idempotency-Key": c.ActionID, "Fettle-Writes": asciiJSON(c.Writes), "Fettle-Armed": strconv.FormatInt(c.Armed, 10),
	}
	if c.Fence != 0 {
		fixed["Fettle-Fence"] = strconv.FormatInt(c.Fence, 10)
	}
	if h, err = g.header(r.headers, fixed); err != nil {
		return
	}
	body, isJSON, err := g.body(r.body)
	if isJSON && h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/json")
	}
	return address, method, h, body, err
}

// body evaluates a request's body: a text is sent as it is, anything else as
// JSON.
func (g *ground) body(e hcl.Expression) (body string, isJSON bool, err error) {
	if e == nil {
		return "", false, nil
	}
	v, _, err := g.value(e, cty.DynamicPseudoType)
	if err != nil {
		return "", false, err
	}
	if v.Type() == cty.String {
		return v.AsString(), false, nil
	}
	text, err := ctyjson.Marshal(v, v.Type())
	if err != nil {
		return "", false, fmt.Errorf("body as JSON: %w", err)
	}
	return string(text), true, nil
}

// asciiJSON writes texts as a JSON array that can stand in a header.
func asciiJSON(texts []string) string {
	if texts == nil {
		texts = []string{}
	}
	b, err := json.Marshal(texts)
	if err != nil {
		return "[]"
	}
	var out strings.Builder
	for _, r := range string(b) {
		switch {
		case r < 0x7f:
			out.WriteRune(r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

type httpFence struct {
	url, headers hcl.Expression
	reject       []int
	timeout      time.Duration
}

func decodeHTTPFence(d *decoder) *httpFence {
	return &httpFence{
		url: d.url("url"), headers: d.expr("headers", cty.Map(cty.String)), reject: d.codes("reject", 400, 599, nil),
		timeout: d.duration("timeout", defaultRaise),
	}
}

func (f *httpFence) expressions() []hcl.Expression { return []hcl.Expression{f.url, f.headers} }

func (f *httpFence) rejects() []int { return f.reject }

func (f *httpFence) target(g *ground) (target, error) {
	t := &httpTarget{reject: f.reject, timeout: f.timeout}
	var err error
	if t.url, err = g.url(f.url); err != nil {
		return nil, err
	}
	if t.header, err = g.header(f.headers, map[string]string{"Content-Type": "application/json"}); err != nil {
		return nil, err
	}
	return t, nil
}

type httpTarget struct {
	url     string
	header  http.Header
	reject  []int
	timeout time.Duration
}

func (t *httpTarget) key() string { return fmt.Sprintf("http %q %q %v", t.url, t.header, t.reject) }

func (t *httpTarget) raise(ctx context.Context, w *World, f Fence) error {
	limit, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	body, err := json.Marshal(map[string]any{"fence": f.Token, "resources": f.Resources, "writes": f.Writes, "run": f.Run, "action_id": f.ActionID})
	if err != nil {
		return fmt.Errorf("raise the fence: %w", err)
	}
	where, hidden := shownURL(t.url), secrets(t.header)
	out := &limited{max: maxOutput}
	h := t.header.Clone()
	// Raising twice is raising once, so that the transport may repeat it on a new
	// connection where an idle one turns out to be closed. Nothing is sent of it.
	h["Idempotency-Key"] = nil
	told := &hiding{s: w.sensitive, to: out}
	x := do(limit, w.asking, http.MethodPost, t.url, h, strings.NewReader(string(body)), told)
	told.flush()
	switch {
	case x.err != nil && ctx.Err() == nil && limit.Err() != nil:
		return fmt.Errorf("raise the fence at %s: no answer within %s", where, t.timeout)
	case x.err != nil:
		return fmt.Errorf("raise the fence at %s: %w", where, x.err)
	case slices.Contains(t.reject, x.status):
		return &HigherFenceError{Actuator: where, Token: f.Token, Higher: higher(out.buf)}
	case x.failed() != "":
		return fmt.Errorf("raise the fence at %s: %s %s", where, x.failed(), redact(lastLines(out.buf), hidden))
	}
	return nil
}

// higher reads the token that an actuator has seen, 0 where it does not say.
func higher(body []byte) int64 {
	var told struct {
		Fence int64 `json:"fence"`
	}
	if json.Unmarshal(body, &told) != nil {
		return 0
	}
	return told.Fence
}
