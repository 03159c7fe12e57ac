package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fettleops/fettle/executor"
)

// TestTwoResumesOfOneRun promises that of two processes which resume one run at
// the same time exactly one drives it, and the other says who does.
func TestTwoResumesOfOneRun(t *testing.T) {
	t.Parallel()
	for _, without := range []string{"", "no-run-claim"} {
		t.Run(without, func(t *testing.T) {
			t.Parallel()
			twoResumes(t, without)
		})
	}
}

func twoResumes(t *testing.T, without string) {
	s := newStage(t, true)
	s.fault("api", "leak")
	a := s.run("FETTLE_KILL_AT=acted")
	a.killed()
	s.store.awaitGone(leased)

	n := startNetwork(t, s.fleet)
	act := n.hold("POST /services/api/restart") // Until the loser has ended.
	one, two := s.resume(n.base, a.id(), "FETTLE_FAULT="+without), s.resume(n.base, a.id(), "FETTLE_FAULT="+without)
	winner, loser := one, two
	select {
	case <-one.done:
		winner, loser = two, one
	case <-two.done:
	case <-a.t.Context().Done():
	}
	loser.exits(exitFailed, exitEscalated)
	var problems []string
	if said := loser.errs.String(); !strings.Contains(said, "driven by") || !strings.Contains(said, "pid "+strconv.Itoa(winner.cmd.Process.Pid)) {
		problems = append(problems, fmt.Sprintf("the loser does not say that %d drives the run: %s", winner.cmd.Process.Pid, said))
	}
	if code := loser.cmd.ProcessState.ExitCode(); code != exitFailed {
		problems = append(problems, fmt.Sprintf("the loser exits %d", code))
	}
	if without != "" { // What becomes of the other one is not promised then.
		judged(t, without, problems)
		return
	}
	awaits(t, act.arrived, "the winner's act", winner)
	act.deliver()
	winner.exits(exitDone)
	log := s.entries()
	judged(t, "", slices.Concat(problems, wrongs(log), unfencedActs(log), doneTwice(log), s.unhealthy(), s.store.left()))
}

// TestRunResumedWhileItsDriverStoodStill promises that a process which stood
// still while another resumed its run and ended it does nothing more for it.
func TestRunResumedWhileItsDriverStoodStill(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		without string
		acts    bool // After the run's end.
	}{
		{"", false},
		{"no-deadline,no-last-check,no-arm-compare", false}, // Arm compares who drives the run.
		{"no-deadline,no-last-check,no-arm-compare,no-run-owner", true},
	} {
		t.Run(c.without, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, true)
			s.fault("api", "leak")
			a := s.run("FETTLE_PAUSE_AT=observed", "FETTLE_FAULT="+c.without)
			a.stopped()
			s.store.awaitGone(leased)
			s.byHand("/services/api/restart") // Nothing is left to do.
			b := s.resume(s.base, a.id())
			b.exits(exitDone)
			s.fault("api", "leak")
			ended := len(s.entries())
			a.goesOn()
			s.endsWell(a, c.acts)
			problems := s.late(a, ended)
			if !c.acts {
				problems = slices.Concat(problems, s.store.left())
				if got := b.all(executor.RunEnded); len(got) != 1 || got[0].Data.Status != executor.Succeeded {
					problems = append(problems, "the run did not end as it was told")
				}
				judged(t, "", problems)
				return
			}
			judged(t, c.without, problems)
		})
	}
}
