package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/term"
)

// Exit statuses of a command that is run for somebody, as shells have them.
const (
	cannotStart = 126
	notFound    = 127
	signalled   = 128 // plus the number of the signal
)

// passedOn are the signals that the command under a lease gets as well.
var passedOn = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGCONT,
}

// child is the command that runs under a lease. On a terminal it shares the
// process group, so that it can read from there, and gets from the terminal
// itself what is typed; elsewhere it has a group of its own, which is ended whole.
type child struct {
	key     string
	argv    []string
	fence   int64
	grace   time.Duration // between SIGTERM and SIGKILL, once the lease is lost
	lost    <-chan struct{}
	signals <-chan os.Signal

	cmd      *exec.Cmd
	terminal bool
}

// run runs the command to its end and returns its exit status.
func (c *child) run(a *app) (int, error) {
	c.cmd = exec.Command(c.argv[0], c.argv[1:]...)
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = a.in, a.out, a.err
	c.cmd.Env = append(os.Environ(), "FETTLE_FENCE="+strconv.FormatInt(c.fence, 10))
	c.terminal = term.IsTerminal(int(os.Stdin.Fd()))
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !c.terminal}
	defer endWithUs(c.cmd.SysProcAttr)()
	if err := c.cmd.Start(); err != nil {
		status := cannotStart
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
			status = notFound
		}
		return status, fmt.Errorf("start the command: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.cmd.Wait() }()
	return c.await(a, ended)
}

// await passes signals on until the command has ended, and ends it where the
// lease is lost.
func (c *child) await(a *app, ended <-chan error) (int, error) {
	lost := c.lost
	var kill <-chan time.Time
	for {
		select {
		case err := <-ended:
			return c.status(err)
		case s := <-c.signals:
			if sig, ok := s.(syscall.Signal); ok && (!c.terminal || !typed(sig)) {
				c.send(sig)
			}
		case <-lost:
			lost = nil
			fmt.Fprintf(a.err, "the lease of %s is lost: ending the command (SIGTERM, and SIGKILL in %s)\n", plain(c.key), c.grace)
			c.send(syscall.SIGTERM)
			kill = time.After(c.grace)
		case <-kill:
			c.send(syscall.SIGKILL)
		}
	}
}

// typed tells whether the terminal sends the signal to its whole foreground group.
func typed(s syscall.Signal) bool {
	return s == syscall.SIGINT || s == syscall.SIGQUIT || s == syscall.SIGWINCH || s == syscall.SIGCONT
}

func (c *child) send(s syscall.Signal) {
	pid := c.cmd.Process.Pid
	if !c.terminal {
		pid = -pid
	}
	_ = syscall.Kill(pid, s) // It may just have ended.
}

// status is the command's exit status, as a shell has it.
func (c *child) status(err error) (int, error) {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return exitFailed, fmt.Errorf("wait for the command: %w", err)
	}
	if ws, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return signalled + int(ws.Signal()), nil
	}
	return c.cmd.ProcessState.ExitCode(), nil
}
