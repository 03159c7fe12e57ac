package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/lease"
)

// approval is a person's yes to a plan. It is kept in the store, where Arm
// compares it: whoever deletes it takes it back, before the next action.
type approval struct {
	at       time.Time
	id       string
	revision int64
}

// approvalRecord is what is kept of an approval.
type approvalRecord struct {
	Run      string    `json:"run"`
	Goal     string    `json:"goal"`
	PlanHash string    `json:"plan_hash"`
	By       string    `json:"by,omitempty"`
	At       time.Time `json:"at"`
}

func approvalID(run, planHash string) string { return run + "-" + planHash }

// grant keeps an approval, before the journal tells of it.
func (r *run) grant(ctx context.Context, planHash, by string) error {
	rec := approvalRecord{Run: r.Journal.ID(), Goal: r.GoalName, PlanHash: planHash, By: by, At: r.Now().UTC()}
	raw, err := json.Marshal(rec)
	if err != nil {
		return fmt.Errorf("keep the approval: %w", err)
	}
	ctx, cancel := r.recording(ctx)
	defer cancel()
	a := approval{at: rec.At, id: approvalID(rec.Run, planHash)}
	resp, err := r.Beliefs.Client.Put(ctx, r.Locker.Keys().Approval(a.id), string(raw))
	if err != nil {
		return fmt.Errorf("keep the approval: %w", err)
	}
	a.revision = resp.Header.Revision
	r.approved[planHash] = a
	return nil
}

// approvalGood tells whether an approval has not expired.
func (r *run) approvalGood(a approval) bool {
	lasts := r.Policy.ApprovalExpires
	return !lasts.Set || r.Now().Sub(a.at) < lasts.Value
}

// standing finds the approvals that the journal tells of in the store. One that
// is no longer there was taken back.
func (r *run) standing(ctx context.Context) error {
	ctx, cancel := r.recording(ctx)
	defer cancel()
	for hash, a := range r.approved {
		a.id = approvalID(r.Journal.ID(), hash)
		resp, err := r.Beliefs.Client.Get(ctx, r.Locker.Keys().Approval(a.id))
		if err != nil {
			return fmt.Errorf("read the approval of a plan: %w", err)
		}
		if len(resp.Kvs) == 0 {
			delete(r.approved, hash)
			continue
		}
		a.revision = resp.Kvs[0].ModRevision
		r.approved[hash] = a
	}
	return nil
}

// forget removes what is kept for a run that is over: what cancelled it, and
// the approvals of its plans.
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
