package notify

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fettleops/fettle/executor"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// execute delivers a message by a program and returns what was warned of.
func execute(ctx context.Context, t *testing.T, s Settings) string {
	t.Helper()
	in := &inbox{}
	s.Kind, s.Name, s.On = "exec", "pager", everything
	if s.Timeout == 0 {
		s.Timeout = time.Minute
	}
	n := New([]Settings{s}, Options{Warn: in.warn, Next: func(m Message) []string { return []string{"fettle show " + m.Run} }})
	n.Event(told(t, 1, executor.RunStarted, executor.Started{Goal: "healthy\x00", Scope: "fleet", Host: "ops1"}))
	n.Event(told(t, 2, executor.RunEnded, executor.Ended{Status: executor.Escalated, Reason: "denied", Message: "$(id) `id` \"quoted\""}))
	n.Close(ctx)
	return strings.Join(in.warnings, "\n")
}

func TestAProgramGetsTheMessage(t *testing.T) {
	dir := t.TempDir()
	warned := execute(t.Context(), t, Settings{
		Command: []string{"sh", "-c", "cat > message; env > env; echo chatter; echo more >&2", "--", "-x"}, Dir: dir, Env: map[string]string{"PAGER_KEY": "k"},
	})
	if warned != "" {
		t.Errorf("warned %q", warned)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "message"))
	if err != nil {
		t.Fatal(err)
	}
	var m Message
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	if m.Message != "$(id) `id` \"quoted\"" || m.Goal != "healthy�" || m.Next[0] != "fettle show 01RUN" || !strings.HasSuffix(string(raw), "}\n") {
		t.Errorf("read %s", raw)
	}
	env, err := os.ReadFile(filepath.Join(dir, "env"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"FETTLE_RUN=01RUN", "FETTLE_SCOPE=fleet", "FETTLE_GOAL=healthy�", "FETTLE_STATUS=escalated", "FETTLE_REASON=denied",
		"FETTLE_OCCASIONS=escalated", "FETTLE_NOTIFY_ID=01RUN-2", "PAGER_KEY=k",
		"FETTLE_TEXT=fettle: fleet, goal healthy�: run 01RUN escalated (denied): $(id) `id` \"quoted\". Next: fettle show 01RUN",
	} {
		if !strings.Contains("\n"+string(env), "\n"+want+"\n") {
			t.Errorf("%q is not in the environment:\n%s", want, env)
		}
	}
}

func TestAProgramThatFailsIsWarnedOf(t *testing.T) {
	for command, want := range map[string]string{
		"echo no such pager >&2; exit 3": "its program ended with exit status 3: no such pager",
		"kill -9 $$":                     "its program ended with signal: killed",
		"exec 0<&-; exit 1":              "its program ended with exit status 1",
	} {
		want = `notify "pager" was not told of escalated: ` + want
		if got := execute(t.Context(), t, Settings{Command: []string{"sh", "-c", command}}); got != want {
			t.Errorf("%s: warned %q, want %q", command, got, want)
		}
	}
	if got := execute(t.Context(), t, Settings{Command: []string{"/nowhere/pager"}}); !strings.HasSuffix(got, "start /nowhere/pager: no such file or directory") {
		t.Errorf("warned %q", got)
	}
	if got := execute(t.Context(), t, Settings{Command: []string{"sh", "-c", "sleep 1000"}, Timeout: time.Millisecond}); !strings.HasSuffix(got, "it did not end within its timeout of 1ms") {
		t.Errorf("warned %q", got)
	}
}

// What a program writes without end is dropped, and takes no memory.
func TestAProgramThatWritesAGigabyteIsPutUpWith(t *testing.T) {
	if got := execute(t.Context(), t, Settings{Command: []string{"sh", "-c", "head -c 1073741824 /dev/zero; head -c 10000000 /dev/zero >&2; echo; echo done >&2"}}); got != "" {
		t.Errorf("warned %q", got)
	}
	var kept tail
	for range 1000 {
		if n, err := kept.Write(make([]byte, 100_000)); n != 100_000 || err != nil || len(kept.b) > tailSize {
			t.Fatalf("kept %d of %d: %v", len(kept.b), n, err)
		}
	}
}

// A program that hangs is ended with all that it started, though both ignore
// that they are asked to.
func TestAProgramThatHangsIsEndedWithItsChildren(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "alive"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan error, 1)
	go func() {
		f, err := os.Open(filepath.Join(dir, "alive")) // Until the child has its end of the pipe.
		cancel()
		if err == nil {
			_, err = io.Copy(io.Discard, f) // Until nobody has it any more.
			_ = f.Close()
		}
		gone <- err
	}()
	got := execute(ctx, t, Settings{Command: []string{"sh", "-c", "trap '' TERM; sleep 1000 > alive & wait"}, Dir: dir})
	if !strings.HasSuffix(got, "interrupted") {
		t.Errorf("warned %q", got)
	}
	if err := <-gone; err != nil { // Where the child lives on this waits for it.
		t.Error(err)
	}
}
