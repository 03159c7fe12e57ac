package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// leaseholder is a command that runs under `fettle lease`.
type leaseholder struct {
	t     *testing.T
	cmd   *exec.Cmd
	errs  *bytes.Buffer // Once it has ended.
	stdin io.WriteCloser
	waits chan struct{} // It has said that it waits for others.
	done  chan struct{} // It has ended.
}

// lease runs a shell script under a lease.
func (s *stage) lease(key, script string, env ...string) *leaseholder {
	s.t.Helper()
	l := &leaseholder{t: s.t, errs: &bytes.Buffer{}, waits: make(chan struct{}), done: make(chan struct{})}
	l.cmd = exec.Command(faulty(s.t), "lease", key, "--model", s.path, "--lease-ttl", s.ttl, "--", "sh", "-euc", script)
	l.cmd.Env = append(os.Environ(), env...)
	stdin, err := l.cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	said, err := l.cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := l.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	l.stdin = stdin
	go func() {
		defer close(l.done)
		waits := sync.OnceFunc(func() { close(l.waits) })
		for sc := bufio.NewScanner(said); sc.Scan(); {
			l.errs.WriteString(sc.Text() + "\n")
			if strings.HasPrefix(sc.Text(), "waiting for ") {
				waits()
			}
		}
		_ = l.cmd.Wait()
	}()
	s.t.Cleanup(func() {
		_ = stdin.Close()
		_ = l.cmd.Process.Kill()
		<-l.done
	})
	return l
}

// ends waits until the command has ended well.
func (l *leaseholder) ends() {
	l.t.Helper()
	awaits(l.t, l.done, "the end of "+strings.Join(l.cmd.Args, " "))
	if code := l.cmd.ProcessState.ExitCode(); code != 0 {
		l.t.Fatalf("%v: exit code %d\n%s", l.cmd.Args, code, l.errs)
	}
}

// TestWaitersGoInTurn promises that who waits for all of a fluent is not
// overtaken for ever by those who want one instance of it.
func TestWaitersGoInTurn(t *testing.T) {
	t.Parallel()
	for _, without := range []string{"", "no-tickets"} {
		t.Run(without, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, true)
			order := filepath.Join(t.TempDir(), "order")
			note := func(what string) string { return "echo " + what + " >> " + order }
			fault := "FETTLE_FAULT=" + without
			holder := s.lease("in_lb(api)", "read x || true", fault)
			s.store.awaitKeys("nobody holds in_lb(api)", func(all []key) bool { return countOf(all, "lock", "in_lb(api)") == 1 })
			whole := s.lease("in_lb", note("whole"), fault)
			awaits(t, whole.waits, "the wait for in_lb")
			one := s.lease("in_lb(db)", note("one"), fault)
			select {
			case <-one.done: // It has overtaken.
			case <-one.waits:
			}
			if err := holder.stdin.Close(); err != nil {
				t.Fatal(err)
			}
			for _, l := range []*leaseholder{holder, whole, one} {
				l.ends()
			}
			text, err := os.ReadFile(order)
			if err != nil {
				t.Fatal(err)
			}
			var problems []string
			if got := strings.Fields(string(text)); len(got) != 2 || got[0] != "whole" {
				problems = append(problems, "not in the order in which they came: "+strings.Join(got, ", "))
			}
			judged(t, without, append(problems, s.store.left()...))
		})
	}
}

func countOf(all []key, kind, about string) (n int) {
	for _, k := range all {
		if k.kind == kind && k.about == about {
			n++
		}
	}
	return n
}
