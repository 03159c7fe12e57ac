package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/fettleops/fettle/executor"
)

// TestEtcdCutOffInMidAction promises that a controller which cannot reach etcd
// any more gives up the act under way before its lock is gone there, does
// nothing after it, and leaves it in doubt for the next run, which resolves it.
// Where etcd is back soon, and nobody else had its run, it does so itself and goes on.
func TestEtcdCutOffInMidAction(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		heals   bool // While it waits for etcd to record what it did.
		without string
	}{{"healed", true, ""}, {"for good", false, ""}, {"no-deadline", false, "no-deadline"}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, true)
			s.fault("api", "leak")
			wire := startLine(t, s.etcd.endpoint)
			n := startNetwork(t, s.fleet)
			act := n.hold("POST /services/api/restart")
			a := s.start(n.base, []string{"run", "--approve", "-o", "jsonl", s.modelAt(wire.endpoint, true)}, "FETTLE_FAULT="+c.without)
			awaits(t, act.arrived, "the second act", a)
			wire.set(true)
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				s.store.awaitGone(func(k key) bool { return k.kind == "lock" })
			}()
			var problems []string
			select {
			case <-act.hungUp:
			case <-gone:
				select {
				case <-act.hungUp:
				default:
					problems = append(problems, "its lock was gone while its act was still under way")
				}
			}
			awaits(t, gone, "the end of its locks", a)
			if c.without != "" {
				judged(t, c.without, problems)
				return
			}
			if status := act.deliver(); status != 200 {
				t.Errorf("the fleet answers the late act with %d", status)
			}
			b := a
			if c.heals {
				wire.set(false)
			} else {
				problems = slices.Concat(problems, s.inDoubt(a, true))
				b = s.run()
			}
			b.exits(exitDone)
			if got := b.all(executor.DoubtResolved); len(got) != 1 || got[0].Data.Outcome != "applied" {
				problems = append(problems, "the act in doubt was not resolved as applied")
			}
			if !c.heals {
				s.saysSo(a)
			}
			log := s.entries()
			judged(t, "", slices.Concat(problems, wrongs(log), unfencedActs(log), doneTwice(log), s.unhealthy(), s.store.left()))
		})
	}
}

// saysSo waits for the end of a controller that was cut off, and holds it to
// saying what it left undecided.
func (s *stage) saysSo(c *controller) {
	s.t.Helper()
	c.exits(exitFailed, exitEscalated)
	said := c.errs.String()
	if len(c.all(executor.RunEnded)) == 0 && !strings.Contains(said, "in doubt") && !strings.Contains(said, "nothing more is done") {
		c.fail("it does not say what happened")
	}
}
