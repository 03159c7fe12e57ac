package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestExampleCoordinatedRepairsAPlan promises that the example's demo plays: the
// recorded plan is rejected, the critique comes back, the repaired plan is
// carried out, and the world is whole after it.
func TestExampleCoordinatedRepairsAPlan(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "fettle")
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	s := newScripted(t, "coordinated")
	s.set("log", "") // The demo plays on a copy of its own and leaves this world alone.
	cmd := exec.Command(filepath.Join(s.dir, "demo-llm.sh"))
	cmd.Env = append(os.Environ(), "FETTLE="+link, "GORACE=atexit_sleep_ms=0")
	out := s.does(cmd, 0)
	critique, repaired := strings.Index(out, "✗ step 4: drain(db) not applicable; missing capacity"), strings.Index(out, "attempt 2  8 steps, cost 8, valid")
	if critique < 0 || repaired < critique {
		t.Errorf("no repair after a critique:\n%s", out)
	}
	s.says(out, "Succeeded: goal reached in 1 round, 8 actions", "revert db\nadd db\n", "written by hand")
	if version := s.get("db/version"); version != "v42" {
		t.Errorf("the demo acted on the example itself: version %s", version)
	}
}

// TestExampleCoordinatedHasTheSearchBehind: once the recording is played, the
// search plans what is left.
func TestExampleCoordinatedHasTheSearchBehind(t *testing.T) {
	t.Parallel()
	s := newScripted(t, "coordinated")
	s.set("api/memory", "ok")
	s.set("db/memory", "leak") // Both replies are about another incident.
	s.set("db/version", "v41")
	out := s.fettle(exitDone, "run", "--approve")
	s.says(out, "✗ the recording ended: all of ", "search  attempt 2  3 steps, cost 3, valid, optimal", "Succeeded: goal reached")
	s.order("drain db", "restart db", "add db")
}
