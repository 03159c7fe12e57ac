package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// scripted is a copy of an example whose world is acted out with files, as its
// incident.sh sets it up.
type scripted struct {
	t   *testing.T
	dir string
}

func newScripted(t *testing.T, name string) *scripted {
	t.Helper()
	s := &scripted{t, filepath.Join(t.TempDir(), name)}
	if err := os.CopyFS(s.dir, os.DirFS(filepath.Join("../../examples", name))); err != nil {
		t.Fatal(err)
	}
	for _, left := range []string{".fettle", "world"} { // By somebody who tried the example where it is.
		if err := os.RemoveAll(filepath.Join(s.dir, left)); err != nil {
			t.Fatal(err)
		}
	}
	s.does(exec.Command(filepath.Join(s.dir, "incident.sh")), 0)
	return s
}

// does runs a command, holds it to an exit status, and returns what it said.
func (s *scripted) does(cmd *exec.Cmd, want int) string {
	s.t.Helper()
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != want {
		s.t.Errorf("%s: exit %d, want %d\n%s", strings.Join(cmd.Args, " "), got, want, out)
	}
	return string(out)
}

// fettle runs a command on the example.
func (s *scripted) fettle(want int, args ...string) string {
	s.t.Helper()
	cmd := fettle(s.t, args...)
	cmd.Dir = s.dir
	return s.does(cmd, want)
}

// says fails the test where the text lacks one of the words.
func (s *scripted) says(text string, words ...string) {
	s.t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			s.t.Errorf("it does not say %q:\n%s", w, text)
		}
	}
}

// set writes a file of the world.
func (s *scripted) set(file, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, "world", file), []byte(text+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// get reads a file of the world.
func (s *scripted) get(file string) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "world", file))
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// did returns what was really done, each a verb and its object, in its order.
func (s *scripted) did() []string {
	s.t.Helper()
	log, err := os.ReadFile(filepath.Join(s.dir, "world/log"))
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(log)) {
		out = append(out, strings.Join(strings.Fields(line)[:2], " "))
	}
	return out
}

// order holds the log to it that each of these was done once, one after the other.
func (s *scripted) order(what ...string) {
	s.t.Helper()
	did := s.did()
	var got []string
	for _, d := range did {
		if slices.Contains(what, d) {
			got = append(got, d)
		}
	}
	if !slices.Equal(got, what) {
		s.t.Errorf("done %v in %v, want %v", got, did, what)
	}
}

// never holds the log to it that nothing of the kind was done.
func (s *scripted) never(what string) {
	s.t.Helper()
	if did := s.did(); slices.ContainsFunc(did, func(d string) bool { return strings.HasPrefix(d, what) }) {
		s.t.Errorf("done: %v, want no %s", did, what)
	}
}

// refusesLate holds an actuator to it that it keeps the fence: what comes with a
// lower token than one it was told does nothing.
func (s *scripted) refusesLate(raise, act []string) {
	s.t.Helper()
	with := func(token int, argv []string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(s.dir, argv[0]), argv[1:]...)
		cmd.Env = append(os.Environ(), "FETTLE_FENCE="+strconv.Itoa(token))
		return cmd
	}
	s.does(with(1000, raise), 0)
	s.says(s.does(with(999, raise), 75), `{"fence": 1000}`)
	s.says(s.does(with(999, act), 75), `{"fence": 1000}`)
	if did := s.did(); len(did) > 0 {
		s.t.Errorf("done late: %v", did)
	}
	s.does(with(1000, act), 0)
	if did := s.did(); len(did) != 1 {
		s.t.Errorf("done in time: %v, want one", did)
	}
}
