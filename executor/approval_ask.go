package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/lease"
)

// obtain gets a person's answer to a question: from whoever is at the
// terminal of the run, or by a command from elsewhere, whichever comes first.
// Nil: nobody has answered, and the run does not wait for it.
func (r *run) obtain(ctx context.Context, q Question) (*Reply, *Ended, error) {
	if r.Preapproved != "" && q.Step == nil {
		return r.keepBlanket(ctx, q)
	}
	p, end, err := r.pose(ctx, q)
	if end != nil || err != nil {
		return nil, end, err
	}
	a, found, err := r.hear(ctx, q, *p)
	switch cut := r.cut(ctx, "a person was asked"); {
	case found != nil:
		return found, nil, nil
	case cut != nil:
		return nil, cut, nil
	case err != nil:
		return nil, nil, fmt.Errorf("ask for approval: %w", err)
	case a.Asked:
		return r.keepAnswer(ctx, q, *p, a)
	case p.Expires != nil && !r.Now().Before(*p.Expires):
		end, err := r.outdated(ctx, q)
		return nil, end, err
	}
	return nil, nil, nil
}

// pose keeps the question in the store, where it can be answered from then on,
// and tells of it.
func (r *run) pose(ctx context.Context, q Question) (*Pending, *Ended, error) {
	now := r.Now().UTC()
	p := &Pending{
		Run: r.Journal.ID(), Goal: r.GoalName, ModelHash: r.ModelHash, PlanHash: q.Plan.PlanHash, Round: r.round, Step: q.step(),
		Cost: q.Plan.Cost, Why: q.Why, By: r.By, Restore: q.Restore, Since: now, Expires: expiry(r.Policy, now),
	}
	p.Host, p.PID = identity()
	for _, s := range q.Plan.Steps[:min(len(q.Plan.Steps), maxPosed)] {
		p.Plan = append(p.Plan, s.Action)
	}
	p.More = len(q.Plan.Steps) - len(p.Plan)
	if q.Step != nil {
		p.Action = q.Step.Action
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return nil, nil, fmt.Errorf("keep the question: %w", err)
	}
	rctx, cancel := r.recording(ctx)
	defer cancel()
	resp, err := r.Beliefs.Client.Txn(rctx).If(r.owner.Cmp()).
		Then(clientv3.OpPut(questionKey(r.Locker.Keys(), p.Run), string(r.Journal.Redacted(raw)))).Commit()
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("keep the question: %w", err)
	case !resp.Succeeded:
		return nil, r.lostRun(), nil
	}
	p.revision = resp.Header.Revision
	if q.Step == nil {
		r.askedWith(p.PlanHash, q.Plan, r.round)
	}
	return p, nil, r.emit(ctx, ApprovalAsked, Asked{
		Round: r.round, Step: p.Step, Action: p.Action, PlanHash: p.PlanHash, Why: q.Why, Expires: p.Expires, Restore: p.Restore,
	})
}

// unask takes a question back that is no longer one.
func (r *run) unask(ctx context.Context) error {
	ctx, cancel := r.recording(ctx)
	defer cancel()
	_, err := r.Beliefs.Client.Txn(ctx).If(r.owner.Cmp()).Then(clientv3.OpDelete(questionKey(r.Locker.Keys(), r.Journal.ID()))).Commit()
	if err != nil {
		return fmt.Errorf("take the question back: %w", err)
	}
	return nil
}

// hear asks whoever is at the terminal while it looks out for an answer from
// elsewhere, which counts at once. Without a terminal it waits for that one
// where the run is to, until the question expires or the run's deadline.
func (r *run) hear(ctx context.Context, q Question, p Pending) (Answer, *Reply, error) {
	ctx, cancel := r.bounded(ctx)
	defer cancel()
	if p.Expires != nil {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, p.Expires.Sub(r.Now()))
		defer stop()
	}
	actx, stop := context.WithCancel(ctx)
	defer stop()
	var found *Reply
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		found = awaitReply(actx, r.Beliefs.Client, r.Locker.Keys(), p.Run, p.revision)
		stop()
	}()
	var a Answer
	var err error
	if r.Ask != nil {
		a, err = r.Ask(actx, q)
	}
	if err != nil || a.Asked || !r.Wait {
		stop()
	}
	<-heard
	return a, found, err
}

// reply is an answer given at the terminal of the run.
func (r *run) reply(q Question, a Answer) Reply {
	now := r.Now().UTC()
	rep := Reply{
		Run: r.Journal.ID(), Goal: r.GoalName, ModelHash: r.ModelHash, PlanHash: q.Plan.PlanHash, Round: r.round, Step: q.step(),
		Answer: AnswerNo, By: a.By, Why: q.Why, Feedback: a.Feedback, At: now,
	}
	if a.Yes {
		rep.Answer, rep.Expires = AnswerYes, expiry(r.Policy, now)
	}
	return rep
}

// keepBlanket keeps the yes that was given to every plan beforehand. Who gave it
// is written down once.
func (r *run) keepBlanket(ctx context.Context, q Question) (*Reply, *Ended, error) {
	rep := r.reply(q, Answer{Yes: true, By: r.By})
	rep.How = r.Preapproved
	rep.Host, _ = identity()
	deed := lease.DeedApprove
	if rep.By == r.blanket { // The audit record wants a name, too.
		deed = ""
	}
	kept, end, err := r.keep(ctx, rep, deed)
	if kept != nil {
		r.blanket = rep.By
	}
	return kept, end, err
}

// keepAnswer keeps what was answered at the terminal of the run, unless another
// answer came before it.
func (r *run) keepAnswer(ctx context.Context, q Question, p Pending, a Answer) (*Reply, *Ended, error) {
	deed := lease.DeedReject
	if a.Yes {
		deed = lease.DeedApprove
	}
	k := r.Locker.Keys()
	rep := r.reply(q, a)
	if rep.By == "" { // The audit record wants a name.
		deed = ""
	}
	kept, end, err := r.keep(ctx, rep, deed, clientv3.Compare(clientv3.ModRevision(questionKey(k, p.Run)), "=", p.revision))
	if kept != nil || end != nil || err != nil {
		return kept, end, err
	}
	all, _, err := repliesTo(ctx, r.Beliefs.Client, k, p.Run)
	for _, rep := range all {
		if rep.revision > p.revision {
			return &rep, nil, nil
		}
	}
	return nil, nil, err
}

// keep writes an answer down before the journal tells of it; nil where a
// condition does not hold.
func (r *run) keep(ctx context.Context, rep Reply, deed lease.Deed, cmps ...clientv3.Cmp) (*Reply, *Ended, error) {
	ctx, cancel := r.recording(ctx)
	defer cancel()
	revision, err := give(ctx, r.Beliefs.Client, r.Locker.Keys(), rep, deed, cmps...)
	if err != nil || revision == 0 {
		return nil, nil, err
	}
	rep.revision = revision
	return &rep, nil, nil
}

// replyAt reads one answer, nil where there is none.
func (r *run) replyAt(ctx context.Context, id string) (*Reply, error) {
	ctx, cancel := r.recording(ctx)
	defer cancel()
	resp, err := r.Beliefs.Client.Get(ctx, r.Locker.Keys().Approval(id))
	if err != nil {
		return nil, fmt.Errorf("read the approval of a plan: %w", err)
	}
	if len(resp.Kvs) == 0 {
		return nil, nil
	}
	rep := &Reply{revision: resp.Kvs[0].ModRevision}
	if err := json.Unmarshal(resp.Kvs[0].Value, rep); err != nil {
		return nil, fmt.Errorf("the approval %s cannot be read: %w", id, err)
	}
	return rep, nil
}

// outdated ends a run whose question nobody has answered in time.
func (r *run) outdated(ctx context.Context, q Question) (*Ended, error) {
	ev := Approved{Round: r.round, Step: q.step(), Answer: AnswerExpired, PlanHash: q.Plan.PlanHash}
	return &Ended{
		Status: WaitingStatus, Reason: approvalWanted,
		Message: fmt.Sprintf("nobody answered whether %s may be carried out within approval_expires = %s; `fettle resume %s` looks, plans and asks anew",
			q.what(), r.Policy.ApprovalExpires.Value, r.Journal.ID()),
	}, r.tell(ctx, ev)
}

// lapsed tells what became of the approval that Arm refused an action without.
func (g *guard) lapsed(ctx context.Context) *failure {
	ctx, cancel := g.recording(ctx)
	defer cancel()
	for _, a := range []*approval{g.stepYes, g.approval} {
		if a == nil {
			continue
		}
		rep, err := g.replyAt(ctx, a.id)
		switch {
		case err != nil:
			return &failure{kind: "approval", infra: true, reason: "whether the approval stands is not known, nothing was done: " + err.Error()}
		case rep == nil:
			return g.withdrawn("the approval of the plan was taken back")
		case !rep.yes():
			return g.takenBack(ctx, *rep)
		case rep.revision != a.revision:
			return g.withdrawn("the approval of the plan was replaced by another")
		case !g.approvalGood(*a):
			return g.withdrawn(fmt.Sprintf("the approval by %s, of %s, has expired", a.by, a.at.Local().Format(time.DateTime)))
		}
	}
	return nil // It stands again by now: only this try was refused.
}

// withdrawn waits for another approval.
func (g *guard) withdrawn(reason string) *failure {
	reason += "; nothing was done"
	return &failure{kind: "approval", reason: reason, end: &Ended{
		Status: WaitingStatus, Reason: approvalWanted, Message: reason + "; `fettle resume " + g.Journal.ID() + "` looks, plans and asks anew",
	}}
}

// takenBack follows a no to what was approved before.
func (g *guard) takenBack(ctx context.Context, rep Reply) *failure {
	what := "the plan"
	if rep.Step != 0 {
		what = g.ref.Action
	}
	f := rep.failure(what)
	if g.untold(rep) {
		if err := g.tell(ctx, rep.event(g.round)); err != nil {
			return f // The store is gone: what follows meets that.
		}
	}
	if rep.Feedback == "" {
		f.end = &Ended{Status: Escalated, Reason: "rejected", Message: fmt.Sprintf("%s took the approval of %s back", rep.By, what)}
		f.reason = f.end.Message
		return f
	}
	g.rejected[rep.PlanHash] = rep
	return f
}
