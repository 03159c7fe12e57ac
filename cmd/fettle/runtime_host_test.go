package main

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/fettleops/fettle/executor"
)

// A person's command hosts the etcd and is killed while a run that joined it acts:
// the run hosts it from then on, and goes on as if nothing had been.
func TestARunOutlivesTheProcessThatHostsItsStore(t *testing.T) {
	h := newCabin(t, "1m")
	host, _ := h.holding("open(front)", "--lease-ttl", "4s")
	run := h.start("run", "--approve", "-o", "jsonl", "--lease-ttl", "4s")
	run.await(executor.StepArmed)
	gate := h.reach("back")
	host.signal(syscall.SIGKILL)
	host.exits(-1)
	if out := h.fettle(exitDone, "leases"); !strings.Contains(out, "open(back)") || !strings.Contains(out, "open(front)") {
		t.Errorf("held: %s", out)
	}
	h.lift("front")
	h.must(gate.Close())
	run.await(executor.RunEnded)
	run.exits(exitDone)
	h.acted("back", "front")
}

// The action in flight is cut off at once, not only when its lease would expire, and
// nothing is begun anew in the store that is made in its place.
func TestARunEndsOnceItsStateDirectoryIsTakenAway(t *testing.T) {
	h := newCabin(t, "1h")
	run := h.start("run", "--approve", "-o", "jsonl", "--lease-ttl", "1h")
	run.await(executor.StepArmed)
	gate := h.reach("back")
	h.must(os.Rename(h.path(".fettle"), h.path("old")))
	if out := h.fettle(exitDone, "leases"); !strings.HasPrefix(out, "nothing is held") {
		t.Errorf("held: %s", out)
	}
	run.says("the state directory " + h.path(".fettle") + " was moved, removed or replaced while it was in use; put it back")
	run.exits(exitFailed)
	h.must(gate.Close())
	h.must(os.Rename(h.path("old"), h.path(".fettle")))
	if out := h.fettle(exitDone, "intents"); !strings.Contains(out, "unlock(back)") {
		t.Errorf("in doubt: %s", out)
	}
	h.acted("back")
}
