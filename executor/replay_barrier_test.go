package executor

import (
	"fmt"
	"testing"
	"time"

	"github.com/fettleops/fettle/executor/ledger"
	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/policy"
)

// rule is the text of one.
func rule(name, effect, when string) string {
	return "rule \"" + name + "\" {\n  effect = " + effect + "\n  when   = \"" + when + "\"\n}\n"
}

// TestRulingOnAWayBackIsReplayed promises that what the rules say of a way back is
// derived from the way back, and not from the plan of the round.
func TestRulingOnAWayBackIsReplayed(t *testing.T) {
	for name, rules := range map[string]string{
		"a question of a step": rule("asks", "approve", "action == 'readd' && plan.length == 1 && times('mend', '1h') > 0"),
		"a step allowed":       rule("lets", "allow", "action == 'readd' && plan.length == 1 && times('mend', '1h') > 0"),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWard(t, setup{policy: []string{"on_stop", `"restore"`, "same_failure_retries", "1"}})
			w.config.Policy.Rules = rulesOf(t, rules)
			w.write(t, "fail-mend-api", "")
			w.ends(w.run(), Escalated, "no_progress") // Which is replayed.
			if n := len(all[RestorePlan](w.rig, RestorePlanned)); n != 1 {
				t.Fatalf("%d ways back were gone: %v", n, w.kinds())
			}
			var back Ruled
			for _, v := range all[Ruled](w.rig, RulesAsked) {
				if v.Step == 0 {
					back = v
				}
			}
			if len(back.Facts.Plan.Actions) != 1 || back.Facts.Plan.Actions[0] != "readd" {
				t.Errorf("the rules were asked about %v last", back.Facts.Plan.Actions)
			}
		})
	}
}

// clockAt is a clock that a test puts forward.
type clockAt struct{ ahead time.Duration }

// clockFrom is a clock that shows a time of day now, and goes on.
func clockFrom(hour, minute, second int) (*clockAt, func() time.Time) {
	c, began := &clockAt{}, time.Now()
	day := time.Date(2026, 6, 1, hour, minute, second, 0, time.UTC)
	return c, func() time.Time { return day.Add(time.Since(began) + c.ahead) }
}

const noonRule = "action == 'mend' && during('daily', '12:00-13:00', 'UTC')"

// TestAWindowThatClosesBetweenPlanAndStep promises that a step which was allowed
// when it was planned, and is not when its turn comes, ends the run: it waits
// until the window opens, unless it has left things worse.
func TestAWindowThatClosesBetweenPlanAndStep(t *testing.T) {
	opens := time.Date(2026, 6, 1, 13, 0, 0, 0, time.UTC)
	closes := func(c *clockAt) func(string, journal.Event) {
		acquired := 0
		return func(kind string, _ journal.Event) {
			if kind == StepAcquired {
				if acquired++; acquired == 2 { // The step is mend.
					c.ahead = 10 * time.Second
				}
			}
		}
	}
	t.Run("it waits", func(t *testing.T) {
		r := newRig(t, setup{})
		r.yard.ok["api"] = false
		r.config.Policy.Rules = rulesOf(t, rule("noon", "deny", noonRule))
		var c *clockAt
		c, r.config.Now = clockFrom(11, 59, 55)
		r.see = closes(c)
		end := r.run()
		r.ends(end, WaitingStatus, Window)
		r.did("stop(api)")
		if end.Opens == nil || !end.Opens.Equal(opens) {
			t.Errorf("it opens at %v", end.Opens)
		}
		names(t, r.tampered(t, RunEnded, "reason", policy.Denied), RunEnded, "reason")
	})
	t.Run("nothing is left worse for so long", func(t *testing.T) {
		w := newWard(t, setup{policy: []string{"on_stop", `"restore"`}})
		w.config.Policy.Rules = rulesOf(t, rule("noon", "deny", noonRule))
		var c *clockAt
		c, w.config.Now = clockFrom(11, 59, 55)
		w.see = closes(c)
		end := w.run()
		w.ends(end, Escalated, policy.Denied)
		w.logged("drain api", "readd api")
		if end.Opens == nil || !end.Opens.Equal(opens) {
			t.Errorf("it opens at %v", end.Opens)
		}
		names(t, w.tampered(t, RunEnded, "status", WaitingStatus), RunEnded, "status")
	})
}

// counts makes others have begun an action so many times.
func (r *rig) counts(n int, action string) {
	r.Helper()
	l := ledger.New(store.Client(), r.keys, nil)
	for i := range n {
		d := policy.Deed{ID: fmt.Sprintf("other-%s-%d", action, i), Run: "other", Action: action, Ground: action}
		ticket, _, err := l.Reserve(testCtx(r), policy.Shared{}, d)
		must(r, err)
		_, err = store.Client().Txn(testCtx(r)).Then(ticket.Ops...).Commit()
		must(r, err)
	}
}

// TestALimitMetAtAStep promises that a shared limit which others used up after the
// plan was accepted has the run wait, unless it has left things worse.
func TestALimitMetAtAStep(t *testing.T) {
	used := func(r *rig) func(string, journal.Event) {
		acquired := 0
		return func(kind string, _ journal.Event) {
			if kind == StepAcquired {
				if acquired++; acquired == 2 {
					r.counts(3, "other")
				}
			}
		}
	}
	limit := policy.Shared{Window: time.Hour, MaxTotal: policy.AtMost(3)}
	t.Run("it waits", func(t *testing.T) {
		r := newRig(t, setup{})
		r.yard.ok["api"] = false
		r.config.Policy.Shared = limit
		r.see = used(r)
		end := r.run()
		r.ends(end, WaitingStatus, policy.Limited)
		r.did("stop(api)")
		if end.Opens == nil {
			t.Error("it does not say when it goes by")
		}
		names(t, r.tampered(t, RunEnded, "status", Escalated), RunEnded, "status")
	})
	t.Run("nothing is left worse for so long", func(t *testing.T) {
		w := newWard(t, setup{policy: []string{"on_stop", `"restore"`}})
		w.config.Policy.Shared = limit
		w.see = used(w.rig)
		w.ends(w.run(), Escalated, policy.Limited)
		w.logged("drain api", "readd api")
	})
	t.Run("of a plan", func(t *testing.T) {
		r := newRig(t, setup{})
		r.yard.ok["api"] = false
		r.config.Policy.Shared = limit
		r.counts(3, "other")
		r.ends(r.run(), WaitingStatus, policy.Limited)
		r.did()
	})
}

// failures makes others have failed to reach the rig's goal.
func (r *rig) failures(n int) {
	r.Helper()
	l := ledger.New(store.Client(), r.keys, nil)
	for i := range n {
		must(r, l.Ended(testCtx(r), r.config.GoalName, policy.RunOutcome{Run: fmt.Sprint("other-", i), Status: FailedStatus, Acted: true}))
	}
}

// TestABreakerThatOpensWhileARunWaits promises that a run which has done nothing
// yet is held to what others did while a person was asked.
func TestABreakerThatOpensWhileARunWaits(t *testing.T) {
	breaker := policy.Shared{Breaker: policy.AtMost(2)}
	t.Run("gone on with", func(t *testing.T) {
		r := newRig(t, asking())
		r.yard.ok["api"] = false
		r.config.Policy.Shared = breaker
		r.ends(r.run(), WaitingStatus, approvalWanted)
		r.approves(r.id(), "ada")
		r.failures(2)
		r.ends(r.resume(r.id()), Escalated, policy.Broken)
		r.did()
		r.replays()
	})
	t.Run("while it asks", func(t *testing.T) {
		r := newRig(t, asking())
		r.yard.ok["api"] = false
		r.config.Policy.Shared = breaker
		r.see = func(kind string, _ journal.Event) {
			if kind == Approval {
				r.failures(2)
			}
		}
		r.config.Preapproved = "ada"
		r.ends(r.run(), Escalated, policy.Broken)
		r.did()
	})
	t.Run("not once it has acted", func(t *testing.T) {
		r := newRig(t, setup{})
		r.yard.ok["api"] = false
		r.config.Policy.Shared = breaker
		acted := 0
		r.see = func(kind string, _ journal.Event) {
			if kind == StepFinished {
				if acted++; acted == 1 {
					r.failures(2)
				}
			}
		}
		r.ends(r.run(), Succeeded, "")
	})
}

// TestRulesSeeEveryAction promises that a rule counts more actions than the ledger
// reads at once, and that a run that was ruled on so is replayed: from the actions
// that the rules counted or, where those are too many, as it was recorded.
func TestRulesSeeEveryAction(t *testing.T) {
	first := newRig(t, setup{})
	const many = maxHistory + 1
	first.counts(many, "other")
	first.counts(3, "mend")
	for _, tt := range []struct {
		name, rules string
		cited, more int
	}{
		{"few of many", rule("few", "allow", "times('mend', '1h') == 3"), 3, 0},
		{"all", rule("all", "allow", fmt.Sprintf("times('other', '1h') == %d", many)), 0, many},
		{"none of them at the plan", rule("step", "allow", "action == 'mend' && times(args.s, '1h') == 0"), 0, 0},
	} {
		r := newRig(t, setup{beside: first})
		r.yard.ok["api"] = false
		r.config.Policy.Rules = rulesOf(t, tt.rules)
		r.ends(r.run(), Succeeded, "")
		ruled := all[Ruled](r, RulesAsked)
		if got := ruled[0]; len(got.Facts.History) != tt.cited || got.HistoryMore != tt.more || len(ruled) < 2 {
			t.Errorf("%s: cites %d actions and %d more, in %d rulings", tt.name, len(got.Facts.History), got.HistoryMore, len(ruled))
		}
	}
	r := newRig(t, setup{beside: first})
	r.yard.ok["api"] = false
	r.config.Policy.Rules = rulesOf(t, rule("no", "deny", fmt.Sprintf("times('other', '1h') >= %d", many)))
	r.ends(r.run(), WaitingStatus, Window)
}
