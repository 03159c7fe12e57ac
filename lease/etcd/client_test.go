package etcd

import (
	"errors"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestErrorsOfTheConnectionReadPlainlyAndKeepTheirCode(t *testing.T) {
	l := newLastError(nil)
	raw := status.Error(codes.Unavailable, `last connection error: connection error: desc = "transport: Error while dialing: dial tcp 10.0.0.1:2379: connect: connection refused"`)
	got := l.better(raw)
	if want := "Error while dialing: dial tcp 10.0.0.1:2379: connect: connection refused"; got.Error() != want || status.Code(got) != codes.Unavailable {
		t.Errorf("got %s (%s), want %s", got, status.Code(got), want)
	}
	cut := l.better(status.Error(codes.Unavailable, "error reading from server: EOF"))
	if want := "the connection broke before the answer came: EOF"; cut.Error() != want || status.Code(cut) != codes.Unavailable {
		t.Errorf("got %s (%s), want %s", cut, status.Code(cut), want)
	}
	for _, err := range []error{nil, errors.New("other"), status.Error(codes.NotFound, "lease"), status.Error(codes.DeadlineExceeded, "late")} {
		if got := l.better(err); got != err { //nolint:errorlint // The very same.
			t.Errorf("%v became %v", err, got)
		}
	}
}

func TestAnOutageBeginsWithTheFirstRequestThatHadNoAnswer(t *testing.T) {
	l := newLastError(nil)
	s := &Store{last: l}
	if since, _ := s.Outage(); !since.IsZero() {
		t.Error("an outage before any request")
	}
	at := time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC)
	down := &plainError{status: status.New(codes.Unavailable, "connection refused")}
	for _, tt := range []struct {
		err   error
		since time.Time
		why   string
	}{
		{status.Error(codes.NotFound, "no such lease"), time.Time{}, ""},
		{status.Error(codes.DeadlineExceeded, ""), at.Add(time.Second), "no answer"},
		{down, at.Add(time.Second), "connection refused"},
		{status.Error(codes.Canceled, ""), at.Add(time.Second), "connection refused"},
		{nil, time.Time{}, ""},
		{down, at.Add(5 * time.Second), "connection refused"},
	} {
		l.note(at, tt.err)
		at = at.Add(time.Second)
		if since, why := s.Outage(); !since.Equal(tt.since) || why != tt.why {
			t.Errorf("after %v: since %v, %q; want %v, %q", tt.err, since, why, tt.since, tt.why)
		}
	}
}
