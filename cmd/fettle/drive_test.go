package main

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/fettleops/fettle/executor"
)

// A run that joined another's etcd says what is gone, since when, what was in
// flight, and what to do, when that one's process is killed.
func TestARunWhoseEtcdIsGoneSaysWhatToDo(t *testing.T) {
	h := newCabin(t, "10s")
	host := h.start("lease", "open(front)", "--", "sh", "-c", "echo ready >&2; exec cat gate-front > /dev/null 2>&1")
	defer h.release("front") // The command may outlive the process that ran it.
	host.says("ready")
	p := h.start("run", "--approve", "-o", "jsonl")
	armed := p.await(executor.StepArmed)
	gate := h.reach("back")
	defer gate.Close()
	host.signal(syscall.SIGKILL)
	host.exits(-1)
	for p.events.Scan() { // To the end.
	}
	var said string
	for p.errs.Scan() {
		said += p.errs.Text() + "\n"
	}
	_ = p.cmd.Wait()
	if code := p.cmd.ProcessState.ExitCode(); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	id := armed.Run
	for _, want := range []string{
		"Error: run " + id + ": the outcome of unlock(back) could not be recorded, it stays in doubt: ",
		"\n  etcd has not answered since ",
		": the process that hosted the etcd of state directory ",
		"\n  in doubt: unlock(back) (" + id + "-001)\n",
		"\n  once etcd answers again, go on with `fettle resume " + id + "`: it looks at what was done first\n",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("said nothing of %q:\n%s", want, said)
		}
	}
	if strings.Contains(said, "rpc error") {
		t.Errorf("said what only gRPC understands:\n%s", said)
	}
}

// release lets whoever waits at a gate go, if somebody does.
func (h *house) release(door string) {
	if gate, err := os.OpenFile(h.path("gate-"+door), os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
		_ = gate.Close()
	}
}
