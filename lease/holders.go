package lease

import (
	"context"
	"fmt"
	"time"
)

// Holders returns who holds what stands in the way of the resources, without
// taking anything. Marks in doubt and tickets of those who wait are no holders.
func (l *Locker) Holders(ctx context.Context, want []Resource) ([]Holder, error) {
	f, err := newFootprint(want, 0)
	if err != nil {
		return nil, err
	}
	resp, err := l.txn(ctx, nil, looks(f.free(l.keys)), nil)
	if err != nil {
		return nil, fmt.Errorf("lease: look at who holds what: %w", err)
	}
	var out []Holder
	for _, kv := range found(resp) {
		if k, ok := l.keys.parse(string(kv.Key)); ok && !k.mark {
			out = append(out, holder(k, kv))
		}
	}
	return out, nil
}

// Times returns how long the locks of a silent holder are kept, and by how much
// a holder stops before that.
func (l *Locker) Times() (ttl, margin time.Duration) { return l.o.TTL, l.o.Margin }
