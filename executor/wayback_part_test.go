package executor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fettleops/fettle/journal"
)

// TestARunTakesBackItsOwnPartAndNoMore: what others did meanwhile is theirs, and
// is told.
func TestARunTakesBackItsOwnPartAndNoMore(t *testing.T) {
	w := stopping(t, setup{})
	w.on(RoundEnded, func(journal.Event) { w.write(t, "in_lb-db", "no") })
	end := w.run()
	w.ends(end, Escalated, "no_progress")
	w.logged("drain api", "mend api", "readd api")
	if spanOf(end) != "0 → 1" || !slices.Equal(end.Restored, []string{"readd(api)"}) || one[RestorePlan](w.rig, RestorePlanned).How != ByPart {
		t.Errorf("end %+v", end)
	}
	if n := end.NotRestored; len(n) != 1 || n[0].Fluent != "in_lb(db)" || !n[0].Others {
		t.Errorf("not restored %+v", n)
	}
	w.clean()
}

// TestItsOwnPartIsTakenBackWhateverCannotBeSeen of the rest.
func TestItsOwnPartIsTakenBackWhateverCannotBeSeen(t *testing.T) {
	w := stopping(t, setup{})
	w.on(RoundEnded, func(journal.Event) { must(t, os.Remove(filepath.Join(w.dir, "in_lb-db"))) })
	end := w.run()
	w.logged("drain api", "mend api", "readd api")
	if spanOf(end) != "0 → ?" || !slices.Equal(end.Restored, []string{"readd(api)"}) {
		t.Errorf("end %+v", end)
	}
}

// TestWhatOthersDidIsUndoneOnlyWhereAPersonSaysSo: the run's own part cannot be
// taken back, and the only way back changes what the run did not.
func TestWhatOthersDidIsUndoneOnlyWhereAPersonSaysSo(t *testing.T) {
	swap := []string{`action "mend" {`, `action "swap" {
  precondition = ["!key"]
  effect { add = ["in_lb(api)", "key"] }
  {{run}}
}
action "mend" {`}
	for i, l := range swap {
		swap[i] = strings.ReplaceAll(l, "{{run}}", `timeout = "10s"
  run "exec" { command = ["/bin/sh", "-c", "echo swap >>{{dir}}/log; printf yes >{{dir}}/key; printf yes >{{dir}}/in_lb-api"] }`)
	}
	for _, yes := range []bool{true, false} {
		w := stopping(t, setup{}, swap...)
		w.on(RoundEnded, func(journal.Event) { w.write(t, "key", "no") })
		const why = "it changes what the run did not: swap"
		if yes {
			asked := w.asks(true)
			end := w.run()
			w.logged("drain api", "mend api", "swap")
			if len(*asked) != 1 || !slices.Equal((*asked)[0].Why, []string{why}) || len(end.NotRestored) > 0 {
				t.Errorf("asked %+v, end %+v", *asked, end)
			}
			continue
		}
		end := w.run()
		w.logged("drain api", "mend api")
		if want := "a person was to approve going back, and did not: " + why; !strings.HasPrefix(reason(end), want) || !slices.Equal(end.WayBack, []string{"swap"}) ||
			!strings.Contains(reason(end), "has not taken back drain(api) (undone by readd(api))") {
			t.Errorf("end %+v", end)
		}

		w = stopping(t, setup{}, swap...)
		w.config.Preapproved = "--approve"
		w.config.Policy.Rules = rulesOf(t, strings.ReplaceAll(backRule, "readd", "drain"))
		w.on(RoundEnded, func(journal.Event) { w.write(t, "key", "no") })
		end = w.run()
		w.logged("drain api", "mend api")
		if !strings.Contains(reason(end), "a yes that is given beforehand to every plan is none to that: "+why) {
			t.Errorf("end %+v", end)
		}
	}
}

// TestASourceThatIsDownIsLookedAtAgain: it is back while there is time to go back.
func TestASourceThatIsDownIsLookedAtAgain(t *testing.T) {
	w := stopping(t, setup{})
	down, looks := false, 0
	w.see = func(kind string, _ journal.Event) {
		switch {
		case kind == RoundEnded:
			down = true
			must(t, os.Remove(filepath.Join(w.dir, "in_lb-api")))
		case kind == Observed && down:
			if looks++; looks == 2 { // The first of going back.
				w.write(t, "in_lb-api", "no")
			}
		}
	}
	end := w.run()
	w.logged("drain api", "mend api", "readd api")
	if len(end.NotRestored) > 0 || !slices.Equal(end.Restored, []string{"readd(api)"}) {
		t.Errorf("end %+v", end)
	}
}

// TestGoingBackWaitsForOthersWithinItsDeadline, beyond max_wait.
func TestGoingBackWaitsForOthersWithinItsDeadline(t *testing.T) {
	w := stopping(t, setup{policy: []string{"max_wait", `"50ms"`}})
	var free func()
	busy := 0
	w.see = func(kind string, _ journal.Event) {
		switch {
		case kind == RestorePlanned:
			held := hold(w.rig, x("in_lb", "api"))
			free = func() { must(t, held.Release(testCtx(t))) }
		case kind == StepRefused && free != nil:
			if busy++; busy == 2 {
				free()
			}
		}
	}
	end := w.run()
	w.logged("drain api", "mend api", "readd api")
	if busy < 2 || len(end.NotRestored) > 0 {
		t.Errorf("refused %d times, end %+v", busy, end)
	}
}
