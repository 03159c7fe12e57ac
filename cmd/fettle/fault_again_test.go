package main

import (
	"slices"
	"testing"

	"github.com/fettleops/fettle/executor"
)

// TestKilledAgainAndAgain promises that a repair whose controllers are killed
// one after the other, at one point or another, still comes to its end with
// nothing done twice.
func TestKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t, true)
	s.fault("api", "leak")
	first := s.run("FETTLE_KILL_AT=acted") // The drain took effect.
	first.killed()
	for _, next := range []struct {
		point   string
		resumed bool
	}{
		{"armed", true},     // The restart was not begun.
		{"acted", false},    // The restart took effect, by another's run.
		{"checked", true},   // The return to the balancer was not begun.
		{"confirmed", true}, // It took effect.
	} {
		s.store.awaitGone(leased)
		var c *controller
		if next.resumed {
			c = s.resume(s.base, first.id(), "FETTLE_KILL_AT="+next.point)
		} else {
			c = s.run("FETTLE_KILL_AT=" + next.point)
		}
		c.killed()
	}
	s.store.awaitGone(leased)
	s.resume(s.base, first.id()).exits(exitDone)
	log := s.entries()
	judged(t, "", slices.Concat(wrongs(log), unfencedActs(log), doneTwice(log), s.unhealthy(), s.store.left()))
}

// TestKilledWhileItTookOver promises that an action in doubt whose taker-over is
// killed as well is taken over from that one.
func TestKilledWhileItTookOver(t *testing.T) {
	t.Parallel()
	s := newStage(t, true)
	s.fault("api", "leak")
	a := s.run("FETTLE_KILL_AT=acted")
	a.killed()
	s.store.awaitGone(leased)

	n := startNetwork(t, s.fleet)
	raise := n.hold("POST /fence") // It comes with the take-over, before anything is resolved.
	b := s.runThrough(n)
	awaits(t, raise.arrived, "the take-over", b)
	problems := s.inDoubt(a, true)
	_ = b.cmd.Process.Kill()
	b.exit()
	s.store.awaitGone(leased)
	problems = slices.Concat(problems, s.inDoubt(a, true))

	c := s.resume(s.base, a.id())
	c.exits(exitDone)
	if got := c.all(executor.DoubtResolved); len(got) != 1 || got[0].Data.Outcome != "applied" {
		problems = append(problems, "the drain was not resolved as applied")
	}
	log := s.entries()
	judged(t, "", slices.Concat(problems, wrongs(log), unfencedActs(log), doneTwice(log), s.unhealthy(), s.store.left()))
}
