package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/lease"
)

// doors is a model with two doors. To unlock one writes a line into the log,
// waits at its gate, a named pipe, and opens it.
const doors = `
type "door" { objects = ["back", "front"] }
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
  locks   = ["keys"]
  timeout = "TIMEOUT"
  run "exec" {
    command = ["sh", "-c", "echo $1 >> log; cat gate-$1 && touch open-$1", "unlock", "${d}"]
  }
}
goal "entry" { condition = ["all(door, open(#))"] }
policy {
  mode                 = "approve"
  max_rounds           = 3
  max_attempts         = 3
  max_actions          = 5
  deadline             = "5m"
  max_repeats          = 2
  same_failure_retries = 2
  no_evidence_rounds   = 2
  max_errors           = 2
}
`

// house is the folder of that model, with an etcd that is in nobody's process.
type house struct {
	*testing.T
	dir string
}

func newHouse(t *testing.T, timeout string) *house {
	t.Helper()
	h := &house{t, t.TempDir()}
	text := strings.ReplaceAll(doors, "TIMEOUT", timeout) + "etcd {\n  endpoints = [\"" + startEtcd(t).endpoint + "\"]\n}\n"
	h.must(os.WriteFile(filepath.Join(h.dir, "doors.fettle.hcl"), []byte(text), 0o600))
	for _, d := range []string{"back", "front"} {
		h.must(syscall.Mkfifo(h.path("gate-"+d), 0o600))
	}
	return h
}

func (h *house) path(name string) string { return filepath.Join(h.dir, name) }

func (h *house) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// reach returns once an action waits at its gate; to close the file lets it through.
func (h *house) reach(door string) *os.File {
	h.Helper()
	gate, err := os.OpenFile(h.path("gate-"+door), os.O_WRONLY, 0)
	h.must(err)
	return gate
}

// pass lets one action through its gate, once that one is there.
func (h *house) pass(door string) {
	h.Helper()
	h.must(h.reach(door).Close())
}

// lift takes a gate away for good.
func (h *house) lift(door string) {
	h.Helper()
	h.must(os.Remove(h.path("gate-" + door)))
	h.must(os.WriteFile(h.path("gate-"+door), nil, 0o600))
}

// acted is the doors' own log.
func (h *house) acted(want ...string) {
	h.Helper()
	raw, err := os.ReadFile(h.path("log"))
	if err != nil && !os.IsNotExist(err) {
		h.Fatal(err)
	}
	if got := strings.Fields(string(raw)); !slices.Equal(got, want) {
		h.Errorf("the log says %v, want %v", got, want)
	}
}

// command is fettle, as a process of its own.
type command struct {
	*house
	cmd    *exec.Cmd
	events *bufio.Scanner // of stdout
	errs   *bufio.Scanner
}

func (h *house) start(args ...string) *command {
	h.Helper()
	p := &command{house: h, cmd: fettle(h.T, args...)}
	p.cmd.Dir = h.dir
	out, err := p.cmd.StdoutPipe()
	h.must(err)
	errs, err := p.cmd.StderrPipe()
	h.must(err)
	h.must(p.cmd.Start())
	h.Cleanup(func() { _ = p.cmd.Process.Kill() })
	p.events, p.errs = bufio.NewScanner(out), bufio.NewScanner(errs)
	p.events.Buffer(nil, 1<<20)
	return p
}

// await reads events up to one of the kind, and returns it.
func (p *command) await(kind string) journal.Event {
	p.Helper()
	for p.events.Scan() {
		var e journal.Event
		p.must(json.Unmarshal(p.events.Bytes(), &e))
		if e.Kind == kind {
			return e
		}
	}
	var errs []string
	for p.errs.Scan() {
		errs = append(errs, p.errs.Text())
	}
	p.Fatalf("no event %s: %v", kind, errs)
	return journal.Event{}
}

// says reads the messages up to one that has the text.
func (p *command) says(text string) {
	p.Helper()
	var all []string
	for p.errs.Scan() {
		if all = append(all, p.errs.Text()); strings.Contains(p.errs.Text(), text) {
			return
		}
	}
	p.Fatalf("said %q, not %q", all, text)
}

func (p *command) signal(s os.Signal) {
	p.Helper()
	p.must(p.cmd.Process.Signal(s))
}

// exits reads what is left and checks the exit code; killed is -1.
func (p *command) exits(want int) {
	p.Helper()
	p.rest(want)
}

// rest is exits, and returns the messages that were left.
func (p *command) rest(want int) string {
	p.Helper()
	for p.events.Scan() {
	}
	rest := left(p.errs)
	_ = p.cmd.Wait()
	if got := p.cmd.ProcessState.ExitCode(); got != want {
		p.Fatalf("exit code %d, want %d\n%s", got, want, rest)
	}
	return rest
}

// left is what a scanner has not read yet, each line ended.
func left(s *bufio.Scanner) string {
	var out strings.Builder
	for s.Scan() {
		out.WriteString(s.Text() + "\n")
	}
	return out.String()
}

// says runs a command to its end and returns what it printed.
func (h *house) fettle(code int, args ...string) string {
	h.Helper()
	cmd := fettle(h.T, args...)
	cmd.Dir = h.dir
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != code {
		h.Fatalf("fettle %v: exit code %d, want %d\n%s%s", args, got, code, &out, &errs)
	}
	return out.String() + errs.String()
}

// ended is how the last run ended.
func (h *house) ended() executor.Ended {
	h.Helper()
	var last executor.Ended
	var events []journal.Event
	h.must(json.Unmarshal([]byte(h.fettle(exitDone, "show", "last", "-o", "json")), &events))
	for _, e := range events {
		if e.Kind == executor.RunEnded {
			last = executor.Ended{}
			h.must(json.Unmarshal(e.Data, &last))
		}
	}
	return last
}

func TestASignalLetsTheActionFinishFirst(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		h := newHouse(t, "1m")
		p := h.start("run", "--approve", "-o", "jsonl")
		p.await(executor.StepArmed)
		p.signal(sig)
		p.says("stopping: ")
		h.pass("back")
		if f := p.await(executor.StepFinished); !strings.Contains(string(f.Data), `"outcome":"applied"`) {
			t.Errorf("finished %s", f.Data)
		}
		p.exits(exitEscalated)
		h.acted("back")
		if e := h.ended(); e.Status != executor.Cancelled || e.Actions != 1 || len(e.InDoubt) > 0 {
			t.Errorf("ended %+v", e)
		}
	}
}

func TestASecondSignalCutsTheActionAndAPersonResolvesIt(t *testing.T) {
	h := newHouse(t, "1m")
	p := h.start("run", "--approve", "-o", "jsonl")
	p.await(executor.StepArmed)
	defer h.reach("back").Close()
	p.signal(syscall.SIGTERM)
	p.says("stopping: ")
	p.signal(syscall.SIGINT)
	p.exits(exitEscalated)
	e := h.ended()
	if e.Status != executor.Cancelled || len(e.InDoubt) != 1 || !strings.HasPrefix(e.InDoubt[0], "unlock(back)") {
		t.Fatalf("ended %+v", e)
	}
	_, id, _ := strings.Cut(strings.TrimSuffix(e.InDoubt[0], ")"), " (")
	if out := h.fettle(exitDone, "intents"); !strings.Contains(out, id) || !strings.Contains(out, "in doubt") {
		t.Errorf("intents: %s", out)
	}
	out := h.fettle(exitFailed, "lease", "open(back)", "--wait", "1m", "--", "touch", "started")
	if !strings.HasPrefix(out, "Error: the command was not started: whether these wrote open(back) is unknown\n  unlock(back) ("+id+") of run ") {
		t.Errorf("a lease on what is in doubt: %s", out)
	}
	h.fettle(exitFailed, "intents", "resolve", id, "--as", "not-applied") // Without a reason.
	out = h.fettle(exitDone, "intents", "resolve", id, "--as", "not-applied", "--reason", "the door is shut")
	if !strings.Contains(out, "unlock(back)") || !strings.Contains(out, "resolved as not-applied") {
		t.Errorf("resolved: %s", out)
	}
	if out := h.fettle(exitFailed, "intents", "resolve", id, "--as", "applied", "--reason", "again"); !strings.Contains(out, id) {
		t.Errorf("resolved again: %s", out)
	}
	var log []lease.AuditRecord
	h.must(json.Unmarshal([]byte(h.fettle(exitDone, "leases", "--audit", "-o", "json")), &log))
	log = slices.DeleteFunc(log, func(r lease.AuditRecord) bool { return r.Deed == lease.DeedApprove }) // --approve, of the run.
	if len(log) != 1 || log[0].Deed != lease.DeedResolve || log[0].Intent != id || log[0].Reason != "the door is shut" || log[0].By != userName() {
		t.Errorf("written down: %+v", log)
	}
	if out := h.fettle(exitDone, "leases", "--audit"); !strings.Contains(out, "resolved "+id+" as not-applied, unlock(back)\n    reason: the door is shut\n") {
		t.Errorf("written down: %s", out)
	}
	h.lift("back")
	h.lift("front")
	h.fettle(exitDone, "run", "--approve")
}

// What people did is told in the order in which they did it.
func TestWhatPeopleDidCanBeRead(t *testing.T) {
	h := newHouse(t, "10s")
	if out := h.fettle(exitDone, "leases", "--audit"); out != "nobody has broken a lease, resolved an action or paused anything\n" {
		t.Errorf("at first: %q", out)
	}
	script, _ := h.holding("keys")
	var held []leaseJSON
	h.must(json.Unmarshal([]byte(h.fettle(exitDone, "leases", "-o", "json")), &held))
	token := strconv.FormatInt(held[0].Token, 10)
	h.fettle(exitDone, "leases", "break", "keys", "--token", token, "--reason", "it hangs")
	script.exits(signalled + int(syscall.SIGTERM))
	h.fettle(exitDone, "pause", "--reason", "hands off")
	h.fettle(exitDone, "unpause", "--reason", "it is over")
	host, err := os.Hostname()
	h.must(err)
	who := regexp.QuoteMeta(userName() + " on " + host)
	when := `\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  `
	want := "^" + when + who + "  broke keys, token " + token + ", held by fettle lease: sh -c .*, pid " + strconv.Itoa(script.cmd.Process.Pid) + " on .*\n    reason: it hangs\n" +
		when + who + "  paused\n    reason: hands off\n" + when + who + "  unpaused\n    reason: it is over\n$"
	if out := h.fettle(exitDone, "leases", "--audit"); !regexp.MustCompile(want).MatchString(out) {
		t.Errorf("said\n%swant\n%s", out, want)
	}
}

func TestARunningRunIsCancelledFromOutside(t *testing.T) {
	h := newHouse(t, "1m")
	p := h.start("run", "--approve", "-o", "jsonl")
	p.await(executor.StepArmed)
	c := h.start("cancel", "last", "--reason", "wrong door")
	c.says("is asked to end")
	h.pass("back")
	p.exits(exitEscalated)
	c.exits(exitDone)
	h.acted("back")
	e := h.ended()
	if e.Status != executor.Cancelled || !strings.HasSuffix(e.Message, ": wrong door") || e.Actions != 1 {
		t.Errorf("ended %+v", e)
	}
	if out := h.fettle(exitFailed, "resume", "last"); !strings.Contains(out, "has ended: cancelled; start a new run") {
		t.Errorf("resumed: %s", out)
	}
}

// The process is killed while its action waits; the action goes on without it,
// and takes effect. The run is gone on with, and nothing is done twice.
func TestARunIsGoneOnWithAfterItsProcessWasKilled(t *testing.T) {
	h := newHouse(t, "3s")
	p := h.start("run", "--approve", "-o", "jsonl", "--lease-ttl", "4s")
	p.await(executor.StepArmed)
	gate := h.reach("back")
	p.signal(syscall.SIGKILL)
	p.exits(-1)
	h.must(gate.Close())
	h.lift("front")
	if out := h.fettle(exitDone, "runs", "--active"); !strings.Contains(out, "running (killed)") {
		t.Errorf("runs does not tell that the process is gone: %s", out)
	}
	r := h.start("resume", "last", "--approve", "-o", "jsonl", "--lease-ttl", "4s")
	r.says("waiting until its right to do so expires")
	e := r.await(executor.RunResumed)
	if !strings.Contains(string(e.Data), `"was":"running"`) {
		t.Errorf("resumed %s", e.Data)
	}
	if d := r.await(executor.DoubtResolved); !strings.Contains(string(d.Data), `"outcome":"applied"`) {
		t.Errorf("resolved %s", d.Data)
	}
	r.exits(exitDone)
	h.acted("back", "front")
	if e := h.ended(); e.Status != executor.Succeeded || e.Actions != 2 {
		t.Errorf("ended %+v", e)
	}
	if out := h.fettle(exitDone, "intents"); !strings.Contains(out, "no action is under way or in doubt") {
		t.Errorf("left: %s", out)
	}
}

func TestOfTwoProcessesThatResumeARunOneDrivesIt(t *testing.T) {
	h := newHouse(t, "10s")
	h.fettle(exitWaiting, "run")
	one := h.start("resume", "last", "--approve", "-o", "jsonl")
	armed := one.await(executor.StepArmed)
	out := h.fettle(exitFailed, "resume", "last", "--approve")
	if !strings.HasPrefix(out, "Error: run "+armed.Run+" is driven by pid ") || strings.Count(out, "\n") != 1 {
		t.Errorf("the other one said %q", out)
	}
	h.pass("back")
	h.pass("front")
	one.exits(exitDone)
	h.acted("back", "front")
}
