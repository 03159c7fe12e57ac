package executor

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/lease"
)

// Pending is a question that waits in the store for a person's answer. There is
// one for each run at most.
type Pending struct {
	Run       string     `json:"run"`
	Goal      string     `json:"goal"`
	ModelHash string     `json:"model_hash"`
	PlanHash  string     `json:"plan_hash"`
	Round     int        `json:"round"`
	Step      int        `json:"step,omitempty"`   // of the plan, which is asked about alone; 0: the whole plan
	Action    string     `json:"action,omitempty"` // of that step
	Plan      []string   `json:"plan"`             // ground actions
	More      int        `json:"more,omitempty"`   // steps that Plan has no room for
	Cost      float64    `json:"cost"`             // of the plan
	Why       []string   `json:"why"`              // what it is asked because of
	By        string     `json:"by,omitempty"`     // who drives the run
	Host      string     `json:"host"`
	PID       int        `json:"pid"`
	Restore   bool       `json:"restore,omitempty"` // it is about going back, after the run stopped
	Since     time.Time  `json:"since"`
	Expires   *time.Time `json:"expires,omitempty"` // it can be answered until then; nil: for as long as the run waits

	revision int64
}

// maxPosed is how many steps of a plan a question lists.
const maxPosed = 500

// Reply is a person's answer as the store keeps it: the last one that was given
// to a plan, or to a step of it. A yes is what Arm compares: whoever deletes or
// replaces it takes it back, before the next action.
type Reply struct {
	Run       string     `json:"run"`
	Goal      string     `json:"goal"`
	ModelHash string     `json:"model_hash,omitempty"`
	PlanHash  string     `json:"plan_hash"`
	Round     int        `json:"round,omitempty"`
	Step      int        `json:"step,omitempty"`
	Answer    string     `json:"answer,omitempty"` // yes or no; "" in records of older versions: yes
	By        string     `json:"by,omitempty"`
	Host      string     `json:"host,omitempty"`
	How       string     `json:"how,omitempty"` // it was given, where not by a person who was asked: --approve
	Why       []string   `json:"why,omitempty"` // what was asked because of
	Reason    string     `json:"reason,omitempty"`
	Feedback  string     `json:"feedback,omitempty"` // with a no: what to do otherwise; "": the run ends
	At        time.Time  `json:"at"`
	Expires   *time.Time `json:"expires,omitempty"`
	Plan      []string   `json:"plan,omitempty"` // ground actions, where the plan is the person's own

	revision int64
}

func (rep Reply) yes() bool { return rep.Answer == AnswerYes || rep.Answer == "" }

// event is what the journal tells of the reply.
func (rep Reply) event(round int) Approved {
	answer := AnswerNo
	if rep.yes() {
		answer = AnswerYes
	}
	return Approved{
		Round: round, Step: rep.Step, Answer: answer, By: rep.By, Host: rep.Host, How: rep.How, At: &rep.At, Expires: rep.Expires,
		PlanHash: rep.PlanHash, Edited: len(rep.Plan) > 0, Reason: rep.Reason, Feedback: rep.Feedback,
	}
}

// beforehand says that every plan of the run was approved before there was one,
// "" where a person was asked about the plan.
func (rep Reply) beforehand() string {
	if rep.How == "" {
		return ""
	}
	return rep.How + ", to every plan of the run beforehand"
}

// approvalID names a reply to a plan.
func approvalID(run, planHash string) string { return run + "-" + planHash }

// replyID names a reply to a plan, or to a step of it.
func replyID(run, planHash string, step int) string {
	if step == 0 {
		return approvalID(run, planHash)
	}
	return fmt.Sprintf("%s-%d", approvalID(run, planHash), step)
}

// questionKey is where the question of a run is kept, beside the replies.
func questionKey(k lease.Keys, run string) string { return k.Approval(run + "-question") }

// pendingOf reads the question that waits for an answer, nil where none does.
func pendingOf(ctx context.Context, cli *clientv3.Client, k lease.Keys, run string) (*Pending, error) {
	ctx, cancel := context.WithTimeout(ctx, beliefTimeout)
	defer cancel()
	resp, err := cli.Get(ctx, questionKey(k, run))
	if err != nil {
		return nil, fmt.Errorf("read the question of run %s: %w", run, err)
	}
	if len(resp.Kvs) == 0 {
		return nil, nil
	}
	p := &Pending{}
	if err := json.Unmarshal(resp.Kvs[0].Value, p); err != nil {
		return nil, fmt.Errorf("the question of run %s cannot be read: %w", run, err)
	}
	p.revision = resp.Kvs[0].ModRevision
	return p, nil
}

// repliesTo reads what people answered to a run, the oldest first, and the
// revision at which they were read.
func repliesTo(ctx context.Context, cli *clientv3.Client, k lease.Keys, run string) ([]Reply, int64, error) {
	ctx, cancel := context.WithTimeout(ctx, beliefTimeout)
	defer cancel()
	resp, err := cli.Get(ctx, k.Approval(approvalID(run, "")), clientv3.WithPrefix())
	if err != nil {
		return nil, 0, fmt.Errorf("read the approvals of run %s: %w", run, err)
	}
	var out []Reply
	for _, kv := range resp.Kvs {
		if string(kv.Key) == questionKey(k, run) {
			continue
		}
		rep := Reply{revision: kv.ModRevision}
		if err := json.Unmarshal(kv.Value, &rep); err != nil {
			return nil, 0, fmt.Errorf("the approval %s cannot be read: %w", kv.Key, err)
		}
		out = append(out, rep)
	}
	slices.SortFunc(out, func(a, b Reply) int { return cmp.Compare(a.revision, b.revision) })
	return out, resp.Header.Revision, nil
}

// awaitReply returns the first reply that is newer than a revision, or nil at
// the end of ctx. It watches from the revision at which it has looked: nothing
// is lost in between.
func awaitReply(ctx context.Context, cli *clientv3.Client, k lease.Keys, run string, after int64) *Reply {
	for {
		all, revision, err := repliesTo(ctx, cli, k, run)
		for _, rep := range all {
			if rep.revision > after {
				return &rep
			}
		}
		if err == nil {
			wctx, cancel := context.WithCancel(ctx)
			below := k.Approval(approvalID(run, ""))
			for resp := range cli.Watch(wctx, below, clientv3.WithPrefix(), clientv3.WithRev(revision+1), clientv3.WithFilterDelete()) {
				if len(resp.Events) > 0 {
					break // Which is read again.
				}
			}
			cancel()
		}
		if pause(ctx, lookAgain) != nil {
			return nil
		}
	}
}

// give writes a reply down, with an audit record where a person gave it, if the
// conditions hold. It returns the revision, 0 where a condition does not hold.
func give(ctx context.Context, cli *clientv3.Client, k lease.Keys, rep Reply, deed lease.Deed, cmps ...clientv3.Cmp) (int64, error) {
	raw, err := json.Marshal(rep)
	if err != nil {
		return 0, fmt.Errorf("keep the answer: %w", err)
	}
	ops := []clientv3.Op{
		clientv3.OpPut(k.Approval(replyID(rep.Run, rep.PlanHash, rep.Step)), string(raw)), clientv3.OpDelete(questionKey(k, rep.Run)),
	}
	if deed != "" {
		rec, err := lease.NewAudit(rep.At, deed, rep.By, cmp.Or(rep.Reason, rep.Feedback, rep.beforehand(), "none given"))
		if err != nil {
			return 0, err
		}
		rec.Run, rec.Plan, rec.Step = rep.Run, rep.PlanHash, rep.Step
		op, err := rec.Op(k)
		if err != nil {
			return 0, err
		}
		ops = append(ops, op)
	}
	ctx, cancel := context.WithTimeout(ctx, beliefTimeout)
	defer cancel()
	resp, err := cli.Txn(ctx).If(cmps...).Then(ops...).Commit()
	switch {
	case err != nil:
		return 0, fmt.Errorf("keep the answer: it is not known whether etcd has it, look again: %w", err)
	case !resp.Succeeded:
		return 0, nil
	}
	return resp.Header.Revision, nil
}

// forget removes what is kept for a run that is over: what cancelled it, its
// question, and the answers to its plans.
func forget(ctx context.Context, cli *clientv3.Client, k lease.Keys, run string) error {
	ctx, cancel := context.WithTimeout(ctx, beliefTimeout)
	defer cancel()
	_, err := cli.Txn(ctx).Then(
		clientv3.OpDelete(cancelKey(k, run)), clientv3.OpDelete(k.Approval(approvalID(run, "")), clientv3.WithPrefix()),
	).Commit()
	if err != nil {
		return fmt.Errorf("tidy up after run %s: %w", run, err)
	}
	return nil
}
