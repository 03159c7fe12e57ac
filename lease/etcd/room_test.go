package etcd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

const smallQuota = 32 << 20

func openSmall(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(testCtx(t), Config{StateDir: dir, OpenTimeout: 20 * time.Second, Quota: smallQuota})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func put(t *testing.T, s *Store, key string, bytes int) error {
	t.Helper()
	_, err := s.Client().Put(testCtx(t), key, string(make([]byte, bytes)))
	s.hosting().etcd.Server.Backend().ForceCommit() // It counts what is committed, every tenth of a second.
	return err
}

// fill puts values until etcd is nearly full: under one key, so that all but
// the last are history, or each under its own.
func fill(t *testing.T, s *Store, key func(i int) string) error {
	t.Helper()
	for i := 0; ; i++ {
		if err := put(t, s, key(i), 256<<10); err != nil {
			t.Fatalf("etcd is full without a word: %v", err)
		}
		if err := s.CheckSpace(testCtx(t)); err != nil {
			return err
		}
	}
}

func oneKey(int) string     { return "k" }
func manyKeys(i int) string { return fmt.Sprint("k", i) }
func used(t *testing.T, s *Store) int64 {
	t.Helper()
	q, err := s.Quota(testCtx(t))
	if err != nil {
		t.Fatal(err)
	}
	return q.Used
}

func TestNearlyFullIsSaidBeforeEtcdTakesNothingAnyMore(t *testing.T) {
	s := openSmall(t, t.TempDir())
	if err := s.CheckSpace(testCtx(t)); err != nil {
		t.Fatal(err)
	}
	full := fill(t, s, manyKeys)
	if !errors.Is(full, ErrNearlyFull) {
		t.Fatal(full)
	}
	wants(t, full.Error(), "etcd is nearly full: ", " of 32 MiB are used, nothing new is begun; let finished runs be archived", "--state-dir")
	if err := put(t, s, "outcome", 1); err != nil {
		t.Errorf("what is under way cannot be recorded: %v", err)
	}
	q, err := s.Quota(testCtx(t))
	if err != nil || q.Limit != smallQuota || q.Used <= 0 || q.Live <= 0 {
		t.Errorf("quota %+v, %v", q, err)
	}
}

func TestRoomIsMadeOfHistoryOnlyWhereNobodyIsJoined(t *testing.T) {
	dir := t.TempDir()
	s := openSmall(t, dir)
	_ = fill(t, s, oneKey)
	w := s.WatchSpace(time.Hour)
	defer w.Close()
	joined := mustOpen(t, dir)
	before := used(t, s)
	if err := w.Check(testCtx(t)); !errors.Is(err, ErrNearlyFull) || !w.Low() || used(t, s) < before {
		t.Errorf("with another joined: %v, low %v, %d bytes of %d", err, w.Low(), used(t, s), before)
	}
	if err := joined.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Check(testCtx(t)); err != nil || w.Low() || used(t, s) > 2<<20 {
		t.Errorf("alone: %v, low %v, %d bytes", err, w.Low(), used(t, s))
	}
}

func TestNoRoomIsMadeOfWhatIsInUse(t *testing.T) {
	s := openSmall(t, t.TempDir())
	w := s.WatchSpace(time.Hour)
	defer w.Close()
	n := 0
	more := func(int) string { n++; return manyKeys(n) }
	var err error
	for tries := 0; err == nil && tries < 20; tries++ { // A little is free in any file.
		_ = fill(t, s, more)
		err = w.Check(testCtx(t))
	}
	if !errors.Is(err, ErrNearlyFull) || !w.Low() {
		t.Errorf("got %v, low %v", err, w.Low())
	}
}

func TestTheWatchSeesThatSpaceRunsOut(t *testing.T) {
	s := openSmall(t, t.TempDir())
	w := s.WatchSpace(time.Millisecond)
	defer w.Close()
	_ = fill(t, s, manyKeys)
	for end := testCtx(t); !w.Low(); {
		if end.Err() != nil {
			t.Fatal("it was not seen")
		}
	}
}

func TestAStoreThatWasFullWorksAgainOnceSomethingWasRemoved(t *testing.T) {
	dir := t.TempDir()
	s := openSmall(t, dir)
	_ = fill(t, s, manyKeys)
	var full error
	for i := 0; full == nil; i++ {
		full = put(t, s, fmt.Sprint("more", i), 256<<10)
	}
	if !errors.Is(full, rpctypes.ErrNoSpace) {
		t.Fatal(full)
	}
	if _, err := s.Client().Delete(testCtx(t), "k", clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openSmall(t, dir)
	if n := used(t, s); n > smallQuota/2 {
		t.Errorf("%d bytes after the start", n)
	}
	if err := put(t, s, "new", 256<<10); err != nil {
		t.Error(err)
	}
	got, err := s.Client().Get(testCtx(t), "more", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil || got.Count == 0 {
		t.Errorf("what was not removed: %v, %v", got, err)
	}
}

func TestAStartTellsWhetherEverybodyBeforeHasEnded(t *testing.T) {
	dir := t.TempDir()
	open := func() (*Store, int) {
		told := 0
		s, err := Open(testCtx(t), Config{StateDir: dir, OpenTimeout: 20 * time.Second, OnOrphaned: func(ctx context.Context, cli *clientv3.Client) {
			told++
			if _, err := cli.Get(ctx, "k"); err != nil {
				t.Error(err)
			}
			if _, err := join(ctx, stateDir(dir), Config{Prefix: "p"}); !errors.Is(err, errStarting) {
				t.Errorf("somebody could join before that: %v", err)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		return s, told
	}
	host, first := open()
	joined, n := open()
	if err := host.Close(); err != nil {
		t.Fatal(err)
	}
	next, second := open() // The one who joined lives on.
	for _, s := range []*Store{joined, next} {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	// What a host leaves behind that was killed.
	if err := os.WriteFile(stateDir(dir).endpoint(), []byte(filepath.Join(dir, "etcd.sock")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	last, third := open()
	if err := last.Close(); err != nil {
		t.Fatal(err)
	}
	if first != 1 || n != 0 || second != 0 || third != 1 {
		t.Errorf("told %d, %d, %d, %d times, want 1, 0, 0, 1", first, n, second, third)
	}
}
