package etcd

import (
	"context"
	"os"
	"testing"
	"time"
)

func lingering(t *testing.T, dir string) (*Store, <-chan int) {
	t.Helper()
	told := make(chan int, 16)
	s, err := Open(testCtx(t), Config{StateDir: dir, OpenTimeout: 20 * time.Second, OnLinger: func(n int) { told <- n }})
	if err != nil {
		t.Fatal(err)
	}
	return s, told
}

func TestHostLingersUntilThoseWhoJoinedHaveEnded(t *testing.T) {
	dir := t.TempDir()
	host, told := lingering(t, dir)
	joined := mustOpen(t, dir)
	done := make(chan error, 1)
	go func() { done <- host.Close() }()
	if n := <-told; n != 1 {
		t.Errorf("%d joined, want 1", n)
	}
	late := mustOpen(t, dir) // Whoever comes meanwhile joins as well.
	if late.Hosted() {
		t.Error("a second host")
	}
	if n := <-told; n != 2 {
		t.Errorf("%d joined, want 2", n)
	}
	for _, s := range []*Store{joined, late} {
		if _, err := s.Client().Put(testCtx(t), "k", "v"); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if s := mustOpen(t, dir); !s.Hosted() {
		t.Error("the next one does not host")
	}
}

func TestLingeringEndsWithTheContext(t *testing.T) {
	dir := t.TempDir()
	host, told := lingering(t, dir)
	joined := mustOpen(t, dir)
	ctx, cancel := context.WithCancel(testCtx(t))
	done := make(chan error, 1)
	go func() { done <- host.CloseContext(ctx) }()
	<-told
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if _, err := joined.Client().Get(testCtx(t), "k"); err != nil {
		t.Error(err)
	}
	settle(joined) // It answers a moment before it is known to be hosted here.
	if !joined.Hosted() {
		t.Error("answered without a host")
	}
}

func TestThoseWhoDiedAreNotWaitedFor(t *testing.T) {
	dir := t.TempDir()
	host, told := lingering(t, dir)
	joined, err := Open(testCtx(t), Config{StateDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer joined.client.Close()
	settle(joined)
	if err := joined.local.enlisted.Close(); err != nil { // As the kernel does when a process dies.
		t.Fatal(err)
	}
	if err := host.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case n := <-told:
		t.Errorf("waited for %d", n)
	default:
	}
	left, err := os.ReadDir(stateDir(dir).joined())
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// BenchmarkReady is the time from Open to the first linearizable read. Goal: about 0.1 s.
func BenchmarkReady(b *testing.B) {
	dir := b.TempDir()
	var open time.Duration
	n := 0
	for b.Loop() {
		n++
		begin := time.Now()
		s, err := Open(context.Background(), Config{StateDir: dir})
		if err != nil {
			b.Fatal(err)
		}
		open += time.Since(begin)
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(open.Milliseconds())/float64(n), "ms/ready")
}
