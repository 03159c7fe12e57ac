package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/policy"
)

// Ticket lets one action be counted. Its conditions and operations ride in the
// transaction that arms the action, see lease.Held.Arm; a ticket that is not
// used has no effect.
type Ticket struct {
	Deed policy.Deed // as it is recorded, with its time
	Cmps []clientv3.Cmp
	Ops  []clientv3.Op

	count string
}

// Raced tells whether arming was refused because another controller has begun
// an action since the ticket was given, and for no other reason: reserve anew.
func (t *Ticket) Raced(err *lease.RefusedError) bool {
	return len(t.Cmps) > 0 && !err.Exists && !slices.ContainsFunc(err.Keys, func(key string) bool { return key != t.count })
}

// Reserve asks the policy whether the action may be begun now, given what all
// controllers did, and returns the ticket that counts it, or why it may not be
// begun. Its time is filled in. Under limits that count no actions it is only
// recorded.
func (l *Ledger) Reserve(ctx context.Context, s policy.Shared, d policy.Deed) (*Ticket, *policy.SharedRefusal, error) {
	d.At = l.now().UTC()
	t, err := l.ticket(d)
	if err != nil {
		return nil, nil, err
	}
	t.Ops = append(t.Ops, l.prune(ctx, d.At)...)
	if !s.LimitsActions() {
		return t, nil, nil
	}
	history, count, err := l.counted(ctx, s.Reach())
	if err != nil {
		return nil, nil, err
	}
	if no := s.Acts(history, []policy.Deed{d}, d.At); no != nil {
		return nil, no, nil
	}
	t.Cmps = []clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(t.count), "=", count)}
	return t, nil, nil
}

// Fits asks the policy whether all the actions of a plan may be begun, given
// what all controllers did until now, so that no plan is begun that would be
// stopped half-way. Nothing is reserved.
func (l *Ledger) Fits(ctx context.Context, s policy.Shared, plan []policy.Deed) (*policy.SharedRefusal, error) {
	if !s.LimitsActions() || len(plan) == 0 {
		return nil, nil
	}
	history, _, err := l.counted(ctx, s.Reach())
	if err != nil {
		return nil, err
	}
	return s.Acts(history, plan, l.now()), nil
}

// Uses returns how much of the limits on actions is used now.
func (l *Ledger) Uses(ctx context.Context, s policy.Shared) ([]policy.SharedUse, error) {
	if !s.LimitsActions() {
		return nil, nil
	}
	history, _, err := l.counted(ctx, s.Reach())
	if err != nil {
		return nil, err
	}
	return s.Uses(history, l.now()), nil
}

// Withdrawn returns the operations by which an armed action that was not begun
// no longer counts. The action is that of its ticket.
func (l *Ledger) Withdrawn(d policy.Deed) []clientv3.Op {
	return []clientv3.Op{clientv3.OpDelete(l.keys.Deed(d.ID, d.At))}
}

// ticket records the action and tells all others.
func (l *Ledger) ticket(d policy.Deed) (*Ticket, error) {
	raw, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("record %s: %w", d.Ground, err)
	}
	t := &Ticket{Deed: d, count: l.keys.DeedCount()}
	t.Ops = []clientv3.Op{
		clientv3.OpPut(l.keys.Deed(d.ID, d.At), string(raw)),
		clientv3.OpPut(t.count, d.ID),
	}
	return t, nil
}
