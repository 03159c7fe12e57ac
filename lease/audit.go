package lease

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Deed is what a person did to the leases.
type Deed string

// What people do.
const (
	DeedBreak   Deed = "break"
	DeedPause   Deed = "pause"
	DeedUnpause Deed = "unpause"
	DeedResolve Deed = "resolve"
	DeedReset   Deed = "reset"
	DeedApprove Deed = "approve"
	DeedReject  Deed = "reject"
)

// AuditRecord says who did what to the leases, and why. It is never deleted by fettle.
type AuditRecord struct {
	ID     string    `json:"id"` // A ULID: in the order of time.
	Time   time.Time `json:"time"`
	Deed   Deed      `json:"deed"`
	By     string    `json:"by"`
	Host   string    `json:"host"`
	Reason string    `json:"reason"`

	Resources []Resource `json:"resources,omitempty"` // Of a break: what was held.
	Token     int64      `json:"token,omitempty"`     // Of a break.
	Holder    *Owner     `json:"holder,omitempty"`    // Of a break: whose it was.
	Intent    string     `json:"intent,omitempty"`    // Of a resolution.
	Result    Result     `json:"result,omitempty"`    // Of a resolution.
	Goal      string     `json:"goal,omitempty"`      // Of a reset: the count of runs towards it begins anew.
	Run       string     `json:"run,omitempty"`       // Of an approval or a rejection.
	Plan      string     `json:"plan,omitempty"`      // Of an approval or a rejection: the hash of the plan that it is for.
	Step      int        `json:"step,omitempty"`      // Of an approval or a rejection of one step of that plan: its number.
}

// audit begins a record.
func (l *Locker) audit(deed Deed, by, reason string) (AuditRecord, error) {
	return NewAudit(l.o.Now(), deed, by, reason)
}

// NewAudit begins a record. People say who they are and why.
func NewAudit(now time.Time, deed Deed, by, reason string) (AuditRecord, error) {
	if by == "" || reason == "" {
		return AuditRecord{}, errors.New("lease: say who does it and why; both are written down")
	}
	return AuditRecord{ID: ulid.MustNew(ulid.Timestamp(now), rand.Reader).String(), Time: now.UTC(), Deed: deed, By: by, Host: Owner{}.filled().Host, Reason: reason}, nil
}

func (l *Locker) auditOp(rec AuditRecord) (clientv3.Op, error) { return rec.Op(l.keys) }

// Op writes the record down, in the transaction that does the deed.
func (rec AuditRecord) Op(k Keys) (clientv3.Op, error) {
	raw, err := json.Marshal(rec)
	if err != nil {
		return clientv3.Op{}, fmt.Errorf("lease: audit: %w", err)
	}
	return clientv3.OpPut(k.Audit(rec.ID), string(raw)), nil
}

// AuditLog returns what people did to the leases of the scope, oldest first.
func (l *Locker) AuditLog(ctx context.Context) ([]AuditRecord, error) {
	var out []AuditRecord
	err := l.each(ctx, l.keys.Audit(""), func(kv *mvccpb.KeyValue) error {
		var rec AuditRecord
		if err := json.Unmarshal(kv.Value, &rec); err != nil {
			return fmt.Errorf("lease: record %s cannot be read: %w", kv.Key, err)
		}
		out = append(out, rec)
		return nil
	})
	return out, err
}
