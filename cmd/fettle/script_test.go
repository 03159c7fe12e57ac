package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the expected output in scripts")

func TestMain(m *testing.M) {
	testscript.Main(tidy{m}, map[string]func(){
		"fettle":  main,
		"sigwait": sigwait,
	})
}

// sigwait is a program that ends with the number of the first signal it gets.
func sigwait() {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, passedOn...)
	fmt.Println("ready")
	for s := range ch {
		if s != syscall.SIGWINCH && s != syscall.SIGCONT {
			os.Exit(int(s.(syscall.Signal)))
		}
	}
}

// TestScripts runs the stories in testdata/script. Beside testscript's own
// commands they have `exits CODE COMMAND…`, which runs a command like exec and
// holds it to an exit code.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: *update, RequireExplicitExec: true, RequireUniqueNames: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// run executes one command line within the test and returns its exit code.
func run(ctx context.Context, args []string, in io.Reader, out, errw io.Writer) int {
	a := &app{in: in, out: out, err: errw, restore: func() {}}
	return a.command(ctx, args)
}
