package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/fettleops/fettle/executor"
)

// TestNight promises that whoever is woken up finds what docs/operating.md shows
// under "At 3 a.m.": its commands are typed in their order, while a run is in the
// middle of an action, and show what stands there, but for names, times and
// numbers that are others every time.
func TestNight(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "shop")
	for _, name := range []string{"pool/api", "pool/web", "fresh/api"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "shop.fettle.hcl"), []byte(nightModel), 0o600); err != nil {
		t.Fatal(err)
	}
	run := fettle(t, "run", "--goal", "healthy", "--approve", "-o", "jsonl")
	run.Dir = dir
	events, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // An error is that it has ended, or how it did.
		_ = run.Process.Kill()
		_ = run.Wait()
	})
	sc := bufio.NewScanner(events)
	for armed := 0; armed < 2; { // drain(web), and restart(web), which goes on until something is mended.
		if !sc.Scan() {
			t.Fatal("the run ended without its second action")
		}
		if strings.Contains(sc.Text(), `"kind":"`+executor.StepArmed+`"`) {
			armed++
		}
	}
	go func() {
		_, _ = io.Copy(io.Discard, events)
	}()
	finished := sync.OnceFunc(func() {
		if err := os.WriteFile(filepath.Join(dir, "mended"), nil, 0o600); err != nil {
			t.Error(err)
		}
	})
	env := readerEnv(t)
	for _, at := range typedUnder(t, "../../docs/operating.md", "At 3 a.m.") {
		out := &watched{until: "is asked to end", then: finished}
		cmd := exec.Command("sh", "-c", at.command)
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, out, out
		var status *exec.ExitError
		if err := cmd.Run(); errors.As(err, &status) {
			fmt.Fprintf(&out.text, "(exit status %d)\n", status.ExitCode())
		} else if err != nil {
			t.Fatal(err)
		}
		got := strings.TrimRight(out.text.String(), "\n")
		if !docShows(lasting(at.shows), lasting(got)) {
			t.Errorf("operating.md:%d: $ %s\nshows\n%s\nnot\n%s", at.line, at.command, got, at.shows)
		}
	}
}

// watched is an output that something happens after.
type watched struct {
	text  bytes.Buffer
	until string
	then  func()
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.text.Write(p)
	if strings.Contains(w.text.String(), w.until) {
		w.then()
	}
	return n, err
}

// entered is a command of a page and what the page says that it shows.
type entered struct {
	line           int
	command, shows string
}

// typedUnder reads what is typed in the console blocks of one section of a page.
func typedUnder(t *testing.T, page, heading string) []entered {
	t.Helper()
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var out []entered
	section, block := false, false
	for i, line := range strings.Split(string(raw), "\n") {
		switch {
		case !block && strings.HasPrefix(line, "## "):
			section = line == "## "+heading
		case !section:
		case strings.HasPrefix(line, "```"):
			block = line == "```console"
		case !block:
		case strings.HasPrefix(line, "$ "):
			out = append(out, entered{line: i + 1, command: strings.TrimPrefix(line, "$ ")})
		default:
			last := &out[len(out)-1]
			last.shows = strings.TrimPrefix(last.shows+"\n"+line, "\n")
		}
	}
	if len(out) == 0 {
		t.Fatalf("%s: nothing is typed under %q", page, heading)
	}
	return out
}

// passing are the parts of an output that are others every time.
var passing = []struct {
	re *regexp.Regexp
	as string
}{
	{regexp.MustCompile(`\b01[0-9A-HJKMNP-TV-Z]{24}\b`), "RUN"},
	{regexp.MustCompile(`\b[0-9a-f]{12,64}\b`), "HASH"},
	{regexp.MustCompile(`(\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)?`), "WHEN"},
	{regexp.MustCompile(`\b\d+(\.\d+)? ?(ms|s|min|h)\b`), "TIME"},
	{regexp.MustCompile(`\b(pid|fence|token) \d+`), "$1 N"},
	{regexp.MustCompile(`(pid N) on [A-Za-z0-9._-]+`), "$1 on HOST"},
	{regexp.MustCompile(`\b(by|as) USER on [A-Za-z0-9._-]+`), "$1 USER on HOST"},
	{regexp.MustCompile(`(?m)[ \t]+`), " "},
}

// lasting is an output without what is another every time.
func lasting(s string) string {
	names := "root"
	if u, err := user.Current(); err == nil {
		names += "|" + regexp.QuoteMeta(u.Username)
	}
	s = regexp.MustCompile(`\b(`+names+`)\b`).ReplaceAllString(s, "USER")
	for _, p := range passing {
		s = p.re.ReplaceAllString(s, p.as)
	}
	return s
}

// nightModel is the first model with a restart that goes on until something is
// mended, and with a way back.
const nightModel = `
type "service" { objects = ["api", "web"] }
fluent "in_pool" {
  params = { s = service }
  observe "exec" {
    command = ["test", "-d", "pool/${s}"]
    value   = "exit_code == 0"
  }
}
fluent "fresh" {
  params = { s = service }
  observe "exec" {
    command = ["test", "-d", "fresh/${s}"]
    value   = "exit_code == 0"
  }
}
invariant "one_out" {
  condition = "count(service, !in_pool(#)) <= 1"
  message   = "only one service may be out of the pool at a time"
}
action "drain" {
  params       = { s = service }
  precondition = ["all(service, in_pool(#))"]
  effect { del = ["in_pool(s)"] }
  undo    = "admit(s)"
  timeout = "10s"
  run "exec" { command = ["rmdir", "pool/${s}"] }
}
action "restart" {
  params       = { s = service }
  precondition = ["!in_pool(s)"]
  effect { add = ["fresh(s)"] }
  timeout = "300s"
  run "exec" { command = ["sh", "-c", "until test -e mended; do sleep 0.05; done; mkdir fresh/$0", s] }
}
action "admit" {
  params       = { s = service }
  precondition = ["!in_pool(s)"]
  effect { add = ["in_pool(s)"] }
  undo    = "drain(s)"
  timeout = "10s"
  run "exec" { command = ["mkdir", "pool/${s}"] }
}
goal "healthy" {
  doc       = "every service is fresh and in the pool"
  condition = ["all(service, fresh(#) && in_pool(#))"]
  severity  = "count(service, !in_pool(#))"
}
policy {
  mode                 = "approve"
  max_rounds           = 3
  max_attempts         = 3
  max_actions          = 20
  deadline             = "10m"
  max_repeats          = 2
  same_failure_retries = 2
  no_evidence_rounds   = 2
  max_errors           = 5
}
`
