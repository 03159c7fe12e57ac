package lease

import (
	"cmp"
	"context"
	"slices"

	"go.etcd.io/etcd/api/v3/mvccpb"
)

// AllHolders lists what is held in the scope, marks in doubt apart (see Intents), in the order of the keys.
func (l *Locker) AllHolders(ctx context.Context) ([]Holder, error) {
	var out []Holder
	err := l.each(ctx, string(l.keys)+"k/", func(kv *mvccpb.KeyValue) error {
		if k, ok := l.keys.parse(string(kv.Key)); ok && !k.mark {
			out = append(out, holder(k, kv))
		}
		return nil
	})
	return out, err
}

// AllWaiting lists the tickets of those who wait in the scope, oldest first within each fluent's queue.
func (l *Locker) AllWaiting(ctx context.Context) ([]Holder, error) {
	var out []Holder
	err := l.each(ctx, string(l.keys)+"q/", func(kv *mvccpb.KeyValue) error {
		out = append(out, l.ticket(kv))
		return nil
	})
	slices.SortStableFunc(out, func(a, b Holder) int {
		return cmp.Or(cmp.Compare(a.Resource.Fluent, b.Resource.Fluent), cmp.Compare(a.Fence, b.Fence))
	})
	return out, err
}
