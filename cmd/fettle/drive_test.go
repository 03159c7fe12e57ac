package main

import (
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/fettleops/fettle/executor"
)

// A run that is cut off from its etcd in mid-action stops the action in time and
// ends, and says what is gone, since when, what is in doubt, what is left undone
// and what to do, although nobody can write it down.
func TestARunThatIsCutOffFromItsEtcdSaysWhatToDo(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "1m")
	ln := h.overALine()
	p := h.start("run", "--approve", "--lease-ttl", "4s")
	gate := h.reach("back")
	defer gate.Close()
	ln.set(true)
	p.says("etcd does not answer; it is waited for, for at most 15s")
	var out strings.Builder
	for p.events.Scan() {
		out.WriteString(p.events.Text() + "\n")
	}
	errs := p.rest(exitFailed)
	_, id, _ := strings.Cut(strings.TrimSpace(out.String()), "fettle show ")
	for _, want := range []string{
		"fence N  N s  ✗ whether it took effect is unknown\n" +
			"         interrupted, killed; stopped at its own deadline, 3.0 s after the last renewal that etcd acknowledged\n" +
			"         open(back) = true not seen (it could not be looked at any more)\n" +
			"\nFailed (error): what happens can no longer be recorded, so nothing more is done\nLeft undone\n",
		"  you owe   once etcd answers again, go on with `fettle resume " + id + "`: it looks first at what was done\n",
	} {
		if got := fenceAndTime.ReplaceAllString(out.String(), "fence N  N s"); !strings.Contains(got, want) {
			t.Errorf("told nothing of %q:\n%s", want, got)
		}
	}
	for _, want := range []string{
		"Error: run " + id + ": the outcome of unlock(back) could not be recorded, it stays in doubt: " +
			"stopped at its own deadline, 3.0 s after the last renewal that etcd acknowledged\n  etcd has not answered since ",
		"\n  in doubt: unlock(back) (" + id + "-001)\n",
		"\n  once etcd answers again, go on with `fettle resume " + id + "`: it looks at what was done first\n",
	} {
		if !strings.Contains(errs, want) {
			t.Errorf("said nothing of %q:\n%s", want, errs)
		}
	}
	if strings.Contains(errs, "rpc error") {
		t.Errorf("said what only gRPC understands:\n%s", errs)
	}
}

// fenceAndTime is what differs between two runs of one step.
var fenceAndTime = regexp.MustCompile(`fence \d+ +[0-9.]+ s`)

// overALine puts a line between the house and its etcd.
func (h *house) overALine() *line {
	h.Helper()
	file := h.path("doors.fettle.hcl")
	raw, err := os.ReadFile(file)
	h.must(err)
	before, rest, _ := strings.Cut(string(raw), "endpoints = [\"")
	endpoint, after, ok := strings.Cut(rest, "\"]")
	if !ok {
		h.Fatal("the model names no endpoint")
	}
	ln := startLine(h.T, endpoint)
	h.must(os.WriteFile(file, []byte(before+"endpoints = [\""+ln.endpoint+"\"]"+after), 0o600))
	return ln
}

// SIGQUIT is a first and a second signal at once, and no dump of the program.
func TestQuitCutsTheActionOffAndLeavesItInDoubt(t *testing.T) {
	h := newHouse(t, "1m")
	p := h.start("run", "--approve", "-o", "jsonl")
	p.await(executor.StepArmed)
	defer h.reach("back").Close()
	p.signal(syscall.SIGQUIT)
	p.says("stopping: the action in flight is cut off, and whether it took effect is unknown")
	if f := p.await(executor.StepFinished); !strings.Contains(string(f.Data), `"outcome":"unknown"`) {
		t.Errorf("finished %s", f.Data)
	}
	p.exits(exitEscalated)
	if e := h.ended(); e.Status != executor.Cancelled || len(e.InDoubt) != 1 || !strings.HasPrefix(e.InDoubt[0], "unlock(back)") {
		t.Errorf("ended %+v", e)
	}
}
