package ledger

import (
	"context"
	"encoding/json"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/policy"
)

// GoalRuns are the last runs towards a goal.
type GoalRuns struct {
	Goal string              `json:"goal"` // as a ground atom
	Runs []policy.RunOutcome `json:"runs"`

	revision int64
}

// Begin asks the policy whether a run towards a goal may begin its first round,
// given the runs before it, and writes down that it has begun. It is called once
// the goal is observed not to hold, and again by a run that goes on; one that has
// acted is not refused later. A run that was begun, did not end and is driven by
// nobody counts as one without success: its process died.
func (l *Ledger) Begin(ctx context.Context, s policy.Shared, goal, run string, acted bool) (*policy.SharedRefusal, error) {
	var no *policy.SharedRefusal
	err := l.change(ctx, goal, func(g GoalRuns) ([]policy.RunOutcome, []clientv3.Op, error) {
		for i := range g.Runs { // One whose process died could not say so.
			g.Runs[i].Acted = g.Runs[i].Acted || acted && g.Runs[i].Run == run
		}
		var runs []policy.RunOutcome
		runs, no = s.Begins(goal, g.Runs, run, l.now().UTC())
		return runs, nil, nil
	})
	return no, err
}

// Ended writes down how a run ended, or that it waits.
func (l *Ledger) Ended(ctx context.Context, goal string, o policy.RunOutcome) error {
	if o.At.IsZero() {
		o.At = l.now().UTC()
	}
	return l.change(ctx, goal, func(g GoalRuns) ([]policy.RunOutcome, []clientv3.Op, error) {
		return policy.FollowRuns(g.Runs, o), nil, nil
	})
}

// NothingToResetError says that no run towards the goal counts against it.
type NothingToResetError struct{ Goal string }

func (e *NothingToResetError) Error() string {
	return fmt.Sprintf("no run towards %s counts against it; `fettle breaker` lists the goals", e.Goal)
}

// Reset lets the count of runs without success begin anew for a goal, by a
// person's word, with an audit record. It returns the runs as they were, and a
// *NothingToResetError where there are none.
func (l *Ledger) Reset(ctx context.Context, goal, by, reason string) (GoalRuns, error) {
	rec, err := lease.NewAudit(l.now(), lease.DeedReset, by, reason)
	if err != nil {
		return GoalRuns{}, err
	}
	rec.Goal = goal
	audit, err := rec.Op(l.keys)
	if err != nil {
		return GoalRuns{}, err
	}
	var was GoalRuns
	err = l.change(ctx, goal, func(g GoalRuns) ([]policy.RunOutcome, []clientv3.Op, error) {
		if was = g; !policy.ToReset(g.Runs) {
			return nil, nil, &NothingToResetError{goal}
		}
		o := policy.RunOutcome{Status: policy.RunsReset, Reason: reason, By: by, At: rec.Time}
		return policy.FollowRuns(g.Runs, o), []clientv3.Op{audit}, nil
	})
	return was, err
}

// Goals returns the goals that runs were begun towards, in the order of their names.
func (l *Ledger) Goals(ctx context.Context) ([]GoalRuns, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var out []GoalRuns
	from, to := l.keys.Goals(), clientv3.GetPrefixRangeEnd(l.keys.Goals())
	for {
		resp, err := l.cli.Get(ctx, from, clientv3.WithRange(to), clientv3.WithLimit(page))
		if err != nil {
			return nil, fmt.Errorf("read the runs towards goals: %w", err)
		}
		for _, kv := range resp.Kvs {
			g, err := l.decode(ctx, kv)
			if err != nil {
				return nil, err
			}
			out = append(out, g)
		}
		if !resp.More {
			return out, nil
		}
		from = string(resp.Kvs[len(resp.Kvs)-1].Key) + "\x00"
	}
}

// change replaces the runs towards a goal by what follows from them, as often as
// another has changed them meanwhile.
func (l *Ledger) change(ctx context.Context, goal string, next func(GoalRuns) ([]policy.RunOutcome, []clientv3.Op, error)) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	key := l.keys.Goal(goal)
	for {
		g, err := l.goal(ctx, goal)
		if err != nil {
			return err
		}
		runs, ops, err := next(g)
		if err != nil {
			return err
		}
		raw, err := json.Marshal(GoalRuns{Goal: goal, Runs: runs})
		if err != nil {
			return fmt.Errorf("record the runs towards %s: %w", goal, err)
		}
		same := clientv3.Compare(clientv3.ModRevision(key), "=", g.revision)
		resp, err := l.cli.Txn(ctx).If(same).Then(append(ops, clientv3.OpPut(key, string(raw)))...).Commit()
		if err != nil {
			return fmt.Errorf("record the runs towards %s: %w", goal, err)
		}
		if resp.Succeeded {
			return nil
		}
	}
}

// goal reads the runs towards a goal.
func (l *Ledger) goal(ctx context.Context, goal string) (GoalRuns, error) {
	resp, err := l.cli.Get(ctx, l.keys.Goal(goal))
	if err != nil {
		return GoalRuns{}, fmt.Errorf("read the runs towards %s: %w", goal, err)
	}
	if len(resp.Kvs) == 0 {
		return GoalRuns{Goal: goal}, nil
	}
	return l.decode(ctx, resp.Kvs[0])
}

// decode reads a record, and looks which of the runs under way nobody drives.
func (l *Ledger) decode(ctx context.Context, kv *mvccpb.KeyValue) (GoalRuns, error) {
	g := GoalRuns{revision: kv.ModRevision}
	if err := json.Unmarshal(kv.Value, &g); err != nil {
		return g, fmt.Errorf("the record %s of runs cannot be read: %w", kv.Key, err)
	}
	for i, o := range g.Runs {
		if o.Status != policy.RunUnderWay {
			continue
		}
		resp, err := l.cli.Get(ctx, l.keys.RunOwner(o.Run), clientv3.WithCountOnly())
		if err != nil {
			return g, fmt.Errorf("look whether run %s is driven: %w", o.Run, err)
		}
		if resp.Count == 0 {
			g.Runs[i].Status = policy.RunLost
		}
	}
	return g, nil
}
