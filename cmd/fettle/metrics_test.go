package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/fettleops/fettle/executor"
)

// gated is a model whose one action waits until somebody opens the gate, a
// named pipe, for writing.
const gated = `
type "door" { objects = ["front"] }
fluent "open" {
  params = { d = door }
  observe "exec" {
    command = ["test", "-e", "open-${d}"]
    value   = "exit_code == 0"
  }
}
action "unlock" {
  params       = { d = door }
  precondition = ["!open(d)"]
  effect { add = ["open(d)"] }
  timeout = "10s"
  run "exec" { command = ["sh", "-c", "cat gate && touch open-$1", "unlock", "${d}"] }
}
goal "entry" { condition = ["all(door, open(#))"] }
policy {
  mode                 = "auto"
  max_rounds           = 3
  max_attempts         = 3
  max_actions          = 3
  deadline             = "5m"
  max_repeats          = 2
  same_failure_retries = 2
  no_evidence_rounds   = 2
  max_errors           = 2
}
`

func gatedModel(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "door.fettle.hcl"), []byte(gated), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "gate"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// measured is a run with metrics, as a process, whose action waits at the gate.
type measured struct {
	*testing.T
	dir, url string
	cmd      *exec.Cmd
	errs     *bufio.Reader
	events   *bufio.Scanner
}

func startMeasured(t *testing.T, flags ...string) *measured {
	t.Helper()
	m := &measured{T: t, dir: gatedModel(t)}
	m.cmd = fettle(t, append([]string{"run", "-o", "jsonl", "--metrics", "127.0.0.1:0"}, append(flags, m.dir)...)...)
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs, err := m.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // Where the test failed before its end: nothing stays, at the gate neither.
		_ = m.cmd.Process.Kill()
		if gate, err := os.OpenFile(filepath.Join(m.dir, "gate"), os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
			_ = gate.Close()
		}
	})
	m.errs, m.events = bufio.NewReader(errs), bufio.NewScanner(out)
	m.events.Buffer(nil, 1<<20)
	m.url = m.says("metrics at ")
	m.await(executor.StepArmed)
	return m
}

// says reads a line of stderr and returns what follows its beginning.
func (m *measured) says(beginning string) string {
	m.Helper()
	line, err := m.errs.ReadString('\n')
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), beginning)
	if err != nil || !ok {
		m.Fatalf("said %q (%v), want %q", line, err, beginning)
	}
	return rest
}

// await reads events up to one of the kind; nothing of the run has gone on
// unread where it waits at the gate.
func (m *measured) await(kind string) {
	m.Helper()
	for m.events.Scan() {
		var e struct{ Kind string }
		if err := json.Unmarshal(m.events.Bytes(), &e); err != nil {
			m.Fatal(err)
		}
		if e.Kind == kind {
			return
		}
	}
	m.Fatalf("no event %s", kind)
}

func (m *measured) open() {
	m.Helper()
	if err := os.WriteFile(filepath.Join(m.dir, "gate"), []byte("go\n"), 0o600); err != nil {
		m.Fatal(err)
	}
}

func (m *measured) scrape() string {
	m.Helper()
	resp, err := http.Get(m.url)
	if err != nil {
		m.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		m.Fatalf("%s: %v\n%s", resp.Status, err, body)
	}
	return string(body)
}

// shows checks that a scrape has these lines.
func (m *measured) shows(lines ...string) {
	m.Helper()
	got := m.scrape()
	for _, want := range lines {
		if !regexp.MustCompile(`(?m)^` + want + `$`).MatchString(got) {
			m.Errorf("no line %s in:\n%s", want, got)
		}
	}
}

// ended waits for the process and checks that nothing listens any more.
func (m *measured) ended(status int) {
	m.Helper()
	rest, _ := io.ReadAll(m.errs)
	for m.events.Scan() { // To the end: the pipe is closed by Wait.
	}
	_ = m.cmd.Wait()
	if got := m.cmd.ProcessState.ExitCode(); got != status {
		m.Errorf("exit status %d, want %d\n%s", got, status, rest)
	}
	if _, err := http.Get(m.url); err == nil {
		m.Error("the metrics are served after the run has ended")
	}
}

func TestARunIsScrapedWhileItsActionIsInFlight(t *testing.T) {
	m := startMeasured(t)
	m.shows("fettle_runs_active 1", "fettle_actions_in_flight 1", "fettle_rounds_total 1",
		`fettle_actions_total\{action="unlock",outcome="applied"\} 0`, "fettle_goal_conditions_unmet 1",
		`fettle_run_info\{goal="entry",mode="auto",run="01[^"]+",scope=".*",version=".*"\} 1`)
	m.open()
	m.await(executor.RunEnded)
	m.ended(exitDone)
}

func TestMetricsLingerForALastScrape(t *testing.T) {
	m := startMeasured(t, "--metrics-linger", "1h")
	m.open()
	m.await(executor.RunEnded)
	if got := m.says("the run is over; "); got != "its metrics stay at "+m.url+" for 1h0m0s" {
		t.Errorf("said %q", got)
	}
	m.shows("fettle_runs_active 0", "fettle_actions_in_flight 0", `fettle_runs_ended_total\{reason="",status="succeeded"\} 1`,
		`fettle_actions_total\{action="unlock",outcome="applied"\} 1`, "fettle_goal_conditions_unmet 0",
		`fettle_goal_evidence_total\{verified="observed"\} 1`, `fettle_lease_hold_duration_seconds_count 1`)
	// Lingering holds nothing up: the store is free for the next command.
	if out, err := fettle(t, "run", m.dir).CombinedOutput(); err != nil {
		t.Errorf("another run meanwhile: %v\n%s", err, out)
	}
	if err := m.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	m.ended(exitDone)
}

func TestMetricsAtAnAddressInUseStartNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dir := gatedModel(t)
	cmd := fettle(t, "run", "--metrics", l.Addr().String(), dir)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run()
	want := "Error: --metrics: metrics cannot be served at " + l.Addr().String() + ": the address is in use; name another, or port 0 for any free one\n"
	if cmd.ProcessState.ExitCode() != exitFailed || errs.String() != want || out.Len() > 0 {
		t.Errorf("exit status %d, %q, %q, want %q", cmd.ProcessState.ExitCode(), out.String(), errs.String(), want)
	}
	if _, err := os.Stat(filepath.Join(dir, ".fettle")); err == nil {
		t.Error("the store was made")
	}
}
