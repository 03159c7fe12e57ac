package executor

import (
	"slices"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/journal"
)

// backRule has a person asked about readd, by which drain is undone.
const backRule = `rule "hands_on" {
  when   = "action == 'readd'"
  effect = approve
  reason = "readd needs a person"
}`

// wayless is a drain that no undo is named for, and that only readd takes back.
var wayless = []string{"{{undo}}", "reversible = false", "{{goal}}", "ok(#)"}

const irreversibleRule = `rule "forever" {
  when   = "irreversible"
  effect = approve
}`

// stopping is a ward whose run drains, fails to mend and goes back.
func stopping(t *testing.T, s setup, words ...string) *wardRig {
	s.policy = append([]string{"on_stop", `"restore"`, "same_failure_retries", "1"}, s.policy...)
	w := newWard(t, s, append([]string{"{{goal}}", "ok(#)"}, words...)...)
	w.write(t, "fail-mend-api", "")
	return w
}

func reason(e Ended) string {
	if len(e.NotRestored) == 0 {
		return ""
	}
	return e.NotRestored[0].Reason
}

// TestWhatRulesAskAboutGoingBackIsPartOfTheQuestion: whoever approves the plan
// approves that too, and without that nothing is done.
func TestWhatRulesAskAboutGoingBackIsPartOfTheQuestion(t *testing.T) {
	for _, mode := range []string{`"auto"`, `"approve"`} {
		w := stopping(t, setup{policy: []string{"mode", mode}})
		w.config.Policy.Rules = rulesOf(t, backRule)
		w.ends(w.run(), WaitingStatus, approvalWanted)
		w.logged()

		w = stopping(t, setup{policy: []string{"mode", mode}})
		w.config.Policy.Rules = rulesOf(t, backRule)
		asked := w.asks(true)
		end := w.run()
		w.ends(end, Escalated, "no_progress")
		w.logged("drain api", "mend api", "readd api")
		if len(*asked) != 1 || !slices.Contains((*asked)[0].Why, "going back: rule hands_on (readd(api)): readd needs a person") {
			t.Errorf("asked %+v", *asked)
		}
		w.clean()
	}
}

// TestAPersonGoesTheWayOfARunThatOnlyReports: such a run is not held up by what
// is asked before.
func TestAPersonGoesTheWayOfARunThatOnlyReports(t *testing.T) {
	w := stopping(t, setup{policy: []string{"on_stop", `"report"`}})
	w.config.Policy.Rules = rulesOf(t, backRule)
	end := w.run()
	w.ends(end, Escalated, "no_progress")
	w.logged("drain api", "mend api")
	if !slices.Equal(end.WayBack, []string{"readd(api)"}) {
		t.Errorf("end %+v", end)
	}
	if s := one[Plan](w.rig, PlanAccepted).Steps[0].Way; len(s.Asks) != 1 {
		t.Errorf("the way back of drain is %+v", s)
	}
}

// TestAWayBackThatARuleDeniesIsNone: neither as a step nor as a whole plan.
func TestAWayBackThatARuleDeniesIsNone(t *testing.T) {
	w := stopping(t, setup{})
	w.config.Policy.Rules = rulesOf(t, `rule "never" {
  when   = "'readd' in plan.actions"
  effect = deny
}`)
	w.run()
	w.logged()
	if a := all[Attempt](w.rig, AttemptMade)[0]; !strings.Contains(a.Critique, "the way back (readd(api)) is denied by rule never") {
		t.Errorf("attempt %+v", a)
	}
}

// TestAYesToAPlanWithAWayBackIsNoneToOneWithout: what the person was told has
// changed by the time that the action is begun.
func TestAYesToAPlanWithAWayBackIsNoneToOneWithout(t *testing.T) {
	for _, yes := range []bool{true, false} {
		w := newWard(t, setup{policy: []string{"mode", `"approve"`, "max_rounds", "2"}}, wayless...)
		w.config.Policy.Rules = rulesOf(t, irreversibleRule)
		asked := w.asks(true, yes)
		w.on(StepAcquired, func(journal.Event) { w.write(t, "key", "no") })
		end := w.run()
		const none = noWayAsks + "drain(api)"
		if f := all[Refused](w.rig, StepRefused); len(f) != 1 || f[0].Kind != NoWayBack {
			t.Errorf("refused %+v", f)
		}
		if len(*asked) != 2 || slices.Contains((*asked)[0].Why, none) || !slices.Contains((*asked)[1].Why, none) {
			t.Errorf("asked %+v", *asked)
		}
		if !yes {
			w.ends(end, Escalated, "rejected")
			w.logged()
			continue
		}
		w.ends(end, Succeeded, "")
		w.logged("drain api", "mend api")
		if a := all[Armed](w.rig, StepArmed); a[0].Way.How != ByApproval {
			t.Errorf("armed %+v", a[0].Way)
		}
	}
}

// TestAYesBeforehandIsNoApprovalOfNoWayBack.
func TestAYesBeforehandIsNoApprovalOfNoWayBack(t *testing.T) {
	w := newWard(t, setup{policy: []string{"max_rounds", "1"}}, append(wayless, `"key"]`, `"key", "!key"]`)...)
	w.config.Policy.Rules = rulesOf(t, irreversibleRule)
	w.config.Preapproved = "--approve"
	w.ends(w.run(), Escalated, "rounds")
	w.logged()
	if f := one[Refused](w.rig, StepRefused); f.Kind != NoWayBack || !strings.HasSuffix(f.Reason, "is no approval of that: answer the question without --approve") {
		t.Errorf("refused %+v", f)
	}
}

// TestARuleLiftsTheGuardOnlyOfWhatTheModelCallsIrreversible: reading the word is
// not enough.
func TestARuleLiftsTheGuardOnlyOfWhatTheModelCallsIrreversible(t *testing.T) {
	w := newWard(t, setup{policy: []string{"max_rounds", "1"}}, "{{undo}}", "", "{{goal}}", "ok(#)", `"key"]`, `"key", "!key"]`)
	w.config.Policy.Rules = rulesOf(t, `rule "odd" {
  when   = "!irreversible && action == 'drain'"
  effect = approve
}`)
	asked := w.asks(true)
	w.run()
	w.logged()
	if len(*asked) > 0 {
		t.Errorf("asked %+v", *asked)
	}
}

// TestAnApprovalThatWasTakenBackIsAskedForAnew, where somebody can be asked.
func TestAnApprovalThatWasTakenBackIsAskedForAnew(t *testing.T) {
	w := stopping(t, setup{policy: []string{"mode", `"approve"`}})
	asked := w.asks(true, true)
	w.on(RoundEnded, func(journal.Event) {
		_, err := store.Client().Delete(testCtx(t), w.config.Locker.Keys().Approval(w.events[0].Run), clientv3.WithPrefix())
		must(t, err)
	})
	end := w.run()
	w.ends(end, Escalated, "no_progress")
	w.logged("drain api", "mend api", "readd api")
	if len(*asked) != 2 || !slices.Equal((*asked)[1].Why, []string{"the approval by me was taken back"}) || len(end.NotRestored) > 0 {
		t.Errorf("asked %+v, end %+v", *asked, end)
	}
}

// TestNoQuestionIsPosedThatNobodyWaitsFor: the run is over in the same breath.
func TestNoQuestionIsPosedThatNobodyWaitsFor(t *testing.T) {
	w := stopping(t, setup{policy: []string{"pause_before", `["readd"]`}})
	w.config.Preapproved = "--approve"
	end := w.run()
	w.ends(end, Escalated, "no_progress")
	w.logged("drain api", "mend api")
	if asked := all[Asked](w.rig, ApprovalAsked); len(asked) > 0 {
		t.Errorf("posed %+v", asked)
	}
	if !strings.HasPrefix(reason(end), "a person was to approve readd(api), and did not: ") || !slices.Equal(end.WayBack, []string{"readd(api)"}) {
		t.Errorf("end %+v", end)
	}
}

// TestAStepIsRefusedWhoseWayBackNobodyApproved: what is asked before that one is
// gone came up after the plan was.
func TestAStepIsRefusedWhoseWayBackNobodyApproved(t *testing.T) {
	w := stopping(t, setup{policy: []string{"max_rounds", "1"}})
	w.on(StepAcquired, func(journal.Event) { w.config.Policy.Rules = rulesOf(t, backRule) })
	w.run()
	w.logged()
	if f := one[Refused](w.rig, StepRefused); f.Kind != NoWayBack || !strings.Contains(f.Reason, "the way back (readd(api)) needs a person") {
		t.Errorf("refused %+v", f)
	}
}

// TestReadsOfAWayAreObservedBeforeItCounts: what a search found it from was seen
// before another action, and is gone since.
func TestReadsOfAWayAreObservedBeforeItCounts(t *testing.T) {
	spare := []string{`action "mend" {`, `fluent "spare" {
  observe "exec" {
    command = ["cat", "{{dir}}/spare"]
    value   = "stdout == 'yes'"
  }
}
action "readmit" {
  params       = { s = service }
  precondition = ["!in_lb(s)", "spare"]
  cost         = 5
  effect { add = ["in_lb(s)"] }
  {{run}}
}
action "mend" {`, "{{goal}}", "ok(#)"}
	for _, there := range []bool{true, false} {
		w := newWard(t, setup{policy: []string{"max_rounds", "1"}}, spare...)
		w.write(t, "spare", "yes")
		w.on(StepAcquired, func(journal.Event) {
			w.write(t, "key", "no")
			if !there {
				w.write(t, "spare", "no")
			}
		})
		w.run()
		if !there {
			w.logged()
			if f := one[Refused](w.rig, StepRefused); f.Kind != NoWayBack {
				t.Errorf("refused %+v", f)
			}
			continue
		}
		w.logged("drain api", "mend api")
		a := all[Armed](w.rig, StepArmed)[0]
		if a.Way.How != BySearch || !slices.Equal(a.Way.Steps, []string{"readmit(api)"}) {
			t.Errorf("armed %+v", a.Way)
		}
	}
}
