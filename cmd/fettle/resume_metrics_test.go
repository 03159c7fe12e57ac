package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fettleops/fettle/executor"
)

func TestAResumedRunIsScrapedWithWhatItDidBefore(t *testing.T) {
	m := &measured{T: t, dir: gatedModel(t)}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(filepath.Join(m.dir, "door.fettle.hcl"), []byte(strings.Replace(gated, `"auto"`, `"approve"`, 1)), 0o600))
	first := fettle(t, "run", m.dir)
	_ = first.Run()
	if code := first.ProcessState.ExitCode(); code != exitWaiting {
		t.Fatalf("exit status %d, want %d", code, exitWaiting)
	}
	m.cmd = fettle(t, "resume", "last", "--approve", "-o", "jsonl", "--metrics", "127.0.0.1:0", "--model", m.dir)
	out, err := m.cmd.StdoutPipe()
	must(err)
	errs, err := m.cmd.StderrPipe()
	must(err)
	must(m.cmd.Start())
	t.Cleanup(func() { // As in startMeasured.
		_ = m.cmd.Process.Kill()
		if gate, err := os.OpenFile(filepath.Join(m.dir, "gate"), os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
			_ = gate.Close()
		}
	})
	m.errs, m.events = bufio.NewReader(errs), bufio.NewScanner(out)
	m.events.Buffer(nil, 1<<20)
	m.url = m.says("metrics at ")
	m.await(executor.StepArmed)
	m.shows("fettle_runs_active 1", "fettle_actions_in_flight 1", `fettle_attempts_total\{planner="search",verdict="pass"\} 2`,
		`fettle_run_info\{goal="entry",mode="approve",run="01[^"]+",scope=".*",version=".*"\} 1`)
	m.open()
	m.await(executor.RunEnded)
	m.ended(exitDone)
}
