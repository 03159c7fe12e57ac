package lease

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkGuardedAction compares acquire, arm and finish with three bare puts
// on the same etcd, taken in turn so that a noisy disk hits both. Goal: at most 1.5.
func BenchmarkGuardedAction(b *testing.B) {
	l := newLocker(b, store.Client(), newScope(b), Options{})
	ctx := testCtx(b)
	rs := []Resource{x("in_lb", "api"), s("in_lb", ""), s("up", "db")}
	var guarded, bare time.Duration
	n := 0
	for b.Loop() {
		n++
		begin := time.Now()
		h, err := l.Acquire(ctx, Owner{Run: "r"}, rs)
		must(b, err)
		must(b, h.Arm(ctx, Intent{ID: fmt.Sprint(b.N, "-", n)}, nil, nil))
		must(b, h.Finish(ctx, Outcome{Result: Applied}, nil))
		guarded += time.Since(begin)
		begin = time.Now()
		for i := range 3 {
			_, err := store.Client().Put(ctx, fmt.Sprint(string(l.keys), "bare", i), "v")
			must(b, err)
		}
		bare += time.Since(begin)
	}
	b.ReportMetric(float64(guarded)/float64(bare), "x-three-puts")
	b.ReportMetric(float64(guarded.Microseconds())/float64(n), "µs/action")
}
