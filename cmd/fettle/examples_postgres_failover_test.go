package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestExamplePostgresFailoverIsolatesBeforeItPromotes promises one failover without
// a moment of two primaries, and the way back of the old one.
func TestExamplePostgresFailoverIsolatesBeforeItPromotes(t *testing.T) {
	t.Parallel()
	s := newScripted(t, "postgres-failover")
	s.fettle(exitDone, "run", "--approve", "--goal", "primary_serving")
	s.order("isolate pg1", "promote pg3", "writes pg3")
	s.order("promote pg3", "drop pg3")
	serves(s, "pg3")
	s.never("promote pg2")
	s.never("rejoin")

	s.fettle(exitDone, "run", "--approve", "--goal", "rejoined(pg1)")
	s.order("rejoin pg1", "add pg1")
	serves(s, "pg3")
	for file, want := range map[string]string{"role": "standby", "isolated": "false", "upstream": "pg3"} {
		if got := s.get("servers/pg1/" + file); got != want {
			t.Errorf("pg1 has %s %s, want %s", file, got, want)
		}
	}
}

// TestExamplePostgresFailoverDoesNothingToAPrimaryThatIsBack promises that what a
// person approved is not done to a world that no longer needs it.
func TestExamplePostgresFailoverDoesNothingToAPrimaryThatIsBack(t *testing.T) {
	t.Parallel()
	s := newScripted(t, "postgres-failover")
	s.says(s.fettle(exitWaiting, "run", "--goal", "primary_serving"), "fence(pg1)")
	s.set("servers/pg1/reachable", "true")
	s.says(s.fettle(exitDone, "resume", "last", "--approve"), "0 actions")
	s.never("")
}

// TestExamplePostgresFailoverWaitsForNoLagItCannotSee promises that an unknown lag
// blocks the promotion, from the start and in the middle.
func TestExamplePostgresFailoverWaitsForNoLagItCannotSee(t *testing.T) {
	t.Parallel()
	s := newScripted(t, "postgres-failover")
	s.set("servers/pg2/lag", "null")
	s.says(s.fettle(exitEscalated, "run", "--approve", "--goal", "primary_serving"), "Escalated (unobservable)", "lag(pg2)")
	s.never("")

	s.set("servers/pg2/lag", "4")
	s.set("surprise-isolate-pg1", "put pg3 lag null")
	s.says(s.fettle(exitEscalated, "run", "--approve", "--goal", "primary_serving"), "lag(pg3) <= 16 (unknown)", "Escalated (unobservable)")
	s.order("isolate pg1")
	s.never("promote")
}

// TestExamplePostgresFailoverDoubtsAFailedPromotion promises that while nobody knows
// whether a promotion took effect no other is made, and that the server which it was
// tried on is isolated before the next is.
func TestExamplePostgresFailoverDoubtsAFailedPromotion(t *testing.T) {
	t.Parallel()
	s := newScripted(t, "postgres-failover")
	s.set("surprise-promote-pg3", "put pg3 role primary\nput pg3 reachable false\ndie 'pg3: server closed the connection unexpectedly'")
	s.says(s.fettle(exitEscalated, "run", "--approve", "--goal", "primary_serving"),
		"server closed the connection unexpectedly", "Escalated (in doubt)", "find out whether promote(pg3)")
	s.never("promote")

	id, _, _ := strings.Cut(s.fettle(exitDone, "intents"), " ")
	s.fettle(exitDone, "intents", "resolve", id, "--as", "applied", "--reason", "pg3 says so on its console")
	s.says(s.fettle(exitDone, "show", "last"), "promote(pg3) was in doubt, and is applied by the word of ", "pg3 says so on its console")
	s.fettle(exitDone, "replay", "last")
	s.says(s.fettle(exitDone, "audit"), "1 applied, 1 of them by a person's word")
	s.fettle(exitDone, "run", "--approve", "--goal", "primary_serving")
	s.order("isolate pg1", "isolate pg3", "promote pg2", "writes pg2")
	s.order("add pg4", "drop pg2")
	serves(s, "pg2")
}

// TestExamplePostgresFailoverTellsOfASplitBrain promises that the world itself would
// tell of two primaries, so that the other tests can fail.
func TestExamplePostgresFailoverTellsOfASplitBrain(t *testing.T) {
	t.Parallel()
	s := newScripted(t, "postgres-failover")
	s.does(exec.Command(filepath.Join(s.dir, "pgctl"), "promote", "pg3"), 0)
	s.order("split-brain pg3")
}

// TestExamplePostgresFailoverActuatorsKeepTheFence promises that nothing is done late.
func TestExamplePostgresFailoverActuatorsKeepTheFence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ raise, act string }{
		{"fencectl fence pg1", "fencectl isolate pg1"},
		{"pgctl fence pg3", "pgctl promote pg3"},
		{"poolctl fence", "poolctl drop pg3"},
	} {
		t.Run(c.act, func(t *testing.T) {
			s := newScripted(t, "postgres-failover")
			s.set("servers/pg1/alive", "false") // So that a promotion is all that happens.
			s.refusesLate(strings.Fields(c.raise), strings.Fields(c.act))
		})
	}
}

// serves holds the world to it that this server is the one primary, that writes go to
// it and reads do not, and that there never were two.
func serves(s *scripted, primary string) {
	s.t.Helper()
	s.never("split-brain")
	if got := s.get("pool/writes"); got != primary {
		s.t.Errorf("writes go to %s, want %s", got, primary)
	}
	if got := s.get("servers/" + primary + "/role"); got != "primary" {
		s.t.Errorf("%s is a %s", primary, got)
	}
	if s.get("pool/reads-"+primary) != "false" {
		s.t.Errorf("reads go to the primary %s", primary)
	}
}
