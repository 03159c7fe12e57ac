package server

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func serve(t *testing.T) *Endpoint {
	t.Helper()
	reg := prometheus.NewRegistry()
	NewMetrics(reg)
	e, err := ServeMetrics("127.0.0.1:0", reg)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// ask sends one request over a connection of its own.
func ask(t *testing.T, method, url, accept string) (status int, kind, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	req.Header.Set("Accept", accept)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header.Get("Content-Type"), string(raw)
}

func TestMetricsAreServedAsTextAndAsOpenMetrics(t *testing.T) {
	e := serve(t)
	for _, tt := range []struct{ accept, kind, has string }{
		{"text/plain", "text/plain; version=0.0.4", "# TYPE fettle_rounds_total counter\nfettle_rounds_total 0\n"},
		{"application/openmetrics-text; version=1.0.0", "application/openmetrics-text; version=1.0.0", "# TYPE fettle_rounds counter\nfettle_rounds_total 0.0\n"},
	} {
		status, kind, body := ask(t, http.MethodGet, e.URL(), tt.accept)
		if status != http.StatusOK || !strings.HasPrefix(kind, tt.kind) || !strings.Contains(body, tt.has) {
			t.Errorf("%s: %d %s:\n%s", tt.accept, status, kind, body)
		}
		if open := strings.HasPrefix(tt.kind, "application"); strings.HasSuffix(body, "# EOF\n") != open {
			t.Errorf("%s: the end is %q", tt.accept, body[max(0, len(body)-20):])
		}
	}
	if status, _, _ := ask(t, http.MethodPost, e.URL(), ""); status != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", status)
	}
	if status, _, _ := ask(t, http.MethodGet, strings.TrimSuffix(e.URL(), "metrics")+"else", ""); status != http.StatusNotFound {
		t.Errorf("elsewhere: %d", status)
	}
	status, kind, body := ask(t, http.MethodGet, strings.TrimSuffix(e.URL(), "metrics"), "")
	if status != http.StatusOK || kind != "text/html; charset=utf-8" || !strings.Contains(body, `<a href="/metrics">`) || strings.Count(body, "\n") != 1 {
		t.Errorf("at the root: %d %s %q", status, kind, body)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", e.listener.Addr().String()); err == nil {
		t.Error("it listens after it was closed")
	}
}

func TestAnAddressThatCannotBeServed(t *testing.T) {
	e := serve(t)
	taken := e.listener.Addr().String()
	for _, tt := range []struct{ addr, want string }{
		{"9100", `"9100" is no address for metrics: write HOST:PORT, such as 127.0.0.1:9100`},
		{taken, "metrics cannot be served at " + taken + ": the address is in use; name another, or port 0 for any free one"},
		{"192.0.2.1:9100", "metrics cannot be served: listen tcp 192.0.2.1:9100: bind: cannot assign requested address"},
	} {
		if _, err := ServeMetrics(tt.addr, prometheus.NewRegistry()); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", tt.addr, err, tt.want)
		}
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestAClientThatNeverAsksHoldsNothingUp promises that closing ends with a
// connection open on which no whole request came.
func TestAClientThatNeverAsksHoldsNothingUp(t *testing.T) {
	e := serve(t)
	conn, err := net.Dial("tcp", e.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /metrics HTTP/1.1\r\n"); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadAll(conn); err != nil { // Ends when the server lets go.
		t.Log(err)
	}
}
