package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/journal"
)

// TestRunWaitsForAPersonWhoHoldsTheDeployLock promises that a run does nothing
// while a person holds the lock that it needs, says who does, and goes on when it is free.
func TestRunWaitsForAPersonWhoHoldsTheDeployLock(t *testing.T) {
	c := newCoordinated(t)
	person := c.person("sh", "-c", "echo held; read -r _")
	person.expect("held")
	run := c.start(fettle(t, "run", "--approve", "-o", "jsonl", c.dir))
	waits := run.event(executor.StepWaiting, "deploy is held")
	if !strings.Contains(waits, "pid ") {
		t.Errorf("the wait does not say for whom: %s", waits)
	}
	if did := c.did(); len(did) > 0 {
		t.Errorf("done while the person held the lock: %v", did)
	}
	if _, err := io.WriteString(person.in, "\n"); err != nil { // Which ends the person's command.
		t.Fatal(err)
	}
	run.ends()
	person.ends()
	c.repaired()
}

// TestPersonWaitsForTheRunThatHoldsTheDeployLock promises the same the other way
// round: a person's command runs only once the run has given the lock back.
func TestPersonWaitsForTheRunThatHoldsTheDeployLock(t *testing.T) {
	c := newCoordinated(t)
	run := c.start(fettle(t, "run", "--approve", "-o", "jsonl", c.dir))
	run.event(executor.StepFinished, "take_lock(db)")
	person := c.person("cat", filepath.Join(c.dir, "world/log"))
	person.expect("revert db")
	run.ends()
	person.ends()
	c.repaired()
}

// coordinated is a copy of the example with its incident set up, and an etcd.
type coordinated struct {
	t   *testing.T
	dir string
}

func newCoordinated(t *testing.T) *coordinated {
	t.Helper()
	c := &coordinated{t, filepath.Join(t.TempDir(), "coordinated")}
	if err := os.CopyFS(c.dir, os.DirFS("../../examples/coordinated")); err != nil {
		t.Fatal(err)
	}
	for _, left := range []string{".fettle", "world"} { // By somebody who tried the example where it is.
		if err := os.RemoveAll(filepath.Join(c.dir, left)); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command(filepath.Join(c.dir, "incident.sh")).CombinedOutput(); err != nil {
		t.Fatalf("incident.sh: %v\n%s", err, out)
	}
	model := filepath.Join(c.dir, "coordinated.fettle.hcl")
	src, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	src = fmt.Appendf(src, "\netcd {\n  endpoints = [%q]\n}\n", startEtcd(t).endpoint)
	if err := os.WriteFile(model, src, 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}

// person runs person.sh, which finds this test binary as fettle.
func (c *coordinated) person(command ...string) *process {
	c.t.Helper()
	self, err := os.Executable()
	if err != nil {
		c.t.Fatal(err)
	}
	bin := c.t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "fettle")); err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(c.dir, "person.sh"), command...)
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0")
	return c.start(cmd)
}

// did returns what was really done, a line each, without the run's id.
func (c *coordinated) did() []string {
	c.t.Helper()
	raw, err := os.ReadFile(filepath.Join(c.dir, "world/log"))
	if err != nil && !os.IsNotExist(err) {
		c.t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(raw)) {
		out = append(out, strings.Join(strings.Fields(line)[:2], " "))
	}
	return out
}

// repaired holds the world's own log to it: each thing was done once, and never
// were two services out together.
func (c *coordinated) repaired() {
	c.t.Helper()
	did := map[string]int{}
	out := 0
	for _, what := range c.did() {
		did[what]++
		switch verb, _, _ := strings.Cut(what, " "); verb {
		case "drain":
			out++
		case "add":
			out--
		}
		if out > 1 {
			c.t.Errorf("two services were out after %s: %v", what, c.did())
		}
	}
	want := []string{"drain api", "restart api", "add api", "drain db", "revert db", "add db"}
	for _, what := range want {
		if did[what] != 1 {
			c.t.Errorf("%s was done %d times: %v", what, did[what], c.did())
		}
	}
	if len(did) != len(want) {
		c.t.Errorf("done: %v, want %v", c.did(), want)
	}
}

// process is one that is under way, and what it says.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	err   bytes.Buffer
	ended bool
}

func (c *coordinated) start(cmd *exec.Cmd) *process {
	c.t.Helper()
	p := &process{t: c.t, cmd: cmd}
	out, err := cmd.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if p.in, err = cmd.StdinPipe(); err != nil {
		c.t.Fatal(err)
	}
	p.out, cmd.Stderr = bufio.NewReader(out), &p.err
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		if !p.ended {
			_ = p.in.Close() // Which ends what it started, too.
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	return p
}

// line returns the next line that the process says.
func (p *process) line() string {
	p.t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatalf("%s ended: %v\n%s", filepath.Base(p.cmd.Path), err, &p.err)
	}
	return line
}

// expect reads on until a line contains the text.
func (p *process) expect(text string) {
	p.t.Helper()
	for !strings.Contains(p.line(), text) {
	}
}

// event reads on until an event of the kind whose data contain the text, and returns them.
func (p *process) event(kind, text string) string {
	p.t.Helper()
	for {
		line := p.line()
		var e journal.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			p.t.Fatalf("%v: %s", err, line)
		}
		if e.Kind == kind && strings.Contains(line, text) {
			return line
		}
	}
}

// ends waits for the end of the process, which must be a good one.
func (p *process) ends() {
	p.t.Helper()
	rest, _ := io.ReadAll(p.out) // What could not be read is told by the exit.
	p.ended = true
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("%s: %v\n%s%s", strings.Join(p.cmd.Args, " "), err, rest, &p.err)
	}
}
