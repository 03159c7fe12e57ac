package etcd

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func testCtx(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func mustOpen(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(testCtx(t), Config{StateDir: dir, OpenTimeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func openError(t *testing.T, cfg Config) string {
	t.Helper()
	s, err := Open(testCtx(t), cfg)
	if err == nil {
		_ = s.Close()
		t.Fatal("opened, want an error")
	}
	return err.Error()
}

func wants(t *testing.T, msg string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(msg, p) {
			t.Errorf("message %q lacks %q", msg, p)
		}
	}
}

func TestSecondOpenerJoinsAndSeesTheSameKeys(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	first, second := mustOpen(t, dir), mustOpen(t, dir)
	if !first.Hosted() || second.Hosted() {
		t.Fatalf("hosted: first %v, second %v; want true, false", first.Hosted(), second.Hosted())
	}
	key := first.Scope("prod") + "x"
	if _, err := first.Client().Put(testCtx(t), key, "1"); err != nil {
		t.Fatal(err)
	}
	got, err := second.Client().Get(testCtx(t), key)
	if err != nil || len(got.Kvs) != 1 {
		t.Fatalf("second opener sees %v, %v", got, err)
	}
}

func TestDataOutlivesTheHost(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir)
	if _, err := s.Client().Put(testCtx(t), "k", "v"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := mustOpen(t, dir).Client().Get(testCtx(t), "k")
	if err != nil || len(got.Kvs) != 1 {
		t.Fatalf("after reopening: %v, %v", got, err)
	}
}

func TestOnlyThisUserReachesTheSockets(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, dir)
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("mode %v, %v; want 0700", info.Mode(), err)
	}
	if got, want := listeners(t), []string{filepath.Join(dir, "etcd.sock")}; !slices.Equal(got, want) {
		t.Errorf("listens at %q, want %q", got, want)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := listeners(t); len(got) > 0 {
		t.Errorf("still listens at %q", got)
	}
}

func TestAnOrderlyEndLeavesNoErrorsAndNoSocket(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		must(t, mustOpen(t, dir).Close())
	}
	raw, err := os.ReadFile(stateDir(dir).log())
	if err != nil || strings.Contains(string(raw), "embedded etcd failed") {
		t.Errorf("the log, %v:\n%s", err, raw)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.sock")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// listeners returns where this process listens, as the kernel has it: the path of a
// unix socket, with @ where it is abstract, or the address of another.
func listeners(t *testing.T) []string {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	mine := map[string]bool{}
	for _, fd := range open {
		to, _ := os.Readlink(filepath.Join("/proc/self/fd", fd.Name()))
		if inode, ok := strings.CutPrefix(to, "socket:["); ok {
			mine[strings.TrimSuffix(inode, "]")] = true
		}
	}
	var out []string
	each := func(table string, inode, state int, listening string, name func(fields []string) string) {
		raw, err := os.ReadFile("/proc/self/net/" + table)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(raw), "\n") {
			if f := strings.Fields(line); len(f) > inode && f[state] == listening && mine[f[inode]] {
				out = append(out, name(f))
			}
		}
	}
	each("unix", 6, 3, "00010000", func(f []string) string { return strings.Join(f[7:], " ") })
	for _, table := range []string{"tcp", "tcp6"} {
		each(table, 9, 3, "0A", func(f []string) string { return table + " " + f[1] })
	}
	return out
}

func TestLongOrOddPathsUseAShortPrivateSocketFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "with space %41,=", strings.Repeat("long", 40))
	s := mustOpen(t, dir)
	sockets := filepath.Dir(strings.TrimPrefix(s.Endpoints()[0], "unix://"))
	info, err := os.Stat(sockets)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("socket folder %v, %v; want 0700", info, err)
	}
	joined := mustOpen(t, dir)
	if joined.Hosted() {
		t.Error("second opener hosts, want joined")
	}
	if err := errors.Join(joined.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(sockets); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("socket folder is left behind: %v", err)
	}
	mustOpen(t, dir)
}

func TestHostThatDoesNotAnswerIsAnErrorInTime(t *testing.T) {
	dir := t.TempDir()
	lock, free, err := tryLock(stateDir(dir).lock(), os.O_CREATE)
	if err != nil || !free {
		t.Fatal(free, err)
	}
	defer lock.Close()
	msg := openError(t, Config{StateDir: dir, OpenTimeout: 200 * time.Millisecond})
	wants(t, msg, "another process hosts the etcd of state directory "+dir, "does not answer")
}

func TestAStartThatTakesTooLongIsAnErrorAndLosesNothing(t *testing.T) {
	dir := filled(t)
	msg := openError(t, Config{StateDir: dir, OpenTimeout: time.Millisecond})
	wants(t, msg, "the embedded etcd in "+filepath.Join(dir, "etcd")+" is not ready after ", "s; where the disk is very slow try again",
		"nothing was deleted, move that folder aside")
	s := mustOpen(t, dir) // Once what was begun has ended.
	if got, err := s.Client().Get(testCtx(t), "k39"); err != nil || len(got.Kvs) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestUnusableStateDirSaysHowToMendIt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wants(t, openError(t, Config{StateDir: file}), "is not a folder", "--state-dir")
	wants(t, openError(t, Config{StateDir: filepath.Join(file, "below")}), "is not a folder", "--state-dir")
	// Not even root may write below /proc or /sys.
	wants(t, openError(t, Config{StateDir: "/sys/kernel/fettle"}), "state directory /sys/kernel/fettle", "--state-dir")
	for _, c := range []struct {
		err  error
		want string
	}{
		{unix.EROFS, "state directory /d cannot be written: read-only file system; make it writable or name another with --state-dir"},
		{unix.EACCES, "state directory /d cannot be written: permission denied; make it writable or name another with --state-dir"},
		{unix.ENOSPC, "state directory /d is full: no space left on device; free some space (nothing was deleted)"},
		{unix.EIO, "state directory /d: input/output error"},
	} {
		if got := mendable("/d", c.err).Error(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	if got, want := enough("/d", 3<<20).Error(), "state directory /d is full: 3 MiB free, 64 needed: no space left on device; free some space (nothing was deleted)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestUnreachableEndpointsFailInTime(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // Takes connections and never answers.
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	for _, ep := range []string{silent.Addr().String(), gone.Addr().String()} {
		msg := openError(t, Config{Endpoints: []string{ep}, OpenTimeout: 300 * time.Millisecond})
		wants(t, msg, "cannot use the cluster at ["+ep+"]", "check that it runs")
	}
	wants(t, openError(t, Config{Endpoints: []string{gone.Addr().String()}, OpenTimeout: time.Second}), "connection refused")
	wants(t, openError(t, Config{Endpoints: []string{"x:1"}, TLS: TLS{CA: "/absent.pem"}}), "TLS files", "/absent.pem")
	wants(t, openError(t, Config{}), "neither endpoints nor a state directory")
}

func TestEndpointsReachARunningServer(t *testing.T) {
	host := mustOpen(t, t.TempDir())
	s, err := Open(testCtx(t), Config{Endpoints: host.Endpoints(), Prefix: "team/a"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.Hosted() || s.Scope("m") != "team/a/v1/m/" {
		t.Errorf("hosted %v, scope %q", s.Hosted(), s.Scope("m"))
	}
}

func TestFatalErrorOfTheServerEndsRequestsNotTheProcess(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	met := make(chan struct{})
	go func() {
		defer close(met)
		s.hosting().log.zap.Fatal("failed to save")
	}()
	<-met
	_, err := s.Client().Get(testCtx(t), "k")
	if err == nil {
		t.Fatal("a request was sent to a server that failed")
	}
	wants(t, err.Error(), "the embedded etcd in ", "failed: failed to save", "etcd.log")
}

func TestScopesCannotReachIntoEachOther(t *testing.T) {
	seen := map[string]string{}
	for _, scope := range []string{"", "a", "a/b", "a%2Fb", "b", "ü", "a\x00"} {
		p := ScopePrefix("fettle", scope)
		for other, name := range seen {
			if strings.HasPrefix(p, other) || strings.HasPrefix(other, p) {
				t.Errorf("scopes %q and %q share %q and %q", scope, name, p, other)
			}
		}
		seen[p] = scope
	}
}
