package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/fettleops/fettle/examples/fleet/accesslog"
	"github.com/fettleops/fettle/executor"
)

// TestControllerStoppedPastItsLease promises that a controller which stands
// still at whatever point, while another goes on and changes the world, does
// nothing late when it wakes up, and says what happened.
//
// It stands still about to drain api. Meanwhile a person mends api, and db
// breaks: the other controller has taken db out when the first one wakes up.
func TestControllerStoppedPastItsLease(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		point   string
		without string
		late    bool // The oracle finds a late effect.
	}{
		{"before-acquire", "", false},
		{"acquired", "", false},
		{"raised", "", false},
		{"observed", "", false},
		{"armed", "", false},
		{"checked", "", false},
		{"acted", "", false},
		{"confirmed", "", false},
		{"finished", "", false},

		{"checked", "no-deadline", false}, // The fence stops it.
		{"checked", "no-deadline,no-fence", true},
		{"armed", "no-fence", false}, // The last look at its own deadline stops it.
		{"armed", "no-fence,no-deadline,no-last-check", true},
		{"observed", "no-fence,no-deadline,no-last-check,no-run-owner", false}, // Arm compares the locks.
		{"observed", "no-fence,no-deadline,no-last-check,no-run-owner,no-arm-compare", true},
	} {
		t.Run(strings.TrimSpace(c.point+" "+c.without), func(t *testing.T) {
			t.Parallel()
			s := newStage(t, true)
			s.fault("api", "leak")
			most := s.watchPool()
			a := s.run("FETTLE_PAUSE_AT="+c.point, "FETTLE_FAULT="+c.without)
			a.stopped()
			s.byHand("/services/api/restart")
			s.fault("db", "leak")

			n := startNetwork(t, s.fleet)
			act := n.hold("POST /services/db/restart")
			b := s.runThrough(n)
			awaits(t, act.arrived, "the other's second act", b)
			s.store.awaitGone(owns(a.id()))
			woken := len(s.entries())
			a.goesOn()
			a.await(func(e event) bool { return e.Kind == executor.StepWaiting }) // Or it ends.
			problems := s.late(a, woken)
			act.deliver()
			if code := b.exit(); code != exitDone && !c.late {
				b.fail("the other does not reach the goal")
			}
			s.endsWell(a, c.late)
			out := most()
			if len(out) > 1 {
				problems = append(problems, "seen out of the balancer together: "+strings.Join(out, ", "))
			}
			if log := s.entries(); c.late {
				judged(t, c.without, slices.Concat(problems, wrongs(log)))
			} else {
				judged(t, "", slices.Concat(problems, wrongs(log), unfencedActs(log), doneTwice(log), s.unhealthy(), s.store.left()))
			}
		})
	}
}

// late finds acts of a controller that were let in after it had lost its right
// to act.
func (s *stage) late(c *controller, since int) (out []string) {
	for _, e := range s.entries()[since:] {
		if e.Run == c.id() && didAct(e) {
			out = append(out, "carried out late: "+pathOf(e))
		}
		if e.Run == c.id() && e.Kind == accesslog.Act && e.Status == http.StatusConflict {
			s.t.Logf("the fleet refused a late act: %s", e.Reason)
		}
	}
	return out
}

// endsWell holds a controller that was stopped for long to an end that says
// what happened, unless it had no protection to tell it so.
func (s *stage) endsWell(c *controller, wild bool) {
	s.t.Helper()
	code := c.exit()
	if wild {
		return
	}
	ends := c.all(executor.RunEnded)
	told := len(ends) == 1 && (ends[0].Data.Status == executor.Succeeded || ends[0].Data.Reason == executor.LeaseLost)
	if code != exitDone && code != exitEscalated || !told && !strings.Contains(c.errs.String(), "drive") {
		c.fail("it does not say what happened")
	}
}
