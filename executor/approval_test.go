package executor

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fettleops/fettle/lease"
)

// asking is a policy that asks about every plan.
func asking(more ...string) setup {
	return setup{policy: append([]string{"mode", `"approve"`}, more...)}
}

// person answers runs of the rig's scope from another process than theirs.
func (r *rig) person() Approver {
	k := r.other()
	return Approver{Client: store.Client(), Locker: k, Journal: r.journal()}
}

// approves says yes to what waits of a run.
func (r *rig) approves(id, by string) Reply {
	r.Helper()
	p := r.person()
	q, err := p.Pending(testCtx(r), id)
	must(r, err)
	rep, err := p.Approve(testCtx(r), *q, r.config.ModelHash, Word{By: by, Reason: "agreed"})
	must(r, err)
	return rep
}

func (r *rig) deedsOfPeople() []lease.AuditRecord {
	r.Helper()
	log, err := r.other().AuditLog(testCtx(r))
	must(r, err)
	return log
}

func (r *rig) id() string { return r.events[0].Run }

// askedAndLeft is a run that has ended waiting for an approval.
func askedAndLeft(t *testing.T, s setup) *rig {
	t.Helper()
	r := newRig(t, s)
	r.yard.ok["api"] = false
	r.ends(r.run(), WaitingStatus, "approval")
	return r
}

func TestAQuestionWaitsInTheStoreAndInTheJournal(t *testing.T) {
	s := asking("approval_expires", `"1h"`)
	r := newRig(t, s)
	r.config.By, r.yard.ok["api"] = "eve", false
	r.ends(r.run(), WaitingStatus, "approval")
	plan := one[Plan](r, PlanAccepted)
	q, err := r.person().Pending(testCtx(t), r.id())
	must(t, err)
	if !slices.Equal(q.Plan, []string{"stop(api)", "mend(api)", "start(api)"}) || q.PlanHash != plan.PlanHash || q.ModelHash != r.config.ModelHash ||
		q.Goal != "healthy" || q.By != "eve" || !slices.Equal(q.Why, []string{`mode = "approve"`}) || q.Step != 0 || q.Round != 1 {
		t.Errorf("it waits %+v", q)
	}
	if q.Expires == nil || q.Expires.Sub(q.Since) != time.Hour {
		t.Errorf("asked at %s until %v", q.Since, q.Expires)
	}
	a := one[Asked](r, ApprovalAsked)
	if a.PlanHash != plan.PlanHash || !slices.Equal(a.Why, q.Why) || a.Expires == nil || !a.Expires.Equal(*q.Expires) {
		t.Errorf("the journal tells %+v", a)
	}
}

func TestAnApprovedPlanIsCarriedOutWithoutPlanningAnew(t *testing.T) {
	s := asking("max_rounds", "1", "max_repeats", "1")
	r := askedAndLeft(t, s)
	rep := r.approves(r.id(), "eve")
	next, id := r.next(s)
	next.plan("nothing()") // Whoever is asked for another plan has none.
	next.ends(next.resume(id), Succeeded, "")
	next.did("stop(api)", "mend(api)", "start(api)")
	next.clean()
	if a := one[Attempt](next, AttemptMade); a.Planner != "approved plan" || a.Verdict != "pass" {
		t.Errorf("attempt %+v", a)
	}
	a := one[Approved](next, Approval)
	if a.Answer != "yes" || a.By != "eve" || a.Host == "" || a.At == nil || !a.At.Equal(rep.At) || a.PlanHash != one[Plan](r, PlanAccepted).PlanHash || a.Reason != "agreed" {
		t.Errorf("the journal tells %+v", a)
	}
	log := r.deedsOfPeople()
	if len(log) != 1 || log[0].Deed != lease.DeedApprove || log[0].By != "eve" || log[0].Run != id || log[0].Plan != a.PlanHash || log[0].Reason != "agreed" {
		t.Errorf("written down: %+v", log)
	}
	if left := next.keysBelow("approval/"); len(left) > 0 {
		t.Errorf("left in etcd: %v", left)
	}
}

func TestAnApprovalIsVoidOnceThePlanIsNoLongerValid(t *testing.T) {
	s := asking()
	r := askedAndLeft(t, s)
	r.approves(r.id(), "eve")
	r.yard.set(func() { r.yard.up["db"] = false }) // To stop another would be one too many.
	next, id := r.next(s)
	next.ends(next.resume(id), WaitingStatus, "approval")
	next.did()
	var answers []string
	for _, a := range all[Approved](next, Approval) {
		answers = append(answers, a.Answer)
	}
	if want := []string{"yes", "void", "none"}; !slices.Equal(answers, want) {
		t.Errorf("answers %v, want %v", answers, want)
	}
	q, err := next.person().Pending(testCtx(t), id)
	must(t, err)
	if want := one[Plan](next, PlanAccepted); q.PlanHash != want.PlanHash || len(q.Plan) != 4 {
		t.Errorf("asked about %v, the plan is %+v", q.Plan, want)
	}
}

func TestWhatCannotBeApproved(t *testing.T) {
	s := asking("approval_expires", `"1h"`)
	r := askedAndLeft(t, s)
	p, ctx := r.person(), testCtx(t)
	q, err := p.Pending(ctx, r.id())
	must(t, err)
	refused := func(name, want string, p Approver, q Pending, modelHash string, w Word) {
		t.Helper()
		w.By = "eve"
		if _, err := p.Approve(ctx, q, modelHash, w); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	late := p
	late.Now = func() time.Time { return time.Now().Add(61 * time.Minute) }
	refused("an expired question", "expired at", late, *q, q.ModelHash, Word{})
	refused("another model", "the model or its variables are others", p, *q, "another", Word{})
	refused("another plan", "not 0123456789ab: another was made meanwhile", p, *q, q.ModelHash, Word{PlanHash: "0123456789abcdef"})
	other := *q
	other.revision--
	refused("another question", "asks something else by now", p, other, q.ModelHash, Word{})
	if got, _, err := repliesTo(ctx, store.Client(), r.keys, r.id()); err != nil || len(got) > 0 {
		t.Errorf("kept %+v %v", got, err)
	}

	r.approves(r.id(), "eve")
	refused("what was answered", "the plan "+q.PlanHash[:12]+" was approved by eve", p, *q, q.ModelHash, Word{})
	next, id := r.next(s)
	next.ends(next.resume(id), Succeeded, "")
	if _, err := p.Pending(ctx, id); err == nil || !strings.Contains(err.Error(), "has ended: succeeded") {
		t.Errorf("a run that is over: %v", err)
	}
	if _, err := p.Reject(ctx, id, Word{By: "eve"}); err == nil || !strings.Contains(err.Error(), "has ended: succeeded") {
		t.Errorf("a run that is over: %v", err)
	}
}

func TestOfTwoWhoAnswerOneCounts(t *testing.T) {
	s := asking()
	r := askedAndLeft(t, s)
	p, ctx := r.person(), testCtx(t)
	q, err := p.Pending(ctx, r.id())
	must(t, err)
	const people = 8
	errs := make(chan error, people)
	for i := range people {
		go func() {
			var err error
			if i%2 == 0 {
				_, err = p.Approve(ctx, *q, q.ModelHash, Word{By: "eve"})
			} else {
				_, err = p.Reject(ctx, q.Run, Word{By: "bob", PlanHash: q.PlanHash})
			}
			errs <- err
		}()
	}
	counted := 0
	for range people {
		if <-errs == nil {
			counted++
		}
	}
	// A no after the yes takes it back; a yes after the no, and a second yes, do not count.
	var yes, after int
	for _, rec := range r.deedsOfPeople() {
		if rec.Deed == lease.DeedApprove {
			yes++
			after = 0
		} else {
			after++
		}
	}
	all, _, err := repliesTo(ctx, store.Client(), r.keys, q.Run)
	must(t, err)
	if counted == 0 || yes > 1 || after > 1 || len(all) != 1 || all[0].yes() != (after == 0) {
		t.Errorf("%d approvals, then %d rejections, and what stands is %+v", yes, after, all)
	}
}

// The question is in the store before anybody is told of it, so that an answer
// that comes at once is not lost.
func TestAnAnswerGivenBeforeTheRunWaitsIsNotLost(t *testing.T) {
	for _, wait := range []bool{true, false} {
		s := asking()
		r := newRig(t, s)
		r.config.Wait, r.yard.ok["api"] = wait, false
		r.see = func(kind string, e journalEvent) {
			if kind == ApprovalAsked {
				r.approves(e.Run, "eve")
			}
		}
		end := r.run()
		if end.Status == WaitingStatus && !wait { // It had not looked again: whoever goes on does.
			next, id := r.next(s)
			end = next.resume(id)
			r = next
		}
		r.ends(end, Succeeded, "")
		r.did("stop(api)", "mend(api)", "start(api)")
	}
}

// elsewhere stands for a person at the terminal who never says a word.
func elsewhere(ctx context.Context, _ Question) (Answer, error) {
	<-ctx.Done()
	return Answer{}, nil
}

func TestAnAnswerFromElsewhereCountsWhileTheTerminalIsAsked(t *testing.T) {
	for name, yes := range map[string]bool{"yes": true, "no": false} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, asking())
			r.config.Ask, r.yard.ok["api"] = func(ctx context.Context, q Question) (Answer, error) {
				go func() {
					if yes {
						r.approves(r.id(), "eve")
					} else if _, err := r.person().Reject(testCtx(t), r.id(), Word{By: "eve"}); err != nil {
						t.Error(err)
					}
				}()
				return elsewhere(ctx, q)
			}, false
			end := r.run()
			if yes {
				r.ends(end, Succeeded, "")
			} else {
				r.ends(end, Escalated, "rejected")
				r.did()
			}
			if a := one[Approved](r, Approval); a.Answer != name || a.By != "eve" || a.Host == "" {
				t.Errorf("the journal tells %+v", a)
			}
		})
	}
}

// The person at the terminal answers when somebody else just has.
func TestTheFirstAnswerCountsNotTheOneAtTheTerminal(t *testing.T) {
	r := newRig(t, asking())
	r.config.Ask, r.yard.ok["api"] = func(context.Context, Question) (Answer, error) {
		r.approves(r.id(), "eve")
		return Answer{Asked: true, By: "bob"}, nil
	}, false
	r.ends(r.run(), Succeeded, "")
	if a := one[Approved](r, Approval); a.Answer != "yes" || a.By != "eve" {
		t.Errorf("the journal tells %+v", a)
	}
}

func TestWaitingEndsWithTheQuestionAndWithTheDeadline(t *testing.T) {
	r := newRig(t, asking("approval_expires", `"50ms"`))
	r.config.Wait, r.yard.ok["api"] = true, false
	end := r.run()
	r.ends(end, WaitingStatus, "approval")
	if got := all[Approved](r, Approval); len(got) != 1 || got[0].Answer != "expired" || !strings.Contains(end.Message, "approval_expires = 50ms") {
		t.Errorf("%+v, %s", got, end.Message)
	}

	r = newRig(t, asking("deadline", `"500ms"`))
	r.config.Wait, r.yard.ok["api"] = true, false
	r.ends(r.run(), Escalated, "deadline")
	r.did()
}

func TestAWaitingRunStopsWhenItIsAskedTo(t *testing.T) {
	r := newRig(t, asking())
	stop := make(chan struct{})
	r.config.Wait, r.config.Stop, r.yard.ok["api"] = true, stop, false
	r.see = func(kind string, _ journalEvent) {
		if kind == ApprovalAsked {
			close(stop)
		}
	}
	r.ends(r.run(), Cancelled, "")
}
