package etcd

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// childHost hosts the etcd of a state directory in a process of its own, until it is killed.
func childHost(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestHostInAProcessOfItsOwn$")
	cmd.Env = append(os.Environ(), "HOST_STATE_DIR="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if line := make([]byte, len("hosts\n")); !readFull(out.Read, line) || string(line) != "hosts\n" {
		t.Fatalf("the host says %q", line)
	}
	return cmd
}

func readFull(read func([]byte) (int, error), into []byte) bool {
	for len(into) > 0 {
		n, err := read(into)
		if into = into[n:]; err != nil {
			return false
		}
	}
	return true
}

// The other process of childHost; alone it sees that a store that nobody hosts is hosted.
func TestHostInAProcessOfItsOwn(t *testing.T) {
	dir := os.Getenv("HOST_STATE_DIR")
	if dir == "" {
		if !mustOpen(t, t.TempDir()).Hosted() {
			t.Error("joined nobody")
		}
		return
	}
	s, err := Open(context.Background(), Config{StateDir: dir})
	if err != nil || !s.Hosted() {
		t.Fatal(s, err)
	}
	_, _ = os.Stdout.WriteString("hosts\n")
	select {}
}

func TestOneOfTheJoinedTakesThePlaceOfAHostThatWasKilled(t *testing.T) {
	for _, name := range []string{"state", strings.Repeat("long ", 40)} {
		dir := filepath.Join(t.TempDir(), name)
		host := childHost(t, dir)
		one, two := mustOpen(t, dir), mustOpen(t, dir)
		held, err := one.Client().Grant(testCtx(t), 60)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := one.Client().Put(testCtx(t), "k", "before"); err != nil {
			t.Fatal(err)
		}
		if err := host.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = host.Wait() // The kernel has released its lock.
		if mustOpen(t, dir).Hosted() {
			t.Error("a command that comes now hosts, and would have to stay for those who had joined")
		}
		for _, s := range []*Store{one, two} { // Reads first: what is sent to the old one fails with its outcome unknown.
			got, err := s.Client().Get(testCtx(t), "k")
			if err != nil || len(got.Kvs) != 1 || string(got.Kvs[0].Value) != "before" {
				t.Errorf("got %v, %v", got, err)
			}
			if _, err := s.Client().Put(testCtx(t), "k2", "after"); err != nil {
				t.Error(err)
			}
		}
		if left, err := one.Client().TimeToLive(testCtx(t), held.ID); err != nil || left.TTL <= 0 {
			t.Errorf("the lease: %v, %v", left, err)
		}
		settle(one)
		settle(two)
		if one.Hosted() == two.Hosted() {
			t.Errorf("hosted: %v and %v", one.Hosted(), two.Hosted())
		}
		if n := countJoined(stateDir(dir)); n != 2 {
			t.Errorf("%d joined, want 2: the new host is none of them", n)
		}
	}
}

func TestAHostWhosePlaceCannotBeTakenIsAnOutageWithItsReason(t *testing.T) {
	dir := t.TempDir()
	host, joined := mustOpen(t, dir), mustOpen(t, dir)
	settle(joined)
	if err := host.Close(); err != nil {
		t.Fatal(err)
	}
	damage(t, filepath.Join(dir, "etcd", "member", "wal"))
	waiting := make(chan error, 1)
	go func() {
		_, err := joined.Client().Get(testCtx(t), "k")
		waiting <- err
	}()
	joined.local.takeOver()
	_, now := joined.Client().Put(testCtx(t), "k", "v")
	for _, err := range []error{<-waiting, now} {
		if !errors.Is(err, ErrServerGone) {
			t.Fatalf("got %v", err)
		}
		wants(t, err.Error(), "the process that hosted the etcd of state directory "+dir+" has ended, and this one cannot take its place: ",
			"nothing was deleted", "; start this command again")
	}
	if since, why := joined.Outage(); since.IsZero() || !strings.HasPrefix(why, "the process that hosted the etcd of state directory") {
		t.Errorf("outage since %v: %q", since, why)
	}
}

func TestNothingIsDoneOnceTheStateDirectoryIsTakenAway(t *testing.T) {
	for what, take := range map[string]func(dir string) error{
		"removed":      os.RemoveAll,
		"moved":        func(dir string) error { return os.Rename(dir, dir+".old") },
		"data removed": func(dir string) error { return os.RemoveAll(filepath.Join(dir, "etcd")) },
		"replaced": func(dir string) error {
			return errors.Join(os.Rename(dir, dir+".old"), os.MkdirAll(filepath.Join(dir, "etcd"), 0o700),
				os.WriteFile(filepath.Join(dir, "etcd.lock"), nil, 0o600))
		},
	} {
		t.Run(what, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			host, joined := mustOpen(t, dir), mustOpen(t, dir)
			t.Cleanup(func() { endTaken(host) })
			lease, err := joined.Client().Grant(testCtx(t), 60)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := joined.Client().Put(testCtx(t), "lock", "", clientv3.WithLease(lease.ID)); err != nil {
				t.Fatal(err)
			}
			lost := joined.Client().Watch(testCtx(t), "lock")
			if err := take(dir); err != nil {
				t.Fatal(err)
			}
			for _, s := range []*Store{host, joined} {
				_, err := s.Client().Put(testCtx(t), "k", "v")
				if !errors.Is(err, ErrTakenAway) {
					t.Errorf("got %v", err)
					continue
				}
				if want := "the state directory " + dir + " was moved, removed or replaced while it was in use; put it back"; err.Error() != want {
					t.Errorf("got  %s\nwant %s", err, want)
				}
			}
			// Whoever holds something is told at once, not only when it next asks.
			select {
			case resp := <-lost:
				if len(resp.Events) != 1 || resp.Events[0].IsCreate() {
					t.Errorf("saw %+v", resp)
				}
			case <-time.After(20 * time.Second):
				t.Error("the lock lives on")
			}
		})
	}
}

func TestWhatIsPutAwayOfATakenStoreIsNotAnothers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	old := mustOpen(t, dir)
	t.Cleanup(func() { endTaken(old) })
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	next := mustOpen(t, dir)
	if !next.Hosted() {
		t.Fatal("joined the store that was taken away")
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	joined := mustOpen(t, dir)
	if _, err := joined.Client().Put(testCtx(t), "k", "v"); err != nil || joined.Hosted() {
		t.Errorf("hosted %v, %v", joined.Hosted(), err)
	}
}

// endTaken ends a server that is else left to end with its process.
func endTaken(s *Store) {
	if errors.Is(s.local.last.ended(), ErrTakenAway) {
		s.local.server.etcd.Close()
	}
}

// settle ends the looking after the store: what was begun by it is done, and nothing more is.
func settle(s *Store) {
	s.local.stop()
	s.local.look.Wait()
}
