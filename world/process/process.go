// Package process runs programs: an argument list and never a shell, a minimal
// environment, a process group of their own that ends when its time is over.
// Whoever observes or acts by a program runs it so, and so does whoever asks one
// for a plan. It knows nothing of what the programs are for.
package process

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
	// KillGrace is how long a process group has between SIGTERM and SIGKILL. It
	// is well within the margin that a lease keeps for its holder to stop.
	KillGrace = 250 * time.Millisecond
	// WaitDelay is how long the output of a process is waited for after it
	// ended: a grandchild may keep the pipe open. An action that leaves one
	// behind takes so much longer, though it ended.
	WaitDelay = time.Second
)

// inherited is all that a process gets of this one's environment.
var inherited = []string{"PATH", "HOME", "LANG", "TMPDIR"}

// Process is a program to be run.
type Process struct {
	Argv  []string
	Env   []string // NAME=value, all of it
	Dir   string
	Stdin string
	Stray bool // what the program leaves behind may live on
}

// Exit is what came of a process.
type Exit struct {
	Started bool
	Killed  bool   // by the end of its context
	Code    int    // -1 where a signal ended it
	Err     error  // why it did not start, or could not be waited for
	Text    string // exit status 3, signal: killed
}

// Signalled tells whether a signal ended the process, whoever sent it.
func (x Exit) Signalled() bool { return x.Started && x.Code < 0 }

// Run starts the process in a group of its own and waits for its end. When ctx
// ends, the whole group gets SIGTERM, and SIGKILL after [KillGrace]; only a
// process that left its group survives that.
func (p Process) Run(ctx context.Context, stdout, stderr io.Writer) Exit {
	cmd := exec.CommandContext(ctx, p.Argv[0], p.Argv[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = p.Env, p.Dir, stdout, stderr
	if p.Stdin != "" {
		cmd.Stdin = strings.NewReader(p.Stdin)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = WaitDelay
	var kill *time.Timer
	cmd.Cancel = func() error {
		group := -cmd.Process.Pid
		kill = time.AfterFunc(KillGrace, func() { _ = syscall.Kill(group, syscall.SIGKILL) })
		if err := syscall.Kill(group, syscall.SIGTERM); err != nil {
			return os.ErrProcessDone
		}
		return nil
	}
	if err := cmd.Start(); err != nil {
		return Exit{Code: -1, Err: startError(err)}
	}
	err := cmd.Wait()
	left := errors.Is(err, exec.ErrWaitDelay)
	if kill != nil || left && !p.Stray {
		// The leader is gone, which may have left children in its group.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	if kill != nil {
		kill.Stop()
	}
	x := Exit{Started: true, Killed: kill != nil, Code: cmd.ProcessState.ExitCode(), Text: cmd.ProcessState.String()}
	var status *exec.ExitError
	if err != nil && !errors.As(err, &status) && !left {
		x.Err = err
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

// Environment is the minimal one, with the additions, which win.
func Environment(add map[string]string, fixed ...string) []string {
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
