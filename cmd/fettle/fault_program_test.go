package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// programs are those that tests build, each once; they are removed when all tests are over.
var programs struct {
	sync.Mutex
	dir  string
	path map[string]string
}

// program returns a program, built with the arguments given.
func program(t *testing.T, name string, args ...string) string {
	t.Helper()
	programs.Lock()
	defer programs.Unlock()
	if path, ok := programs.path[name]; ok {
		return path
	}
	if programs.dir == "" {
		dir, err := os.MkdirTemp("", "fettle-programs")
		if err != nil {
			t.Fatal(err)
		}
		programs.dir, programs.path = dir, map[string]string{}
	}
	path := filepath.Join(programs.dir, name)
	cmd := exec.Command("go", append([]string{"build", "-o", path}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", name, err, out)
	}
	programs.path[name] = path
	return path
}

// sideBySide is how many of the parallel tests run at one time where the
// command line does not say. They wait for leases to run out most of the time,
// whatever the number of processors.
const sideBySide = "6"

// tidy removes what was built after all tests.
type tidy struct{ *testing.M }

func (m tidy) Run() int {
	defer func() { _ = os.RemoveAll(programs.dir) }()
	if err := flag.Set("test.parallel", sideBySide); err != nil { // The command line is read after this.
		panic(err)
	}
	return m.M.Run()
}

// faulty is fettle with the switches of the tests: points to stop at, and
// protections to do without.
func faulty(t *testing.T) string {
	t.Helper()
	return program(t, "faulty", "-tags", "faults", ".")
}

// TestNoSwitchIsInTheNormalBuild promises that what takes protections away
// exists in the tests' build alone.
func TestNoSwitchIsInTheNormalBuild(t *testing.T) {
	t.Parallel()
	for _, b := range []struct {
		path string
		want bool
	}{{program(t, "normal", "."), false}, {faulty(t), true}} {
		text, err := os.ReadFile(b.path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"FETTLE_FAULT", "FETTLE_PAUSE_AT", "FETTLE_KILL_AT", "FETTLE_PAUSE_FILE"} {
			if got := bytes.Contains(text, []byte(name)); got != b.want {
				t.Errorf("%s contains %s: %v, want %v", filepath.Base(b.path), name, got, b.want)
			}
		}
	}
}
