package llm

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/fettleops/fettle/model"
)

// HTTPFailure sorts an HTTP answer that is no success by its status.
func HTTPFailure(status int, header http.Header, detail string) *CallError {
	e := &CallError{Status: status, Detail: line(detail), Class: BadRequest}
	switch {
	case status == http.StatusTooManyRequests:
		e.Class, e.After = RateLimited, retryAfter(header, time.Now())
	case status == http.StatusRequestTimeout:
		e.Class = TimedOut
	case status >= http.StatusInternalServerError: // 529 is a provider's word for overloaded.
		e.Class, e.After = Unavailable, retryAfter(header, time.Now())
	case status < http.StatusBadRequest:
		e.Detail = "redirected to " + line(header.Get("Location")) + "; give base_url the place itself"
	}
	if e.Detail == "" {
		e.Detail = http.StatusText(status)
	}
	return e
}

// deniesSchema tells whether a server refuses a request for its schema: the
// same may then be asked without one.
func (e *CallError) deniesSchema() bool {
	switch e.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusNotImplemented, http.StatusInternalServerError:
	default:
		return false
	}
	detail := strings.ToLower(e.Detail)
	for _, word := range []string{"response_format", "response format", "schema", "output_config", "output_format", "structured output", "grammar", "json mode"} {
		if strings.Contains(detail, word) {
			return true
		}
	}
	return false
}

// Failure sorts an error that came in place of an answer; ctx is that of the call.
func Failure(ctx context.Context, err error) *CallError {
	if e, ok := AsCallError(err); ok {
		return e
	}
	e := &CallError{Detail: line(err.Error()), Err: err, Class: NotAnAnswer}
	var dns *net.DNSError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		e.Class, e.Detail = Cancelled, line(context.Cause(ctx).Error())
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		e.Class, e.Detail = TimedOut, "the call took too long"
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.As(err, &dns), isNet(err):
		e.Class = Unreachable
	}
	return e
}

// isNet tells whether the connection failed, rather than what came over it.
func isNet(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) || strings.Contains(err.Error(), "EOF") || strings.Contains(err.Error(), "server closed")
}

// retryAfter reads how long the server asks to wait, as seconds or as a date;
// milliseconds where it says so.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(min(ms, 1e9) * float64(time.Millisecond))
	}
	after := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(after, 64); err == nil && s > 0 {
		return time.Duration(min(s, 1e6) * float64(time.Second))
	}
	if at, err := http.ParseTime(after); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// line makes one short line of what a server says.
func line(s string) string {
	return model.Clip(strings.Join(strings.Fields(strings.ToValidUTF8(s, "�")), " "))
}
