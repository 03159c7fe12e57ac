// Command fettle checks, plans and carries out remediations of what an action
// model describes. This package parses flags, wires the parts together, prints
// and exits; what a command does lives in the packages below.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// Exit codes, as documented for the command line.
const (
	exitDone      = 0
	exitFailed    = 1 // could not be done: usage, file, network, infrastructure
	exitNo        = 2 // the answer is no
	exitEscalated = 3 // stopped within its limits without the goal
	exitWaiting   = 4 // waiting for a person or a window; resumable
)

// exitError carries an exit code. Its message was already shown where Err is nil.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// answer ends a command with a code after everything was printed.
func answer(code int) error {
	if code == exitDone {
		return nil
	}
	return &exitError{code: code}
}

// app is what every command shares: the streams, and the flags of loading a model.
type app struct {
	in       io.Reader
	out, err io.Writer
	vars     []string      // --var name=value
	stateDir string        // --state-dir
	leaseTTL time.Duration // --lease-ttl
	quota    int64         // of the embedded etcd, in bytes; 0: etcd's own
	restore  func()        // gives signals their usual effect back
}

func main() {
	// Most commands live for moments on a small heap that grows while a model is
	// loaded: not collecting before there is something to collect halves that.
	// The pages are never touched, so they take no memory, and a large heap is
	// collected as often as any other.
	ballast := make([]byte, ballastSize)
	ctx, restore := signal.NotifyContext(context.Background(), stopSignals...)
	a := &app{in: os.Stdin, out: os.Stdout, err: os.Stderr, restore: restore}
	code := a.command(ctx, os.Args[1:])
	runtime.KeepAlive(ballast)
	os.Exit(code)
}

const ballastSize = 24 << 20

// stopSignals ask a command to stop. A hang-up is among them: a dropped
// connection must not cut an action in two.
var stopSignals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// guarded marks commands that go on in order when they are asked to stop, or
// when nobody reads their output any more. Any other dies of a signal, at the
// latest of the second one.
const guarded = "guarded"

// signals gives a command that is not guarded the usual ways to die.
func (a *app) signals(cmd *cobra.Command) {
	if cmd.Annotations[guarded] == "" {
		context.AfterFunc(cmd.Context(), a.restore)
		return
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // Writes fail instead.
}

// command executes one command line and returns its exit code.
func (a *app) command(ctx context.Context, args []string) int {
	root := newRootCommand(a)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	if msg := spoken(err); msg != "" {
		fmt.Fprintln(a.err, "Error:", msg)
	}
	var e *exitError
	if errors.As(err, &e) {
		return e.code
	}
	return exitFailed
}

func newRootCommand(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:           "fettle",
		Short:         "Plan, validate and carry out remediations under guard",
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRun: func(cmd *cobra.Command, _ []string) {
			a.signals(cmd)
		},
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.PersistentFlags().StringArrayVar(&a.vars, "var", nil, "set a variable of the model, name=value (repeatable)")
	root.AddCommand(commands(a)...)
	return root
}

// modelPath is the MODEL argument, the current folder where it is not given.
func modelPath(args []string) string {
	if len(args) == 0 {
		return "."
	}
	return args[0]
}
