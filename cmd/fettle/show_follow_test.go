package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fettleops/fettle/executor"
)

// newCabin is a house whose etcd is embedded in the first process that needs it.
func newCabin(t *testing.T, timeout string) *house {
	t.Helper()
	h := &house{t, t.TempDir()}
	h.must(os.WriteFile(filepath.Join(h.dir, "doors.fettle.hcl"), []byte(strings.ReplaceAll(doors, "TIMEOUT", timeout)), 0o600))
	for _, d := range []string{"back", "front"} {
		h.must(syscall.Mkfifo(h.path("gate-"+d), 0o600))
	}
	return h
}

// undrivenBy is what is said of a run whose process is gone.
func undrivenBy(p *command, run string) string {
	host, err := os.Hostname()
	p.must(err)
	return fmt.Sprintf("run %s has not ended, and nobody drives it: pid %d on %s did, and is gone; `fettle resume %s` goes on with it",
		run, p.cmd.Process.Pid, host, run)
}

// The run is killed while it is followed: with the etcd that it hosts, or with one that lives on.
func TestFollowingEndsWhereTheRunsProcessIsGone(t *testing.T) {
	for name, build := range map[string]func(*testing.T, string) *house{"embedded": newCabin, "cluster": newHouse} {
		t.Run(name, func(t *testing.T) {
			h := build(t, "2s")
			p := h.start("run", "--approve", "-o", "jsonl", "--lease-ttl", "4s")
			run := p.await(executor.StepArmed).Run
			f := h.start("show", "last", "--follow", "-o", "jsonl")
			f.await(executor.StepArmed)
			gate := h.reach("back")
			p.signal(syscall.SIGKILL)
			p.exits(-1)
			f.says(undrivenBy(p, run))
			f.exits(exitWaiting)
			h.must(gate.Close())

			// Who comes later is told at once, with all that was written.
			if out := h.fettle(exitWaiting, "show", run, "--follow"); !strings.Contains(out, undrivenBy(p, run)) || !strings.Contains(out, "Round 1 of 3") {
				t.Errorf("said %s", out)
			}
			h.lift("front")
			r := h.start("resume", run, "--approve", "-o", "jsonl", "--lease-ttl", "4s")
			r.await(executor.RunResumed)
			again := h.start("show", run, "--follow", "-o", "jsonl")
			again.await(executor.RunEnded)
			again.exits(exitDone)
			r.exits(exitDone)
			h.acted("back", "front")
		})
	}
}
