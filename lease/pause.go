package lease

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// PauseRecord says who paused everything, and why.
type PauseRecord struct {
	By     string    `json:"by"`
	Host   string    `json:"host,omitempty"`
	Reason string    `json:"reason"`
	Since  time.Time `json:"since"`
}

func (p PauseRecord) String() string {
	if p.By == "" {
		return "actions are paused"
	}
	return fmt.Sprintf("actions are paused by %s since %s: %s", p.By, p.Since.Format(time.RFC3339), p.Reason)
}

// Pause pulls the kill switch: nothing is armed in the scope, by any controller,
// until Unpause. What is armed already goes on. Where it is paused already, that
// record stands and is returned, with true.
func (l *Locker) Pause(ctx context.Context, by, reason string) (PauseRecord, bool, error) {
	rec, err := l.audit(DeedPause, by, reason)
	if err != nil {
		return PauseRecord{}, false, err
	}
	p := PauseRecord{By: by, Host: rec.Host, Reason: reason, Since: rec.Time}
	raw, err := json.Marshal(p)
	if err != nil {
		return PauseRecord{}, false, fmt.Errorf("lease: pause: %w", err)
	}
	resp, err := l.toggle(ctx, absent(l.keys.Pause()), rec, clientv3.OpPut(l.keys.Pause(), string(raw)))
	if err != nil {
		return PauseRecord{}, false, err
	}
	if !resp.Succeeded {
		return *decodePause(answer(resp, 0)), true, nil
	}
	return p, false, nil
}

// Unpause releases the kill switch. It returns the record of the pause, and false where there was none.
func (l *Locker) Unpause(ctx context.Context, by, reason string) (PauseRecord, bool, error) {
	rec, err := l.audit(DeedUnpause, by, reason)
	if err != nil {
		return PauseRecord{}, false, err
	}
	was, paused, err := l.Paused(ctx)
	if err != nil || !paused {
		return was, false, err
	}
	exists := clientv3.Compare(clientv3.CreateRevision(l.keys.Pause()), ">", 0)
	resp, err := l.toggle(ctx, exists, rec, clientv3.OpDelete(l.keys.Pause()))
	if err != nil {
		return was, false, err
	}
	return was, resp.Succeeded, nil
}

// Paused tells whether everything is paused, and by whom.
func (l *Locker) Paused(ctx context.Context) (PauseRecord, bool, error) {
	ctx, cancel := l.bounded(ctx)
	defer cancel()
	resp, err := l.cli.Get(ctx, l.keys.Pause())
	if err != nil {
		return PauseRecord{}, false, fmt.Errorf("lease: whether actions are paused: %w", err)
	}
	if len(resp.Kvs) == 0 {
		return PauseRecord{}, false, nil
	}
	return *decodePause(resp.Kvs[0]), true, nil
}

// toggle changes the kill switch, with an audit record.
func (l *Locker) toggle(ctx context.Context, cond clientv3.Cmp, rec AuditRecord, change clientv3.Op) (*clientv3.TxnResponse, error) {
	audit, err := l.auditOp(rec)
	if err != nil {
		return nil, err
	}
	resp, err := l.txn(ctx, []clientv3.Cmp{cond}, []clientv3.Op{change, audit}, []clientv3.Op{clientv3.OpGet(l.keys.Pause())})
	if err != nil {
		return nil, fmt.Errorf("lease: %s: the answer was lost, look again: %w", rec.Deed, err)
	}
	return resp, nil
}
