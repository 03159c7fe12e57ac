package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/fettleops/fettle/executor"
)

// TestControllerKilledAtEachPoint promises that whatever point of the protocol
// a controller is killed at, its run resumed or another controller's run finds
// in doubt what may have happened, observes, resolves it, and reaches the goal
// with nothing done twice.
func TestControllerKilledAtEachPoint(t *testing.T) {
	t.Parallel()
	const applied, notApplied = "applied", "not_applied"
	for _, c := range []struct {
		point   string
		resumed bool
		doubt   string // How the action in doubt is resolved; empty: none is.
		without string
	}{
		{"before-acquire", true, "", ""},
		{"acquired", false, "", ""},
		{"raised", true, "", ""},
		{"observed", false, "", ""},
		{"armed", true, notApplied, ""},
		{"armed:2", false, notApplied, ""},
		{"checked", true, notApplied, ""},
		{"checked:3", false, notApplied, ""},
		{"acted", false, applied, ""},
		{"acted:2", true, applied, ""},
		{"confirmed", true, applied, ""},
		{"confirmed:2", false, applied, ""},
		{"confirmed:3", true, applied, ""}, // The goal holds: another's run would have nothing to do.
		{"finished", false, "", ""},
		{"finished:2", true, "", ""},
		{"acted", false, applied, "no-mark-check"},
	} {
		name := strings.Join([]string{c.point, map[bool]string{true: "resumed", false: "another"}[c.resumed], c.without}, " ")
		t.Run(strings.TrimSpace(name), func(t *testing.T) {
			t.Parallel()
			s := newStage(t, true)
			s.fault("api", "leak")
			a := s.run("FETTLE_KILL_AT="+c.point, "FETTLE_FAULT="+c.without)
			a.killed()
			s.store.awaitGone(leased)
			problems := s.inDoubt(a, c.doubt != "")

			b := s.successor(a, c.resumed)
			b.exits(exitDone)
			var resolved []string
			for _, e := range b.all(executor.DoubtResolved) {
				resolved = append(resolved, e.Data.Outcome)
			}
			if want := slices.DeleteFunc([]string{c.doubt}, func(s string) bool { return s == "" }); !slices.Equal(resolved, want) {
				problems = append(problems, "resolved as "+strings.Join(resolved, ", ")+", want "+c.doubt)
			}
			log := s.entries()
			problems = slices.Concat(problems, wrongs(log), unfencedActs(log), doneTwice(log), s.unhealthy(), s.store.left())
			judged(t, c.without, problems)
		})
	}
}

// successor resumes the run of a killed controller, or starts another.
func (s *stage) successor(a *controller, resumed bool) *controller {
	if resumed {
		return s.resume(s.base, a.id())
	}
	return s.run()
}

// inDoubt holds etcd to whether an action is in doubt, with a mark on what it writes.
func (s *stage) inDoubt(a *controller, want bool) (problems []string) {
	unresolved, marks := s.store.unresolved(), s.store.of("mark")
	for _, id := range unresolved {
		if !strings.HasPrefix(id, a.id()) {
			problems = append(problems, "in doubt, but not of the killed run: "+id)
		}
		if !slices.ContainsFunc(marks, func(m key) bool { return m.value == id }) {
			problems = append(problems, "no mark says that "+id+" is in doubt")
		}
	}
	if (len(unresolved) == 1) != want || len(unresolved) > 1 {
		problems = append(problems, "in doubt: "+strings.Join(unresolved, ", "))
	}
	return problems
}

// TestActThatLandsAfterItsControllerDied promises that an act which was on its
// way when its controller was killed, and lands late, is never done again: where
// the actuator keeps a fence it is refused, where it keeps none it is waited for.
func TestActThatLandsAfterItsControllerDied(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		fenced        bool
		killed, other string // What they do without.
	}{
		{"fenced", true, "", ""},
		{"unfenced", false, "", ""},
		{"fenced", true, "", "no-fence"},
		{"unfenced", false, "", "no-doubt-wait"},
		{"unfenced", false, "no-mark-check", ""},
	} {
		t.Run(strings.Join(strings.Fields(c.name+" "+c.killed+" "+c.other), " "), func(t *testing.T) {
			t.Parallel()
			s := newStage(t, c.fenced)
			s.fault("api", "leak")
			n := startNetwork(t, s.fleet)
			act := n.hold("POST /services/api/drain")
			a := s.runThrough(n, "FETTLE_FAULT="+c.killed)
			awaits(t, act.arrived, "the first act", a)
			_ = a.cmd.Process.Kill()
			awaits(t, act.hungUp, "the end of its sender", a)
			s.store.awaitGone(leased)

			b := s.run("FETTLE_FAULT=" + c.other)
			b.await(func(e event) bool { return e.Kind == executor.StepWaiting && strings.Contains(e.Data.Busy, "no fence") })
			if c.fenced {
				b.exit()
			}
			status := act.deliver()
			b.exits(exitDone)
			t.Logf("the fleet answers the late act with %d", status)
			log := s.entries()
			judged(t, c.killed+c.other, slices.Concat(wrongs(log), doneTwice(log), s.unhealthy(), s.store.left()))
		})
	}
}
