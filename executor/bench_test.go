package executor

import (
	"fmt"
	"testing"
	"time"

	"github.com/fettleops/fettle/journal"
	"github.com/fettleops/fettle/lease"
)

// BenchmarkGuardedAction compares the three transactions of a guarded action
// that does nothing, its events riding in them, with three bare puts on the
// same etcd, in turn, so that a noisy disk hits both. Goal: at most 1.5.
func BenchmarkGuardedAction(b *testing.B) {
	keys := lease.Keys(store.Scope(b.Name()))
	l := lease.New(store.Client(), string(keys), lease.Options{})
	defer l.Close()
	run, err := journal.Open(store.Client(), string(keys)).Start(b.Context(), nil)
	must(b, err)
	want := []lease.Resource{x("in_lb", "api"), {Fluent: "in_lb"}, {Fluent: "up", Instance: "db"}}
	var guarded, bare time.Duration
	n := 0
	for b.Loop() {
		n++
		begin := time.Now()
		guardedNoop(b, l, run, want, n)
		guarded += time.Since(begin)
		begin = time.Now()
		for i := range 3 {
			_, err := store.Client().Put(b.Context(), fmt.Sprintf("%sbare/%d", keys, i), "a value of about the size of an event's key and head")
			must(b, err)
		}
		bare += time.Since(begin)
	}
	b.ReportMetric(float64(guarded)/float64(bare), "x-three-puts")
	b.ReportMetric(float64(guarded.Microseconds())/float64(n), "µs/action")
}

func guardedNoop(b *testing.B, l *lease.Locker, run *journal.Run, want []lease.Resource, n int) {
	ref := StepRef{Round: 1, Step: n, Action: "drain(api)", ActionID: fmt.Sprintf("%s-%d-%d", run.ID(), b.N, n)}
	ride := func(kind string, data any) journal.Entry {
		e, err := run.Ride(kind, data)
		must(b, err)
		return e
	}
	held, err := l.Acquire(b.Context(), lease.Owner{Run: run.ID()}, want, ride(StepAcquired, Acquired{StepRef: ref}).Ops()...)
	must(b, err)
	armed := Armed{StepRef: ref, Fence: held.Fence(), Values: Values{Changed: map[string]any{"in_lb(api)": true}}}
	must(b, held.Arm(b.Context(), lease.Intent{ID: ref.ActionID}, nil, ride(StepArmed, armed).Ops()))
	seen := []Seen{{Fluent: "in_lb(api)", Want: false, Value: false, Verified: "observed"}}
	finished := Finished{StepRef: ref, Fence: held.Fence(), Outcome: applied, Status: "done", Seen: seen}
	must(b, held.Finish(b.Context(), lease.Outcome{Result: lease.Applied}, ride(StepFinished, finished).Ops()))
}
