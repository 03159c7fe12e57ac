package main

import (
	"strings"
	"testing"
)

// TestExampleNodeRebootRollsThroughTheCluster promises that the nodes with an old
// kernel, and no others, are rebooted, one at a time and empty, the slow one waited for.
func TestExampleNodeRebootRollsThroughTheCluster(t *testing.T) {
	t.Parallel()
	s := newScripted(t, "node-reboot")
	s.says(s.fettle(exitDone, "run", "--approve", "--goal", "patched"), "goal reached in 1 round, 14 actions")
	rolled(s)
	for _, n := range []string{"cp1", "cp2", "w1", "w2"} {
		s.order("cordon "+n, "reboot "+n, "uncordon "+n)
	}
	s.never("cordon w3")
	s.never("cordon cp3")
	s.says(s.fettle(exitDone, "run", "--approve", "--goal", "rebooted(w1)"), "0 actions")
}

// TestExampleNodeRebootPutsANodeBackThatEtcdNeeds promises that a node whose etcd
// member has become indispensable is put back, and the failed one mended first.
func TestExampleNodeRebootPutsANodeBackThatEtcdNeeds(t *testing.T) {
	t.Parallel()
	s := newScripted(t, "node-reboot")
	s.set("nodes/w2/boot_seconds", "0")
	s.set("surprise-cordon-cp1", "put cp2 etcd false")
	out := s.fettle(exitDone, "run", "--approve", "--goal", "patched")
	s.says(out, "reboot(cp1) not applicable; missing quorum", "goal reached in 2 rounds")
	rolled(s)
	s.order("uncordon w2", "reboot cp2", "reboot cp1")
}

// TestExampleNodeRebootLeavesABrokenMemberToAPerson promises that no member goes
// while one that needs no reboot is broken, which nothing in the model mends, and
// that the node which was taken out for it is put back.
func TestExampleNodeRebootLeavesABrokenMemberToAPerson(t *testing.T) {
	t.Parallel()
	s := newScripted(t, "node-reboot")
	s.set("nodes/w2/boot_seconds", "0")
	s.set("surprise-cordon-cp1", "put cp3 etcd false")
	s.says(s.fettle(exitEscalated, "run", "--approve", "--goal", "patched"), "missing quorum", "Escalated (unsolvable)", "member(cp3)",
		"Going back · severity 1, at the start 0 · by undoing what was done", "put back  uncordon(cp1) · severity 0, at the start 0")
	rolled(s)
	s.order("cordon cp1", "uncordon cp1")
	s.never("reboot cp")
}

// TestExampleNodeRebootStopsAtANodeThatDoesNotComeBack promises that it stays the
// only one that is out, and that the run ends with it: one that is back on the old
// kernel takes pods again, and of one that is not it is said first that it is out.
func TestExampleNodeRebootStopsAtANodeThatDoesNotComeBack(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]struct{ file, value, unseen, last, said string }{
		"it stays away": {"nodes/w2/boot_seconds", "never", "ready(w2) = true not seen", "reboot w2", "Not put back: severity 1, at the start 0"},
		"it boots the old kernel": {
			"nodes/w2/boots", "6.8.0-45-generic", "current(w2) = true not seen", "uncordon w2", "put back  uncordon(w2) · severity 0, at the start 0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScripted(t, "node-reboot")
			s.set("nodes/w2/boot_seconds", "0")
			s.set(fault.file, fault.value)
			out := s.fettle(exitEscalated, "run", "--approve", "--goal", "patched", "--var", "boot_time=3s")
			s.says(out, fault.unseen, "Escalated (no progress)", fault.said)
			rolled(s)
			if did := s.did(); did[len(did)-1] != fault.last {
				t.Errorf("done: %v, want %s at last", did, fault.last)
			}
			s.never("cordon cp")
		})
	}
}

// TestExampleNodeRebootAgentKeepsTheFence promises that no late reboot happens.
func TestExampleNodeRebootAgentKeepsTheFence(t *testing.T) {
	t.Parallel()
	newScripted(t, "node-reboot").refusesLate([]string{"rebootctl", "fence", "w1"}, []string{"rebootctl", "reboot", "w1"})
}

// rolled holds the world's own log to it: never two nodes out, none rebooted that
// takes pods or has some, and none of the control plane touched before the workers.
func rolled(s *scripted) {
	s.t.Helper()
	out, drained, workers := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, d := range s.did() {
		verb, n, _ := strings.Cut(d, " ")
		switch verb {
		case "cordon":
			out[n] = true
			if strings.HasPrefix(n, "cp") && len(workers) < 2 {
				s.t.Errorf("%s before all workers: %v", d, s.did())
			}
		case "drain":
			drained[n] = true
		case "reboot":
			if worker := strings.HasPrefix(n, "w"); worker && !drained[n] || !out[n] {
				s.t.Errorf("%s of a node in use: %v", d, s.did())
			} else if worker {
				workers[n] = true
			}
		case "uncordon":
			delete(out, n)
		}
		if len(out) > 1 {
			s.t.Errorf("two nodes were out after %s: %v", d, s.did())
		}
	}
	if len(workers) == 0 {
		s.t.Errorf("nothing was rebooted: %v", s.did())
	}
}
