package executor

import (
	"context"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/planner"
	"github.com/fettleops/fettle/policy"
)

// An approval is looked at once more by every action that is armed.
func TestAnApprovalThatHasGoneStopsTheNextAction(t *testing.T) {
	for name, tt := range map[string]struct {
		gone           func(r *rig, id string)
		status, reason string
		says           string
	}{
		"deleted": {func(r *rig, id string) {
			_, err := store.Client().Delete(testCtx(r), r.keys.Approval(id), clientv3.WithPrefix())
			must(r, err)
		}, WaitingStatus, "approval", "taken back"},
		"rejected": {func(r *rig, id string) {
			_, err := r.person().Reject(testCtx(r), id, Word{By: "bob"})
			must(r, err)
		}, Escalated, "rejected", "bob took the approval of the plan back"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, asking())
			r.config.Ask, r.yard.ok["api"] = yes, false
			r.see = func(kind string, e journalEvent) {
				if kind == StepAcquired && decoded[Acquired](t, e).Step == 2 {
					tt.gone(r, e.Run)
				}
			}
			end := r.run()
			r.ends(end, tt.status, tt.reason)
			r.did("stop(api)")
			if f := one[Refused](r, StepRefused); !strings.Contains(f.Reason, tt.says) {
				t.Errorf("refused: %+v", f)
			}
			r.clean()
		})
	}
}

func TestAnApprovalThatExpiresOnTheWayStopsTheNextAction(t *testing.T) {
	r := newRig(t, asking("approval_expires", `"1h"`))
	r.config.Ask, r.yard.ok["api"] = yes, false
	r.see = func(kind string, e journalEvent) {
		if kind == StepAcquired && decoded[Acquired](t, e).Step == 2 {
			r.config.Policy.ApprovalExpires = policy.AtMost(time.Nanosecond)
		}
	}
	end := r.run()
	r.ends(end, WaitingStatus, "approval")
	r.did("stop(api)")
	if f := one[Refused](r, StepRefused); !strings.Contains(f.Reason, "the approval by eve") || !strings.Contains(f.Reason, "has expired") {
		t.Errorf("refused: %+v", f)
	}
}

func TestAnExpiredApprovalIsNotGoneOnWith(t *testing.T) {
	s := asking("approval_expires", `"1h"`)
	r := askedAndLeft(t, s)
	r.approves(r.id(), "eve")
	next, id := r.next(s)
	next.config.Policy.ApprovalExpires = policy.AtMost(time.Nanosecond)
	next.ends(next.resume(id), WaitingStatus, "approval")
	next.did()
	if got := all[Approved](next, Approval); len(got) != 2 || got[0].Answer != "expired" || got[0].By != "eve" || got[1].Answer != "expired" || got[1].By != "" {
		t.Errorf("the journal tells %+v", got)
	}
}

func TestARejectedRunEndsWithoutAProcess(t *testing.T) {
	s := asking()
	r := askedAndLeft(t, s)
	p := r.person()
	rep, err := p.Reject(testCtx(t), r.id(), Word{By: "bob"})
	must(t, err)
	end, err := p.EndRejected(testCtx(t), rep)
	must(t, err)
	if end.Status != Escalated || end.Reason != "rejected" || end.Rounds != 1 || !strings.Contains(end.Message, "rejected by bob") {
		t.Errorf("ended %+v", end)
	}
	var kinds []string
	for e, err := range r.journal().Events(testCtx(t), r.id()) {
		must(t, err)
		kinds = append(kinds, e.Kind)
	}
	if n := len(kinds); kinds[n-2] != Approval || kinds[n-1] != RunEnded {
		t.Errorf("the journal ends with %v", kinds[n-2:])
	}
	next, id := r.next(s)
	if _, err := next.tryResume(testCtx(t), id); err == nil || !strings.Contains(err.Error(), "has ended: escalated (rejected)") {
		t.Errorf("gone on with: %v", err)
	}
	if left := next.keysBelow("approval/"); len(left) > 0 {
		t.Errorf("left in etcd: %v", left)
	}
}

// Feedback that comes while an approved plan is carried out ends the round
// before its next action, and the run plans anew.
func TestFeedbackTakesAnApprovalBackOnTheWay(t *testing.T) {
	r := newRig(t, asking())
	r.config.Ask, r.yard.ok["api"] = yes, false
	l := &listener{plans: [][]string{{"stop(api)", "mend(api)", "start(api)"}, {"mend(api)", "start(api)"}}, t: t}
	r.config.Proposers = []planner.Proposer{l}
	r.see = func(kind string, e journalEvent) {
		if kind == StepAcquired && decoded[Acquired](t, e).Round == 1 && decoded[Acquired](t, e).Step == 2 {
			_, err := r.person().Reject(testCtx(t), e.Run, Word{By: "bob", Feedback: "look first"})
			must(t, err)
		}
	}
	end := r.run()
	r.ends(end, Succeeded, "")
	r.did("stop(api)", "mend(api)", "start(api)")
	if got := one[RoundEnd](r, RoundEnded); end.Rounds != 2 || got.Kind != "rejected" || got.Reason != "the plan was rejected by bob: look first" {
		t.Errorf("%d rounds, %+v", end.Rounds, got)
	}
	if len(l.heard) != 2 || len(l.heard[1]) != 1 || l.heard[1][0].Feedback != "look first" {
		t.Errorf("the planner heard %+v", l.heard)
	}
}

// What a person takes back is every plan that stands approved, not a step that
// is behind the run.
func TestTakingBackIsOfThePlan(t *testing.T) {
	r := newRig(t, asking())
	r.config.AskSteps, r.yard.ok["api"] = true, false
	r.config.Ask = func(_ context.Context, q Question) (Answer, error) {
		return Answer{Asked: true, Yes: true, By: "eve"}, nil
	}
	r.see = func(kind string, e journalEvent) {
		if kind == StepAcquired && decoded[Acquired](t, e).Step == 2 {
			_, err := r.person().Reject(testCtx(t), e.Run, Word{By: "bob"})
			must(t, err)
		}
	}
	r.ends(r.run(), Escalated, "rejected")
	r.did("stop(api)")
}

// What is taken back before the run plans anew ends it, whatever it would plan.
func TestARejectionBeforeTheNextRoundCounts(t *testing.T) {
	r := newRig(t, asking())
	r.config.Ask, r.yard.ok["api"] = yes, false
	r.yard.on = failing("mend(api)", 1)
	r.see = func(kind string, e journalEvent) {
		if kind == RoundEnded && decoded[RoundEnd](t, e).Round == 1 {
			_, err := r.person().Reject(testCtx(t), e.Run, Word{By: "bob"})
			must(t, err)
		}
	}
	r.ends(r.run(), Escalated, "rejected")
	r.did("stop(api)", "mend(api)") // Which failed.
	if asked := all[Asked](r, ApprovalAsked); len(asked) != 1 {
		t.Errorf("asked %d times", len(asked))
	}
}

func TestAYesToEveryPlanBeforehandDoesNotExpireOnTheWay(t *testing.T) {
	r := newRig(t, asking("approval_expires", `"1h"`))
	r.config.Preapproved, r.yard.ok["api"] = "--approve", false
	r.see = func(kind string, e journalEvent) {
		if kind == StepAcquired && decoded[Acquired](t, e).Step == 2 {
			r.config.Policy.ApprovalExpires = policy.AtMost(time.Nanosecond)
		}
	}
	r.ends(r.run(), Succeeded, "")
	if a := one[Approved](r, Approval); a.How != "--approve" || a.Answer != "yes" {
		t.Errorf("the journal tells %+v", a)
	}
	if log := r.deedsOfPeople(); len(log) > 0 {
		t.Errorf("written down: %+v", log)
	}
}
