package world

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"
)

// withSelf makes the test binary known as var.self.
func (m *testModel) withSelf(t *testing.T) *testModel {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	m.vars["self"] = cty.StringVal(self)
	return m
}

func TestObserveByAProgram(t *testing.T) {
	for _, c := range []struct{ name, role, args, rest, want string }{
		{"text", "print", `"ok"`, `value = "stdout == 'ok'"`, `true {stdout = "ok"}`},
		{"JSON", "print", `"{\"up\":", "false}"`, `value = "body.up"`, "false {up = false}"},
		{"missing field", "print", `"{}"`, `value = "body.up"`, "unknown [the answer has no up]"},
		{"exit code", "exit", `"3"`, `value = "exit_code == 0"`, "false {exit_code = 3}"},
		{"failure is no answer", "print", `"ok"`, "value = \"stdout == 'ok'\"\ndir = \"nowhere\"", "unknown [not started: "},
		{"failing program", "exit", `"3", "ok"`, `value = "stdout == 'ok'"`, "unknown [exit status 3]"},
		{"failing program says why", "nonsense", ``, `value = "stdout == 'ok'"`, "unknown [exit status 99: no such role: nonsense]"},
		{"not in time", "hang", ``, "value = \"stdout == 'ok'\"\ntimeout = \"100ms\"", "unknown [no answer within 100ms]"},
		{"absent", "hang", ``, "value = \"stdout == 'ok'\"\ntimeout = \"100ms\"\nabsent = false", "false {no answer within 100ms}"},
		{"too much", "flood", `"2000000"`, `value = "stdout == 'ok'"`, "unknown [the output is larger than 1024 KiB]"},
		{"conversion", "print", `"12"`, `value = "int(stdout) > 3"`, `true {stdout = "12"}`},
		{"not a number", "print", `"many"`, `value = "int(stdout) > 3"`, `unknown [invalid operation: int(many)]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newTestModel(t).withSelf(t)
			w := m.mustCompile(t, `fluent "open" {
				observe "exec" {
					command = `+strings.TrimSuffix("[var.self, "+c.args, ", ")+`]
					env     = { WORLD_TEST_ROLE = "`+c.role+`" }
					`+c.rest+`
				}
			}`)
			got := m.observe(t, w, "open")
			if !strings.HasPrefix(got, "open = "+c.want) {
				t.Errorf("got %s want %s", got, c.want)
			}
		})
	}
}

func TestProgramsListOfObjects(t *testing.T) {
	m := newTestModel(t).withSelf(t)
	w := m.mustCompile(t, `fluent "in_lb" {
		observe "exec" {
			command = [var.self, "[{\"id\":\"api\",\"lb\":true},{\"id\":\"db\"}]", "!noise"]
			env     = { WORLD_TEST_ROLE = "print" }
			items   = "body"
			object  = "id"
			value   = "lb"
			absent  = false
		}
	}
	fluent "up" {
		observe "exec" {
			command = [var.self, "--name=${s}"]
			env     = { WORLD_TEST_ROLE = "print" }
			value   = "stdout == '--name=' + s"
		}
	}
	fluent "version" {
		observe "exec" {
			command = [var.self, s]
			env     = { WORLD_TEST_ROLE = "print" }
			value   = "stdout"
		}
	}`)
	same(t, m.observe(t, w, "in_lb", "up('-rf')", "up('../admin?x=1#é\\'')", "version('-rf')", "version(api)"), `
in_lb(api) = true {lb = true}
in_lb(db) = unknown [the answer has no lb]
in_lb('../admin?x=1#é\'') = false {no item is about in_lb('../admin?x=1#é\'')}
in_lb('-rf') = false {no item is about in_lb('-rf')}
up('-rf') = true {stdout = "--name=-rf"}
up('../admin?x=1#é\'') = true {stdout = "--name=../admin?x=1#é'"}
version('-rf') = unknown [the name "-rf" would be read as an option; put it behind a fixed text, as in "--name=${s}"]
version(api) = 'api' {stdout = "api"}`)
}

func TestOutcomeOfAProgram(t *testing.T) {
	for _, c := range []struct{ name, role, args, rest, want string }{
		{"done", "print", `"hello"`, "", "done: exit status 0"},
		{"failed", "exit", `"3", "one", "disk full", "ask storage", ""`, "", "failed: exit status 3"},
		{"other success", "exit", `"3"`, "success = [0, 3]", "done: exit status 3"},
		{"late", "exit", `"75"`, "fence {\ncommand = [\"/bin/true\"]\nreject = [75]\n}", "rejected: exit status 75"},
		{"no such program", "", ``, `command = ["./nowhere", s]`, "failed: not started: start "},
		{"not in PATH", "", ``, `command = ["no-such-program-here"]`, "failed: not started: exec: \"no-such-program-here\": executable file not found in $PATH"},
		{"killed", "hang", ``, "", "unknown: timed out after 2s, killed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newTestModel(t).withSelf(t)
			command := ""
			if c.role != "" {
				command = strings.TrimSuffix("command = [var.self, "+c.args, ", ") + "]"
			}
			timeout := "1m"
			if c.role == "hang" {
				timeout = "2s"
			}
			w := m.mustCompile(t, `action "drain" {
				timeout = "`+timeout+`"
				run "exec" {
					`+command+`
					env = { WORLD_TEST_ROLE = "`+c.role+`" }
					`+c.rest+`
				}
			}`)
			o := m.act(t.Context(), t, w, "drain", "api")
			got := string(o.Status) + ": " + o.Message
			if begun := strings.HasSuffix(c.want, " ") && strings.HasPrefix(got, c.want); got != c.want && !begun {
				t.Errorf("got %s want %s", got, c.want)
			}
		})
	}
}

// What a program prints is kept in the order in which it printed it.
func TestStreamsOfAProgramAreKeptInOrder(t *testing.T) {
	m := newTestModel(t).withSelf(t)
	w := m.mustCompile(t, `action "drain" {
		run "exec" {
			command = [var.self, "abcdefghij", "last line"]
			env     = { WORLD_TEST_ROLE = "run on" }
		}
	}`)
	for range 5 {
		if out := string(m.act(t.Context(), t, w, "drain", "api").Output); out != "abcdefghijlast line" {
			t.Errorf("got %q", out)
		}
	}
}

func TestProgramGetsAMinimalEnvironment(t *testing.T) {
	t.Setenv("WORLD_TEST_SECRET", "do not pass on")
	m := newTestModel(t).withSelf(t)
	w := m.mustCompile(t, `action "drain" {
		run "exec" {
			command = [var.self]
			env     = { WORLD_TEST_ROLE = "env", FETTLE_FENCE = "1", NAME = s }
		}
	}`)
	o := m.act(t.Context(), t, w, "drain", hostile)
	got := map[string]string{}
	for _, l := range strings.Split(strings.TrimSpace(string(o.Output)), "\n") {
		k, v, _ := strings.Cut(l, "=")
		got[k] = v
	}
	for k, want := range map[string]string{
		"FETTLE_FENCE": "1042", "FETTLE_RUN": "run-1", "FETTLE_STEP": "2", "FETTLE_ACTION_ID": "act-1", "NAME": hostile,
		"FETTLE_ARMED": "1043", "FETTLE_WRITES": `["in_lb(api)","in_lb('\u00e9\ud83d\ude00')"]`, "PATH": os.Getenv("PATH"),
	} {
		if got[k] != want {
			t.Errorf("%s: got %q, want %q", k, got[k], want)
		}
	}
	delete(got, "WORLD_TEST_ROLE")
	for k := range got {
		if !strings.HasPrefix(k, "FETTLE_") && k != "NAME" && !strings.Contains("PATH HOME LANG TMPDIR PWD", k) {
			t.Errorf("%s was passed on", k)
		}
	}
}

func TestFolderDirectoryAndStdin(t *testing.T) {
	m := newTestModel(t).withSelf(t)
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(folder, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(m.vars["self"].AsString(), filepath.Join(folder, "bin", "tool")); err != nil {
		t.Fatal(err)
	}
	w, diags := m.compile(t, folder, `action "drain" {
		run "exec" {
			command = ["./bin/tool", "$(id)", "; true", s]
			env     = { WORLD_TEST_ROLE = "where" }
			stdin   = "for ${s}"
			dir     = "bin"
		}
	}
	action "restart" {
		run "exec" {
			command = ["bin/tool"]
			env     = { WORLD_TEST_ROLE = "where" }
		}
	}`)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	same(t, string(m.act(t.Context(), t, w, "drain", "api").Output), filepath.Join(folder, "bin")+` ["$(id)" "; true" "api"] "for api"`)
	same(t, string(m.act(t.Context(), t, w, "restart", "api").Output), folder+` [] ""`)
}

func TestProgramsOutputIsCapped(t *testing.T) {
	m := newTestModel(t).withSelf(t)
	w := m.mustCompile(t, `action "drain" {
		run "exec" {
			command = [var.self, "3000000"]
			env     = { WORLD_TEST_ROLE = "flood" }
		}
	}`)
	o := m.act(t.Context(), t, w, "drain", "api")
	out := string(o.Output)
	if o.Status != Done || !o.Cut || len(out) > maxOutput || !strings.HasPrefix(out, "line 0\nline 1\n") || !strings.Contains(out, "bytes left out") {
		t.Errorf("%s, cut %v, %d bytes", o.Status, o.Cut, len(out))
	}
	last := strings.Fields(out)
	if n, err := strconv.Atoi(last[len(last)-1]); err != nil || n < 200_000 {
		t.Errorf("the tail is missing: …%q", out[len(out)-20:])
	}
}

// waitFor waits until the condition holds; the test's own time-out ends it.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-t.Context().Done():
			t.Fatal("gave up waiting for " + what)
		case <-tick.C:
		}
	}
}

func readPID(t *testing.T, file string) int {
	t.Helper()
	var pid int
	waitFor(t, file, func() bool {
		b, err := os.ReadFile(file)
		if err != nil {
			return false
		}
		pid, err = strconv.Atoi(string(b))
		return err == nil
	})
	return pid
}

// gone tells whether the process has ended; whoever inherited it may not have
// reaped it yet.
func gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, state, _ := strings.Cut(string(b), ") ")
	return strings.HasPrefix(state, "Z")
}

func TestEndOfTheContextKillsGrandchildren(t *testing.T) {
	for _, role := range []string{"family", "quiet family"} {
		t.Run(role, func(t *testing.T) {
			m := newTestModel(t).withSelf(t)
			pidFile := filepath.Join(t.TempDir(), "pid")
			m.vars["pid"] = cty.StringVal(pidFile)
			w := m.mustCompile(t, `action "drain" {
				run "exec" {
					command = [var.self, var.pid]
					env     = { WORLD_TEST_ROLE = "`+role+`" }
				}
			}`)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			outcome := make(chan Outcome, 1)
			go func() { outcome <- m.act(ctx, t, w, "drain", "api") }()
			grandchild := readPID(t, pidFile)
			cancel()
			o := <-outcome
			if o.Status != InDoubt || !strings.HasPrefix(o.Message, "interrupted, killed") {
				t.Errorf("%+v", o)
			}
			waitFor(t, "the grandchild's end", func() bool { return gone(grandchild) })
		})
	}
}

func TestGrandchildThatKeepsThePipeDoesNotHoldTheAction(t *testing.T) {
	m := newTestModel(t).withSelf(t)
	dir := t.TempDir()
	m.vars["dir"] = cty.StringVal(dir)
	w := m.mustCompile(t, `action "drain" {
		run "exec" {
			command = [var.self, "${var.dir}/act"]
			env     = { WORLD_TEST_ROLE = "leave" }
		}
	}
	fluent "open" {
		observe "exec" {
			command = [var.self, "${var.dir}/observe"]
			env     = { WORLD_TEST_ROLE = "leave" }
			value   = "exit_code == 0"
		}
	}`)
	o := m.act(t.Context(), t, w, "drain", "api")
	started := readPID(t, filepath.Join(dir, "act"))
	if o.Status != Done || gone(started) {
		t.Errorf("what an action starts lives on: %+v, gone %v", o, gone(started))
	}
	if err := syscall.Kill(started, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	same(t, m.observe(t, w, "open"), "open = true {exit_code = 0}")
	left := readPID(t, filepath.Join(dir, "observe"))
	waitFor(t, "what an observation left behind", func() bool { return gone(left) })
}

func TestPoliteProgramIsInDoubtToo(t *testing.T) {
	m := newTestModel(t).withSelf(t)
	file := filepath.Join(t.TempDir(), "ready")
	m.vars["file"] = cty.StringVal(file)
	w := m.mustCompile(t, `action "drain" {
		run "exec" {
			command = [var.self, var.file]
			env     = { WORLD_TEST_ROLE = "polite" }
		}
	}`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	outcome := make(chan Outcome, 1)
	go func() { outcome <- m.act(ctx, t, w, "drain", "api") }()
	waitFor(t, "the program", func() bool { _, err := os.Stat(file); return err == nil })
	cancel()
	if o := <-outcome; o.Status != InDoubt {
		t.Errorf("exit status 0 after it was stopped says nothing of the action: %+v", o)
	}
}

func TestFenceOfAProgram(t *testing.T) {
	m := newTestModel(t).withSelf(t)
	raise := func(role, args string) error {
		timeout := "1m"
		if role == "hang" {
			timeout = "300ms"
		}
		w := m.mustCompile(t, `action "drain" {
			run "exec" {
				command = [var.self]
				fence {
					command = [var.self, `+args+`]
					env     = { WORLD_TEST_ROLE = "`+role+`" }
					reject  = [3]
					timeout = "`+timeout+`"
				}
			}
		}`)
		return w.Raise(t.Context(), m.u, m.ground(t, "drain", "api"), Fence{Token: 7, Resources: []string{"in_lb(api)"}, Run: "r", ActionID: "a"})
	}
	if err := raise("print", `"fine"`); err != nil {
		t.Error(err)
	}
	var h *HigherFenceError
	if err := raise("exit", `"3", "{\"fence\": 9}"`); !errors.As(err, &h) || h.Higher != 9 || h.Token != 7 {
		t.Errorf("got %v", err)
	}
	if err := raise("exit", `"4", "no connection"`); errors.As(err, &h) || !strings.HasSuffix(err.Error(), "exit status 4: no connection") {
		t.Errorf("got %v", err)
	}
	if err := raise("hang", `"x"`); err == nil || !strings.HasSuffix(err.Error(), "no answer within 300ms") {
		t.Errorf("got %v", err)
	}
	dump := filepath.Join(t.TempDir(), "env")
	m.vars["dump"] = cty.StringVal(dump)
	if err := raise("dump", `var.dump`); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(dump)
	if err != nil || !strings.Contains(string(b), "FETTLE_FENCE=7\nFETTLE_RUN=r\nFETTLE_ACTION_ID=a\nFETTLE_RESOURCES=[\"in_lb(api)\"]") {
		t.Errorf("%v: %s", err, b)
	}
}
