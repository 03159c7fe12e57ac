package ledger

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/policy"
)

// controllers is how many race.
const controllers = 8

// racer is one controller in a race: it begins actions that no lease keeps it
// from, one after another, until a shared limit refuses one.
type racer struct {
	*controller
	name   string
	limits policy.Shared
	deed   func(name string, n int) policy.Deed
	start  *sync.WaitGroup // All have looked at the limits before any begins.
	strip  bool            // Arm without the condition of the ticket.

	refused *policy.SharedRefusal
	raced   int
	err     error
}

func (r *racer) run(t *testing.T) {
	looked := sync.OnceFunc(func() {
		r.start.Done()
		r.start.Wait()
	})
	defer looked()
	for n := 0; r.refused == nil && r.err == nil; n++ {
		r.err = r.act(t, n, looked)
	}
}

// act begins one action as the executor does: acquire, reserve, arm, and reserve
// again where another controller was faster.
func (r *racer) act(t *testing.T, n int, looked func()) error {
	d := r.deed(r.name, n)
	held, err := r.locker.Acquire(testCtx(t), lease.Owner{Run: r.name, Action: d.Ground}, []lease.Resource{{Fluent: "own", Instance: r.name, Exclusive: true}})
	if err != nil {
		return err
	}
	for {
		ticket, no, err := r.Reserve(testCtx(t), r.limits, d)
		if looked(); err != nil || no != nil {
			r.refused = no
			return errors.Join(err, held.Release(testCtx(t)))
		}
		if r.strip {
			ticket.Cmps = nil
		}
		err = held.Arm(testCtx(t), lease.Intent{ID: d.ID}, ticket.Cmps, ticket.Ops)
		var refused *lease.RefusedError
		switch {
		case err == nil:
			return held.Finish(testCtx(t), lease.Outcome{Result: lease.Applied}, nil)
		case !errors.As(err, &refused) || !ticket.Raced(refused):
			return err
		}
		r.raced++
	}
}

// race lets all controllers act until they are refused, and returns what was
// armed, as the leases' own records tell, and how often one was too late.
func race(t *testing.T, limits policy.Shared, strip bool, deed func(string, int) policy.Deed) ([]string, int) {
	t.Helper()
	k := newKeys(t)
	var start, all sync.WaitGroup
	start.Add(controllers)
	racers := make([]*racer, controllers)
	for i := range racers {
		r := &racer{controller: newController(t, k), name: fmt.Sprintf("c%d", i), limits: limits, deed: deed, start: &start, strip: strip}
		racers[i] = r
		all.Go(func() { r.run(t) })
	}
	all.Wait()
	raced := 0
	for _, r := range racers {
		must(t, r.err)
		raced += r.raced
		if r.refused == nil || r.refused.Word != policy.Limited {
			t.Errorf("%s was refused by %+v", r.name, r.refused)
		}
	}
	return armed(t, k), raced
}

// armed reads the actions that were armed, beside the ledger.
func armed(t *testing.T, k lease.Keys) []string {
	t.Helper()
	l := lease.New(store.Client(), string(k), lease.Options{})
	defer l.Close()
	resp, err := store.Client().Get(testCtx(t), k.Intent(""), clientv3.WithPrefix())
	must(t, err)
	var out []string
	for _, kv := range resp.Kvs {
		in, ok, err := l.Intent(testCtx(t), strings.TrimPrefix(string(kv.Key), k.Intent("")))
		must(t, err)
		if !ok {
			t.Fatalf("no intent in %s", kv.Key)
		}
		out = append(out, in.Owner.Action)
	}
	return out
}

// with counts the actions that have a part in their text.
func with(actions []string, part string) (n int) {
	for _, a := range actions {
		if strings.Contains(a, part) {
			n++
		}
	}
	return n
}

// TestNoRaceExceedsALimit promises that eight controllers which begin actions at
// the same time never begin more than a shared limit allows, and not fewer.
func TestNoRaceExceedsALimit(t *testing.T) {
	own := func(name string, n int) policy.Deed { return deed(name, "act", name, fmt.Sprint(n)) }
	t.Run("in total", func(t *testing.T) {
		got, raced := race(t, policy.Shared{Window: time.Hour, MaxTotal: policy.AtMost(20)}, false, own)
		if len(got) != 20 || raced < controllers-1 {
			t.Errorf("%d actions, want 20; %d were too late, at least %d of the first had to be", len(got), raced, controllers-1)
		}
	})
	t.Run("of one action", func(t *testing.T) {
		got, _ := race(t, policy.Shared{Window: time.Hour, MaxPerAction: policy.AtMost(3)}, false, own)
		if len(got) != 3 {
			t.Errorf("%d actions, want 3: %v", len(got), got)
		}
	})
	t.Run("on one object", func(t *testing.T) {
		got, _ := race(t, policy.Shared{Window: time.Hour, MaxPerObject: policy.AtMost(3)}, false, func(name string, n int) policy.Deed {
			return deed(name, "act", name, fmt.Sprint("shared", n%2))
		})
		if a, b := with(got, "shared0"), with(got, "shared1"); a != 3 || b > 3 {
			t.Errorf("%d actions on one object, want 3, and %d on the other, want at most 3: %v", a, b, got)
		}
	})
	t.Run("of one ground action within its cooldown", func(t *testing.T) {
		got, _ := race(t, policy.Shared{Cooldown: policy.AtMost(time.Minute)}, false, func(name string, _ int) policy.Deed { return deed(name, "act", "x") })
		if len(got) != 1 {
			t.Errorf("%d actions, want 1: %v", len(got), got)
		}
	})
}

// TestARaceExceedsWithoutTheCondition shows that the test above would notice.
func TestARaceExceedsWithoutTheCondition(t *testing.T) {
	got, _ := race(t, policy.Shared{Window: time.Hour, MaxTotal: policy.AtMost(3)}, true, func(name string, n int) policy.Deed {
		return deed(name, "act", name, fmt.Sprint(n))
	})
	if len(got) < controllers {
		t.Errorf("%d actions without the condition, want at least %d", len(got), controllers)
	}
}

// TestOneOfManyMayTry promises that of eight runs which ask at once whether the
// breaker lets one through to try, one is.
func TestOneOfManyMayTry(t *testing.T) {
	k := newKeys(t)
	s := policy.Shared{Breaker: policy.AtMost(1), BreakerReset: policy.AtMost(time.Hour)}
	first := newController(t, k)
	must(t, first.Ended(testCtx(t), "healthy", policy.RunOutcome{Run: "r", Status: "failed"}))
	var looked, all sync.WaitGroup // All have read the runs before any begins.
	looked.Add(controllers)
	var mu sync.Mutex
	var begun []string
	for i := range controllers {
		run := fmt.Sprintf("c%d", i)
		c := newController(t, k)
		meet := sync.OnceFunc(func() {
			looked.Done()
			looked.Wait()
		})
		c.now = func() time.Time { // Asked between reading and writing.
			meet()
			return noon.Add(time.Hour)
		}
		defer c.drive(t, run)()
		all.Go(func() {
			no, err := c.Begin(testCtx(t), s, "healthy", run, false)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				t.Error(err)
			case no == nil:
				begun = append(begun, run)
			case !strings.HasSuffix(no.Reason, "was let through to try, and is under way"):
				t.Errorf("%s: %s", run, no.Reason)
			}
		})
	}
	all.Wait()
	if len(begun) != 1 {
		t.Errorf("%v were let through to try, want one", slices.Sorted(slices.Values(begun)))
	}
}
