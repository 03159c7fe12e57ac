package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/world/redaction"
)

// Approver answers for a person what runs ask, from another process than theirs.
type Approver struct {
	Client  *clientv3.Client
	Locker  *lease.Locker
	Journal *journal.Journal
	Secrets []string           // texts that are kept out of the journal
	Redact  redaction.Patterns // of what is kept out besides
	Now     func() time.Time   // nil is time.Now
	Model   ModelOf            // as in a Canceller
}

// Word is what a person says to a question.
type Word struct {
	By       string
	Reason   string   // of a yes
	Feedback string   // with a no: what to do otherwise
	PlanHash string   // the beginning of the hash of the plan that is meant; "": whichever waits
	Plan     []string // ground actions of another plan, to be carried out in place of the one that waits
	Hash     string   // of that plan
	Why      []string // what that plan would be asked about because of
}

func (k Approver) now() time.Time {
	if k.Now != nil {
		return k.Now().UTC()
	}
	return time.Now().UTC()
}

// Pending returns the question of a run that waits for an answer. The error says
// why there is none: the run is over, or nothing of it waits.
func (k Approver) Pending(ctx context.Context, id string) (*Pending, error) {
	if _, err := k.alive(ctx, id); err != nil {
		return nil, err
	}
	p, err := pendingOf(ctx, k.Client, k.Locker.Keys(), id)
	if err != nil || p != nil {
		return p, err
	}
	why := "no plan of run " + id + " waits for an answer"
	all, _, err := repliesTo(ctx, k.Client, k.Locker.Keys(), id)
	if err == nil && len(all) > 0 {
		why += ": " + all[len(all)-1].was()
	}
	return nil, errors.New(why)
}

// was says what was answered before.
func (rep Reply) was() string {
	what := "the plan " + short(rep.PlanHash)
	if rep.Step > 0 {
		what = fmt.Sprintf("step %d of the plan %s", rep.Step, short(rep.PlanHash))
	}
	did := "rejected"
	if rep.yes() {
		did = "approved"
	}
	s := fmt.Sprintf("%s was %s by %s", what, did, rep.By)
	if rep.Host != "" {
		s += " on " + rep.Host
	}
	return s + " at " + rep.At.Local().Format(time.DateTime)
}

func short(hash string) string { return hash[:min(len(hash), shortHash)] }

// alive reads the head of a run that is not over.
func (k Approver) alive(ctx context.Context, id string) (Head, error) {
	h, err := readHead(ctx, k.Journal, id)
	if err == nil && h.over() {
		err = fmt.Errorf("run %s has ended: %s; nothing of it waits for an answer", id, h.ending())
	}
	return h, err
}

// Approve says yes to what waits, for a model of the hash given, or with
// w.Plan to another plan in its place. It is refused where the plan meant does
// not wait (any more), where the question has expired, and where the model is
// another than the run's.
func (k Approver) Approve(ctx context.Context, p Pending, modelHash string, w Word) (Reply, error) {
	now := k.now()
	switch {
	case !strings.HasPrefix(p.PlanHash, w.PlanHash):
		return Reply{}, fmt.Errorf("the plan that waits is %s, not %s: another was made meanwhile; look at it with `fettle show %s`", short(p.PlanHash), short(w.PlanHash), p.Run)
	case p.ModelHash != modelHash:
		return Reply{}, fmt.Errorf("the model or its variables are others than those that run %s was asked with; `fettle resume %s` plans anew with these", p.Run, p.Run)
	case p.Expires != nil && !now.Before(*p.Expires):
		return Reply{}, fmt.Errorf("the question of run %s expired at %s (approval_expires); `fettle resume %s` looks, plans and asks anew", p.Run, p.Expires.Local().Format(time.DateTime), p.Run)
	case len(w.Plan) > 0:
		if err := p.TakesPlan(); err != nil {
			return Reply{}, err
		}
	}
	rep := p.reply(w, now)
	rep.Answer, rep.Reason = AnswerYes, w.Reason
	if p.Expires != nil {
		at := now.Add(p.Expires.Sub(p.Since))
		rep.Expires = &at
	}
	if len(w.Plan) > 0 {
		rep.PlanHash, rep.Plan, rep.Why = w.Hash, w.Plan, w.Why
	}
	return rep, k.answer(ctx, p, rep, lease.DeedApprove)
}

// reply is what a person says, without the answer.
func (p Pending) reply(w Word, now time.Time) Reply {
	host, _ := identity()
	return Reply{
		Run: p.Run, Goal: p.Goal, ModelHash: p.ModelHash, PlanHash: p.PlanHash, Round: p.Round, Step: p.Step, By: w.By, Host: host,
		Why: p.Why, At: now,
	}
}

// TakesPlan says why no plan can be given in place of what waits; nil where one can.
func (p Pending) TakesPlan() error {
	switch {
	case p.Restore:
		return fmt.Errorf("run %s has stopped and asks about going back: no plan can be given in its place; approve or reject that, then start a run with `fettle run --plan`", p.Run)
	case p.Step > 0:
		return fmt.Errorf("run %s asks about step %d, %s, alone: no plan can be given in its place; reject it with --feedback to have it plan anew", p.Run, p.Step, p.Action)
	}
	return nil
}

// answer writes the reply down, if the question is still the one that was read.
func (k Approver) answer(ctx context.Context, p Pending, rep Reply, deed lease.Deed) error {
	keys := k.Locker.Keys()
	same := clientv3.Compare(clientv3.ModRevision(questionKey(keys, p.Run)), "=", p.revision)
	revision, err := give(ctx, k.Client, keys, rep, deed, same)
	if err != nil || revision > 0 {
		return err
	}
	if _, err := k.Pending(ctx, p.Run); err != nil {
		return fmt.Errorf("it was not answered: %w", err)
	}
	return fmt.Errorf("it was not answered: run %s asks something else by now; look at it with `fettle show %s`", p.Run, p.Run)
}

// Reject says no to what waits, or takes back the last approval of a plan where
// nothing does. What is under way is ended by whoever drives the run, before its
// next action.
func (k Approver) Reject(ctx context.Context, id string, w Word) (Reply, error) {
	if _, err := k.alive(ctx, id); err != nil {
		return Reply{}, err
	}
	p, err := pendingOf(ctx, k.Client, k.Locker.Keys(), id)
	if err != nil {
		return Reply{}, err
	}
	if p == nil {
		return k.takeBack(ctx, id, w)
	}
	if !strings.HasPrefix(p.PlanHash, w.PlanHash) {
		return Reply{}, fmt.Errorf("the plan that waits is %s, not %s; look at it with `fettle show %s`", short(p.PlanHash), short(w.PlanHash), id)
	}
	rep := p.reply(w, k.now())
	rep.Answer, rep.Feedback = AnswerNo, w.Feedback
	return rep, k.answer(ctx, *p, rep, lease.DeedReject)
}

// takeBack turns what was approved into a no: what is armed after it is refused.
// Those are the plans that stand approved, all of them where none is named, or
// where only steps are approved those.
func (k Approver) takeBack(ctx context.Context, id string, w Word) (Reply, error) {
	all, _, err := repliesTo(ctx, k.Client, k.Locker.Keys(), id)
	if err != nil {
		return Reply{}, err
	}
	stands := func(rep Reply) bool { return rep.yes() && strings.HasPrefix(rep.PlanHash, w.PlanHash) }
	plans := slices.ContainsFunc(all, func(rep Reply) bool { return stands(rep) && rep.Step == 0 })
	var last Reply
	for _, rep := range all {
		if !stands(rep) || plans && rep.Step > 0 {
			continue
		}
		if last, err = k.turn(ctx, rep, w); err != nil {
			return last, err
		}
	}
	if last.Run == "" {
		return last, fmt.Errorf("no plan of run %s waits for an answer, and none is approved; `fettle cancel %s` ends the run", id, id)
	}
	return last, nil
}

// turn makes a no of one yes, unless it has changed meanwhile.
func (k Approver) turn(ctx context.Context, rep Reply, w Word) (Reply, error) {
	keys := k.Locker.Keys()
	same := clientv3.Compare(clientv3.ModRevision(keys.Approval(replyID(rep.Run, rep.PlanHash, rep.Step))), "=", rep.revision)
	rep.Answer, rep.By, rep.At = AnswerNo, w.By, k.now()
	rep.Host, _ = identity()
	rep.Feedback, rep.Reason, rep.Expires, rep.Plan = w.Feedback, "", nil, nil
	revision, err := give(ctx, k.Client, keys, rep, lease.DeedReject, same)
	if err == nil && revision == 0 {
		err = fmt.Errorf("the approval has just been changed by somebody else; look at `fettle show %s`", rep.Run)
	}
	return rep, err
}

// EndRejected ends a run that was rejected and that nobody drives. It returns a
// *lease.OwnedError where a process does: that one ends it.
func (k Approver) EndRejected(ctx context.Context, rep Reply) (Ended, error) {
	owner, err := k.Locker.ClaimRun(ctx, rep.Run, lease.Owner{Reason: "to end it, as it was rejected"})
	if err != nil {
		return Ended{}, err
	}
	end := Ended{Status: Escalated, Reason: "rejected", Message: "the plan was rejected by " + rep.By}
	if rep.Step > 0 {
		end.Message = fmt.Sprintf("step %d of the plan was rejected by %s", rep.Step, rep.By)
	}
	c := Canceller{Client: k.Client, Locker: k.Locker, Journal: k.Journal, Secrets: k.Secrets, Redact: k.Redact, Model: k.Model}
	return c.endIt(ctx, owner, rep.Run, end, rep.event(rep.Round))
}
