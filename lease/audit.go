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
}

// audit begins a record. People say who they are and why.
func (l *Locker) audit(deed Deed, by, reason string) (AuditRecord, error) {
	if by == "" || reason == "" {
		return AuditRecord{}, errors.New("lease: say who does it and why; both are written down")
	}
	return AuditRecord{ID: ulid.MustNew(ulid.Timestamp(l.o.Now()), rand.Reader).String(), Time: l.o.Now().UTC(), Deed: deed, By: by, Host: Owner{}.filled().Host, Reason: reason}, nil
}

// op writes the record down, in the transaction that does the deed.
func (l *Locker) auditOp(rec AuditRecord) (clientv3.Op, error) {
	raw, err := json.Marshal(rec)
	if err != nil {
		return clientv3.Op{}, fmt.Errorf("lease: audit: %w", err)
	}
	return clientv3.OpPut(l.keys.Audit(rec.ID), string(raw)), nil
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
