package world

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	// killGrace is how long a process group has between SIGTERM and SIGKILL. It
	// is well within the margin that a lease keeps for its holder to stop.
	killGrace = 250 * time.Millisecond
	// waitDelay is how long the output of a process is waited for after it
	// ended: a grandchild may keep the pipe open. An action that leaves one
	// behind takes so much longer, though it ended.
	waitDelay = time.Second
)

// inherited is all that a process gets of this one's environment.
var inherited = []string{"PATH", "HOME", "LANG", "TMPDIR"}

// process is a program to be run: an argument list, never a shell.
type process struct {
	argv  []string
	env   []string // NAME=value, all of it
	dir   string
	stdin string
	stray bool // what the program leaves behind may live on
}

// exit is what came of a process.
type exit struct {
	started bool
	killed  bool   // by the end of its context
	code    int    // -1 where a signal ended it
	err     error  // why it did not start, or could not be waited for
	text    string // exit status 3, signal: killed
}

// run starts the process in a group of its own and waits for its end. When ctx
// ends, the whole group gets SIGTERM, and SIGKILL after [killGrace]; only a
// process that left its group survives that.
func (p process) run(ctx context.Context, stdout, stderr io.Writer) exit {
	cmd := exec.CommandContext(ctx, p.argv[0], p.argv[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = p.env, p.dir, stdout, stderr
	if p.stdin != "" {
		cmd.Stdin = strings.NewReader(p.stdin)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = waitDelay
	var kill *time.Timer
	cmd.Cancel = func() error {
		group := -cmd.Process.Pid
		kill = time.AfterFunc(killGrace, func() { _ = syscall.Kill(group, syscall.SIGKILL) })
		if err := syscall.Kill(group, syscall.SIGTERM); err != nil {
			return os.ErrProcessDone
		}
		return nil
	}
	if err := cmd.Start(); err != nil {
		return exit{code: -1, err: startError(err)}
	}
	err := cmd.Wait()
	left := errors.Is(err, exec.ErrWaitDelay)
	if kill != nil || left && !p.stray {
		// The leader is gone, which may have left children in its group.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	if kill != nil {
		kill.Stop()
	}
	x := exit{started: true, killed: kill != nil, code: cmd.ProcessState.ExitCode(), text: cmd.ProcessState.String()}
	var status *exec.ExitError
	if err != nil && !errors.As(err, &status) && !left {
		x.err = err
	}
	return x
}

// startError takes the system call off an error of starting.
func startError(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return &os.PathError{Op: "start", Path: path.Path, Err: path.Err}
	}
	return err
}

// environment is the minimal one, with the additions, which win.
func environment(add map[string]string, fixed ...string) []string {
	var out []string
	for _, name := range inherited {
		if v, ok := os.LookupEnv(name); ok {
			out = append(out, name+"="+v)
		}
	}
	for name, v := range add {
		out = append(out, name+"="+v)
	}
	slices.Sort(out[len(out)-len(add):])
	return append(out, fixed...)
}
