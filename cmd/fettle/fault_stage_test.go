package main

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// patience is after which a test that waits for an event gives up.
const patience = 100 * time.Second

// stage is a fleet of its own, with an etcd of its own.
type stage struct {
	*fleet
	t     *testing.T
	etcd  *etcdServer
	store *keys
	path  string // The model's folder.
	ttl   string // How long etcd keeps the locks of one who is no longer heard of.
}

// newStage starts a fleet and an etcd. Without fences the model's actuators
// keep none, as far as fettle knows.
func newStage(t *testing.T, fenced bool) *stage {
	t.Helper()
	s := &stage{t: t, fleet: startFleet(t), etcd: startEtcd(t), ttl: "5s"}
	s.store = openKeys(t, s.etcd)
	s.path = s.modelAt(s.etcd.endpoint, fenced)
	return s
}

var fenceBlock = regexp.MustCompile(`(?s)\n    fence \{.*?\n    \}`)

// modelAt copies the example's model for an etcd that is reached there.
func (s *stage) modelAt(endpoint string, fenced bool) string {
	s.t.Helper()
	dir := s.model(&etcdServer{endpoint: endpoint})
	file := filepath.Join(dir, "fleet.fettle.hcl")
	text, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	if !fenced { // Whoever meets its actions in doubt waits for so long.
		text = fenceBlock.ReplaceAll(text, nil)
		text = bytes.ReplaceAll(text, []byte(`timeout = "8s"`), []byte(`timeout = "4s"`))
		text = bytes.ReplaceAll(text, []byte(`timeout      = "8s"`), []byte(`timeout = "4s"`))
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		s.t.Fatal(err)
	}
	return dir
}

// byHand posts to the fleet as a person would, without a fence.
func (s *stage) byHand(path string) {
	s.t.Helper()
	resp, err := http.Post(s.base+path, "", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		s.t.Fatalf("POST %s by hand: %s", path, resp.Status)
	}
}

// awaits waits for a channel that something closes.
func awaits(t *testing.T, ch <-chan struct{}, what string, by ...*controller) {
	t.Helper()
	select {
	case <-ch:
	case <-time.After(patience):
		for _, c := range by {
			c.fail(what + " did not happen")
		}
		t.Fatalf("%s did not happen", what)
	}
}

// within bounds a test's requests to etcd.
func within(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), patience)
}
