package ledger

import (
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/policy"
)

// BenchmarkAction is the lease protocol of one action: bare, counted, and
// counted under limits that are asked.
func BenchmarkAction(b *testing.B) {
	for name, s := range map[string]*policy.Shared{
		"bare": nil, "counted": {}, "limited": {Window: time.Hour, MaxTotal: policy.AtMost(1 << 30), MaxPerObject: policy.AtMost(1 << 30), Cooldown: policy.AtMost(time.Nanosecond)},
	} {
		b.Run(name, func(b *testing.B) { benchmarkAction(b, s) })
	}
}

// within is how many actions there are to be counted at most.
const within = 20

func benchmarkAction(b *testing.B, s *policy.Shared) {
	c := newController(b, newKeys(b))
	for b.Loop() {
		c.clock.at = c.clock.at.Add(time.Hour/within + time.Nanosecond)
		held, err := c.locker.Acquire(b.Context(), lease.Owner{Run: "r"}, []lease.Resource{{Fluent: "f", Exclusive: true}})
		must(b, err)
		d := deed("r", "act", "api")
		var cmps []clientv3.Cmp
		var ops []clientv3.Op
		if s != nil {
			t, no, err := c.Reserve(b.Context(), *s, d)
			must(b, err)
			if no != nil {
				b.Fatal(no.Reason)
			}
			cmps, ops = t.Cmps, t.Ops
		}
		must(b, held.Arm(b.Context(), lease.Intent{ID: d.ID}, cmps, ops))
		must(b, held.Finish(b.Context(), lease.Outcome{Result: lease.Applied}, nil))
	}
}
