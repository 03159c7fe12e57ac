package executor

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fettleops/fettle/policy"
)

func TestWaysBackAreKnownOfEachStepAndJournalled(t *testing.T) {
	w := newWard(t, setup{})
	end := w.run()
	w.ends(end, Succeeded, "")
	w.logged("drain api", "mend api", "readd api")
	b := one[Baseline](w.rig, SeverityTaken)
	if num(b.Least) != "0" || num(b.Most) != "0" || len(b.Facts) != 2 || b.Facts["in_lb(api)"] != true {
		t.Errorf("baseline %+v", b)
	}
	want := []string{"undo [readd(api)] 0 → 1", "undo [readd(api)] 1 → 1", "none_needed [] 1 → 0"}
	var planned, armed []string
	say := func(w *WayBack) string {
		return fmt.Sprintf("%s %v %s → %s", w.How, w.Steps, num(w.Before), num(w.After))
	}
	for _, s := range one[Plan](w.rig, PlanAccepted).Steps {
		planned = append(planned, say(s.Way))
	}
	for _, a := range all[Armed](w.rig, StepArmed) {
		armed = append(armed, say(a.Way))
	}
	if !slices.Equal(planned, want) || !slices.Equal(armed, want) {
		t.Errorf("planned %q, armed %q, want %q", planned, armed, want)
	}
	if spanOf(end) != "0 → 0" || len(end.Restored) > 0 || len(end.NotRestored) > 0 || len(end.WayBack) > 0 {
		t.Errorf("end %+v", end)
	}
	w.clean()
}

func TestAPlanWithoutAWayBackIsRefusedBeforeAnythingIsDone(t *testing.T) {
	w := newWard(t, setup{policy: []string{"max_rounds", "2"}}, "{{undo}}", "", `"key"]`, `"key", "!key"]`, "{{goal}}", "ok(#)")
	end := w.run()
	w.logged()
	if end.Status != Escalated || spanOf(end) != "0 → 0" {
		t.Errorf("end %+v", end)
	}
	const want = "plan denied by the goal's severity: step 1: no way back is known from the state after drain(api): severity 1, at the start 0; " +
		"drain(api) names no undo; the search proves that there is none: "
	if a := all[Attempt](w.rig, AttemptMade)[0]; !strings.HasPrefix(a.Critique, want) || a.Kind != "policy" {
		t.Errorf("attempt %+v\nwant %s", a, want)
	}
}

// TestWithoutASeverityTheWorldIsLeftWorse is the other side of the test above:
// the same model, without what it says of regressions.
func TestWithoutASeverityTheWorldIsLeftWorse(t *testing.T) {
	w := newWard(t, setup{}, "{{undo}}", "", `"key"]`, `"key", "!key"]`, "{{goal}}", "ok(#)", "{{severity}}", "")
	w.ends(w.run(), Succeeded, "")
	w.logged("drain api", "mend api")
	if w.out() != 1 {
		t.Errorf("%d are out", w.out())
	}
}

func TestTheGuardRefusesAStepWhoseWayBackWasLost(t *testing.T) {
	w := newWard(t, setup{policy: []string{"max_rounds", "1"}}, "{{goal}}", "ok(#)")
	w.write(t, "trap-drain-api", "printf no >"+w.dir+"/key")
	end := w.run()
	w.ends(end, Escalated, "rounds")
	w.logged("drain api")
	f := one[Refused](w.rig, StepRefused)
	const want = "no way back is known from the state after mend(api): severity 1, at the start 0; drain(api) is undone by readd(api), which cannot be applied then: it needs key; the search proves that there is none: "
	if f.Kind != NoWayBack || !strings.HasPrefix(f.Reason, want) {
		t.Errorf("refused %+v", f)
	}
	if n := end.NotRestored; len(n) != 1 || n[0].Fluent != "in_lb(api)" || n[0].Was != true || n[0].Now != false {
		t.Errorf("not restored %+v", n)
	}
	w.clean()
}

func TestAStepWithoutAWayBackMayBeApproved(t *testing.T) {
	for _, asked := range []bool{true, false} {
		w := newWard(t, setup{policy: []string{"max_rounds", "2"}}, "{{undo}}", "reversible = false", `"key"]`, `"key", "!key"]`, "{{goal}}", "ok(#)")
		if asked {
			w.config.Policy.Rules = rulesOf(t, "rule \"final\" {\n when = \"irreversible\"\n effect = \"approve\"\n reason = \"it stays so\"\n}")
		}
		questions := w.asks(true)
		end := w.run()
		if !asked {
			w.logged()
			if end.Status != Escalated || len(*questions) > 0 {
				t.Errorf("end %+v", end)
			}
			continue
		}
		w.ends(end, Succeeded, "")
		w.logged("drain api", "mend api")
		armed := all[Armed](w.rig, StepArmed)
		if armed[0].Way.How != ByApproval || armed[1].Way.How != NoneNeeded {
			t.Errorf("armed with %+v, then %+v: what was approved is what the run is held to", armed[0].Way, armed[1].Way)
		}
		if spanOf(end) != "0 → 1" || len(end.NotRestored) != 1 || len(*questions) != 1 {
			t.Errorf("end %+v, asked %+v", end, *questions)
		}
	}
}

func TestASearchFindsTheWayBackWhereNoUndoIsNamed(t *testing.T) {
	w := newWard(t, setup{}, "{{undo}}", "")
	w.ends(w.run(), Succeeded, "")
	w.logged("drain api", "mend api", "readd api")
	if a := all[Armed](w.rig, StepArmed)[0]; a.Way.How != BySearch || !slices.Equal(a.Way.Steps, []string{"readd(api)"}) {
		t.Errorf("way %+v", a.Way)
	}
}

// TestTheUndoNeedsNoSearch: it is found where a search may not look at anything.
func TestTheUndoNeedsNoSearch(t *testing.T) {
	w := newWard(t, setup{})
	w.config.Policy.Search.MaxNodes = policy.AtMost(1)
	w.ends(w.run(), Succeeded, "")
	w.logged("drain api", "mend api", "readd api")
}

// TestAGoalsActionsAreAllThatAWayBackUses.
func TestAGoalsActionsAreAllThatAWayBackUses(t *testing.T) {
	w := newWard(t, setup{policy: []string{"max_rounds", "1"}}, "{{goal}}", "ok(#)", `goal "healthy" {`, "goal \"healthy\" {\n  actions = [\"drain\", \"mend\"]")
	end := w.run()
	w.logged()
	if end.Status != Escalated {
		t.Errorf("end %+v", end)
	}
	const want = "drain(api) is undone by readd(api), which is not among the goal's actions"
	if a := one[Attempt](w.rig, AttemptMade); !strings.Contains(a.Critique, want) {
		t.Errorf("critique %q, want %q in it", a.Critique, want)
	}
}

// TestAnotherPlanIsFoundWhereOneHasNoWayBack: the next round's search leaves out
// what was refused, where it would be refused again.
func TestAnotherPlanIsFoundWhereOneHasNoWayBack(t *testing.T) {
	w := newWard(t, setup{}, "{{undo}}", "", "{{goal}}", "ok(#)", `"key"]`, `"key", "!key"]`, `action "readd" {`, `action "patch" {
  params = { s = service }
  cost   = 5
  effect { add = ["ok(s)"] }
  {{run}}
}
action "readd" {`)
	must(t, os.WriteFile(filepath.Join(w.dir, "act.sh"), []byte(strings.ReplaceAll(strings.ReplaceAll(wardScript, "mend)", "mend | patch)"), "DIR", w.dir)), 0o600))
	end := w.run()
	w.ends(end, Succeeded, "")
	w.logged("patch api")
	if end.Rounds != 2 || len(end.NotRestored) > 0 {
		t.Errorf("end %+v", end)
	}
}
