package ledger

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/policy"
)

// spare is how many actions that are too old to count are left until they are
// deleted together, and how many newer ones have to bear the time out by which
// they are too old: a clock that is ahead would have to begin so many actions
// before anything is deleted that others still count.
const spare = 100

// prune returns the operation that deletes what is too old to count, nil while
// that is little or not sure. What cannot be read now is left to the next action.
func (l *Ledger) prune(ctx context.Context, now time.Time) []clientv3.Op {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	first := l.keys.Deeds()
	old, err := l.cli.Get(ctx, first, clientv3.WithRange(l.keys.DeedsFrom(now.Add(-kept))), clientv3.WithCountOnly())
	if err != nil || old.Count < spare {
		return nil
	}
	newest, err := l.cli.Get(ctx, first, clientv3.WithPrefix(), clientv3.WithLimit(spare), clientv3.WithSort(clientv3.SortByKey, clientv3.SortDescend))
	if err != nil || len(newest.Kvs) < spare {
		return nil
	}
	deeds, err := decodeDeeds([]policy.Deed(nil), newest.Kvs[spare-1:])
	if err != nil {
		return nil
	}
	if seen := deeds[0].At; seen.Before(now) {
		now = seen
	}
	return []clientv3.Op{clientv3.OpDelete(first, clientv3.WithRange(l.keys.DeedsFrom(now.Add(-kept))))}
}
