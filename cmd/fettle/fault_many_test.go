package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fettleops/fettle/examples/fleet/accesslog"
	"github.com/fettleops/fettle/executor"
)

// byLease is a person's script that takes a service out of the balancer and
// puts it back, if nothing else is out. It runs under the lease of the service's
// place there, and raises its own fence before it looks.
const byLease = `
ask() { curl -sf -A rival -H "Fettle-Fence: $FETTLE_FENCE" -H "Fettle-Writes: [\"in_lb($SERVICE)\"]" "$@"; }
ask -d "{\"fence\": $FETTLE_FENCE, \"resources\": [\"in_lb($SERVICE)\"], \"writes\": [\"in_lb($SERVICE)\"]}" "$FLEET/fence"
if ask "$FLEET/lb" | grep -q '"in_lb":false'; then exit 0; fi
ask -X POST "$FLEET/services/$SERVICE/drain"
ask -X POST "$FLEET/services/$SERVICE/add"
`

// crowdSize is how many controllers there are.
const crowdSize = 8

// TestEightControllersAndARival promises that eight controllers, which start
// again and again on a fleet that breaks again and again, together with a script
// that joins their locks, never have two services out of the balancer at a
// time, and that everybody gets on.
func TestEightControllersAndARival(t *testing.T) {
	s := newStage(t, true)
	s.ttl = "10s" // Nobody is to lose a lease for want of a processor.
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	dice := rand.New(rand.NewPCG(seed, 0))
	most := s.watchPool()
	over := time.After(time.Minute)
	ended := make(chan struct{})
	var rivals sync.WaitGroup
	rivals.Go(func() { s.rival(ended) })

	well := make([]int, crowdSize)
	rounds := 0
	for going := true; going; rounds++ {
		broken := s.breakTwo(dice)
		all := s.crowd(s.base, "")
		all[dice.IntN(crowdSize)].await(func(e event) bool { return e.Kind == executor.StepFinished || e.Kind == executor.StepWaiting })
		s.fault(s.other(dice, broken), "leak")
		for i, c := range all {
			c.exits(exitDone, exitEscalated)
			if c.cmd.ProcessState.ExitCode() == exitDone {
				well[i]++
			} else {
				t.Logf("a controller ends with what it owes a person: %s", c.said())
			}
		}
		select {
		case <-over:
			going = false
		default:
		}
	}
	close(ended)
	rivals.Wait()
	s.run().exits(exitDone) // What broke last.

	var problems []string
	if out := most(); len(out) > 1 {
		problems = append(problems, "seen out of the balancer together: "+strings.Join(out, ", "))
	}
	log := s.entries()
	problems = slices.Concat(problems, wrongs(log), unfencedActs(log), s.unhealthy(), s.store.left(), s.starved(log, well, rounds))
	judged(t, "", problems)
}

// TestCrowdIsKeptApartByItsLocks promises that of the eight controllers and the
// rival only one gets to the balancer when all of them are about to take
// something out of it, and that what is held against them for a minute finds
// two services out together where locks are no longer waited for.
func TestCrowdIsKeptApartByItsLocks(t *testing.T) {
	t.Parallel()
	// What would catch it later is away too: the fence lets only the last of
	// them act, and those whose keys others have put anew or deleted stop.
	for _, without := range []string{"", "no-locks,no-deadline,no-arm-compare,no-fence"} {
		t.Run(without, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, true)
			s.ttl = "10s"
			s.fault("api", "leak")
			s.fault("db", "bad_version")
			n := startNetwork(t, s.fleet)
			m := n.meet()
			defer m.open()
			all := s.crowd(n.base, without)
			awaits(t, m.came, "the first drain", all...)
			rival := s.rivalOn("web", n.base, without)
			select {
			case <-m.met:
			case <-rival.waits:
			case <-rival.done:
			case <-time.After(patience):
				t.Error("the rival neither acts nor waits")
			}
			if without != "" {
				judged(t, without, outTogether(s.entries()))
				return
			}
			m.open()
			for _, c := range all {
				c.exits(exitDone, exitEscalated)
			}
			rival.ends()
			log := s.entries()
			judged(t, "", slices.Concat(wrongs(log), unfencedActs(log), s.unhealthy(), s.store.left()))
		})
	}
}

// crowd starts the controllers.
func (s *stage) crowd(base, without string) (all []*controller) {
	for range crowdSize {
		all = append(all, s.start(base, []string{"run", "--approve", "-o", "jsonl", s.path}, "FETTLE_FAULT="+without))
	}
	return all
}

// rivalOn runs the person's script for a service.
func (s *stage) rivalOn(service, base, without string) *leaseholder {
	return s.lease("in_lb("+service+")", byLease, "SERVICE="+service, "FLEET="+base, "FETTLE_FAULT="+without)
}

// rival runs the script, for one service after the other, until ended is closed.
func (s *stage) rival(ended <-chan struct{}) {
	for i := 0; ; i++ {
		service := []string{"web", "api", "worker", "db"}[i%4]
		l := s.rivalOn(service, s.base, "")
		<-l.done
		if code := l.cmd.ProcessState.ExitCode(); code != 0 {
			s.t.Errorf("the rival's script on %s: exit code %d\n%s", service, code, l.errs)
		}
		select {
		case <-ended:
			return
		default:
		}
	}
}

// starved tells who did not get on: a controller that never ended well, a
// rival that got in less than once in a round or never found anything to do.
func (s *stage) starved(log []accesslog.Entry, well []int, rounds int) (out []string) {
	var in, acted int
	runs := map[string]int{}
	for _, e := range log {
		switch {
		case e.Agent == "rival" && e.Kind == accesslog.Raise && e.Status == http.StatusOK:
			in++
		case e.Agent == "rival" && didAct(e):
			acted++
		case didAct(e):
			runs[e.Run]++
		}
	}
	s.t.Logf("%d rounds; ended well: %v; %d runs acted; the rival got in %d times and acted %d times", rounds, well, len(runs), in, acted)
	for i, n := range well {
		if n == 0 {
			out = append(out, fmt.Sprintf("controller %d never ended well", i+1))
		}
	}
	if in < rounds || acted == 0 {
		out = append(out, fmt.Sprintf("the rival got in %d times in %d rounds, and acted %d times", in, rounds, acted))
	}
	return out
}

// breakTwo breaks two services.
func (s *stage) breakTwo(dice *rand.Rand) []string {
	names := []string{"api", "db", "web", "worker"}
	dice.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for i, fault := range []string{"leak", "bad_version"} {
		s.fault(names[i], fault)
	}
	return names[:2]
}

// other picks a service that is not among those.
func (s *stage) other(dice *rand.Rand, but []string) string {
	left := slices.DeleteFunc([]string{"api", "db", "web", "worker"}, func(n string) bool { return slices.Contains(but, n) })
	return left[dice.IntN(len(left))]
}
