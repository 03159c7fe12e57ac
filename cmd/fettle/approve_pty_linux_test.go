package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal opens a pseudo-terminal: what a person has, and what a program is given.
func (h *house) terminal() (person, program *os.File) {
	h.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	h.must(err)
	h.must(unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	h.must(err)
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	h.must(err)
	h.Cleanup(func() {
		_ = person.Close()
		_ = program.Close()
	})
	return person, program
}

// onTerminal starts a command whose input is a terminal at which nobody has said
// anything yet.
func (h *house) onTerminal(args ...string) (*exec.Cmd, *os.File, *bufio.Reader, *strings.Builder) {
	h.Helper()
	person, program := h.terminal()
	cmd := fettle(h.T, args...)
	cmd.Dir, cmd.Stdin = h.dir, program
	var out strings.Builder
	cmd.Stdout = &out
	errs, err := cmd.StderrPipe()
	h.must(err)
	h.must(cmd.Start())
	h.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, person, bufio.NewReader(errs), &out
}

// asked returns once the question is there.
func (h *house) asked(errs *bufio.Reader) {
	h.Helper()
	var said strings.Builder
	for !strings.HasSuffix(said.String(), `Only "yes" is accepted: `) {
		c, err := errs.ReadByte()
		if err != nil {
			h.Fatalf("said %q: %v", &said, err)
		}
		said.WriteByte(c)
	}
}

// A run asks on a terminal, and somebody elsewhere answers first: that counts at
// once, and whoever is at the terminal is told who it was.
func TestAnAnswerFromElsewhereCountsWhileATerminalIsAsked(t *testing.T) {
	for command, exit := range map[string]int{"approve": exitDone, "reject": exitEscalated} {
		h := newHouse(t, "10s")
		h.free()
		cmd, _, errs, out := h.onTerminal("run")
		h.asked(errs)
		h.fettle(exitDone, command, "last")
		rest, _ := errs.ReadString(0)
		_ = cmd.Wait()
		if got := cmd.ProcessState.ExitCode(); got != exit {
			t.Errorf("%s: exit code %d, want %d\n%s%s", command, got, exit, out, rest)
		}
		if !strings.Contains(out.String(), "approved by "+userName()+" on ") {
			t.Errorf("%s: told %s", command, out)
		}
	}
}

// What is said at the terminal is written down like what is said elsewhere.
func TestAnAnswerAtTheTerminalCounts(t *testing.T) {
	for typed, exit := range map[string]int{"yes\n": exitDone, "no\n": exitEscalated} {
		h := newHouse(t, "10s")
		h.free()
		cmd, person, errs, out := h.onTerminal("run")
		h.asked(errs)
		_, err := person.WriteString(typed)
		h.must(err)
		rest, _ := errs.ReadString(0)
		_ = cmd.Wait()
		if got := cmd.ProcessState.ExitCode(); got != exit {
			t.Errorf("%q: exit code %d, want %d\n%s%s", typed, got, exit, out, rest)
		}
		if out := h.fettle(exitFailed, "approve", "last"); !strings.Contains(out, "has ended") {
			t.Errorf("%q: %s", typed, out)
		}
		if log := h.fettle(exitDone, "leases", "--audit"); !strings.Contains(log, map[int]string{exitDone: "approved plan ", exitEscalated: "rejected plan "}[exit]) {
			t.Errorf("%q: written down %s", typed, log)
		}
	}
}
