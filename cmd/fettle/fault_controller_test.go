package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// controller is a fettle process that runs or resumes.
type controller struct {
	t    *testing.T
	cmd  *exec.Cmd
	errs *bytes.Buffer // Once it has ended.
	done chan struct{} // It has ended.

	mu     sync.Mutex
	events []event
	more   chan struct{} // Closed when events has grown.
}

// event is what these tests read of the journal's events.
type event struct {
	Kind, Run string
	Data      struct {
		Busy, Outcome, Status, Reason, Action string
		Seen                                  json.RawMessage
		ActionID                              string `json:"action_id"`
	}
}

// run starts a controller that repairs the fleet.
func (s *stage) run(env ...string) *controller {
	return s.start(s.base, []string{"run", "--approve", "-o", "jsonl", s.path}, env...)
}

// runThrough is run for a controller that reaches the fleet over the network.
func (s *stage) runThrough(n *network, env ...string) *controller {
	return s.start(n.base, []string{"run", "--approve", "-o", "jsonl", s.path}, env...)
}

// resume starts a controller that goes on with a run.
func (s *stage) resume(base, run string, env ...string) *controller {
	return s.start(base, []string{"resume", run, "--approve", "-o", "jsonl", "--model", s.path}, env...)
}

func (s *stage) start(base string, args []string, env ...string) *controller {
	s.t.Helper()
	c := &controller{t: s.t, errs: &bytes.Buffer{}, done: make(chan struct{}), more: make(chan struct{})}
	c.cmd = exec.Command(faulty(s.t), append(args, "--lease-ttl", s.ttl, "--var", "fleet="+base)...)
	c.cmd.Env = append(os.Environ(), env...)
	c.cmd.Stderr = c.errs
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() {
		defer close(c.done)
		dec := json.NewDecoder(out)
		for {
			var e event
			if dec.Decode(&e) != nil {
				break
			}
			c.heard(e)
		}
		_ = c.cmd.Wait()
	}()
	s.t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		<-c.done
	})
	return c
}

func (c *controller) heard(e event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, e)
	close(c.more)
	c.more = make(chan struct{})
}

func (c *controller) so(f func(event) bool) (event, chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.events {
		if f(e) {
			return e, nil
		}
	}
	return event{}, c.more
}

// await returns the first event of which f is true; false where it ended without one.
func (c *controller) await(f func(event) bool) (event, bool) {
	c.t.Helper()
	late := time.After(patience)
	for {
		ended := c.ended()
		e, more := c.so(f)
		if more == nil {
			return e, true
		}
		if ended {
			return e, false
		}
		select {
		case <-more:
		case <-c.done:
		case <-late:
			c.fail("the event awaited did not come")
		}
	}
}

func (c *controller) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// all returns the events of a kind, so far.
func (c *controller) all(kind string) (out []event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.events {
		if e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}

// run returns the id of its run.
func (c *controller) id() string {
	c.t.Helper()
	e, ok := c.await(func(e event) bool { return e.Run != "" })
	if !ok {
		c.fail("it has no run")
	}
	return e.Run
}

// exit waits for its end, and returns its exit code, -1 where a signal ended it.
func (c *controller) exit() int {
	c.t.Helper()
	select {
	case <-c.done:
	case <-time.After(patience):
		c.fail("it does not end")
	}
	return c.cmd.ProcessState.ExitCode()
}

// exits waits for its end, and holds it to one of the codes.
func (c *controller) exits(codes ...int) {
	c.t.Helper()
	got := c.exit()
	for _, want := range codes {
		if got == want {
			return
		}
	}
	c.fail("exit code not as it should be")
}

// killed waits until it has killed itself.
func (c *controller) killed() {
	c.t.Helper()
	c.exit()
	if ws, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || ws.Signal() != syscall.SIGKILL {
		c.fail("it was not killed at the point given")
	}
}

// stopped waits until it has stopped itself.
func (c *controller) stopped() {
	c.t.Helper()
	info, err := make(chan int32, 1), error(nil)
	go func() {
		var si unix.Siginfo
		for {
			err = unix.Waitid(unix.P_PID, c.cmd.Process.Pid, &si, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil)
			if !errors.Is(err, unix.EINTR) {
				break
			}
		}
		info <- si.Code
	}()
	const cldStopped = 5
	select {
	case code := <-info:
		if err != nil || code != cldStopped {
			c.exit()
			c.fail("it did not stop at the point given")
		}
	case <-time.After(patience):
		c.fail("it neither stopped nor ended")
	}
}

// goesOn lets a stopped controller go on.
func (c *controller) goesOn() {
	c.t.Helper()
	if err := c.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		c.t.Fatal(err)
	}
}

// fail ends the test with all that the controller said.
func (c *controller) fail(why string) {
	c.t.Helper()
	_ = c.cmd.Process.Kill()
	<-c.done
	c.t.Fatalf("%s: %s: %v\n%s", strings.Join(c.cmd.Args[1:], " "), why, c.cmd.ProcessState, c.said())
}

// said is all that an ended controller has said, in short.
func (c *controller) said() string {
	lines := []string{c.errs.String()}
	for _, e := range c.events {
		line := e.Kind
		for _, more := range []string{e.Data.Action, e.Data.Outcome, e.Data.Status, e.Data.Reason, e.Data.Busy} {
			if more != "" {
				line += " " + more
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
