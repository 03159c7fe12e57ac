package search

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fettleops/fettle/model"
)

// endless is a problem whose space has no end: two counters that never meet.
func endless() Problem {
	k := newKit()
	a, b := k.fluent("a", model.KindNumber, nil), k.fluent("b", model.KindNumber, nil)
	k.action("both", nil, nil, inc(a, num(1)), inc(b, num(1)))
	k.action("first", nil, exprs(le(read(b), read(a))), inc(a, num(1)))
	s := k.universe().NewState(true)
	number2(s, "a", 1)
	number2(s, "b", 0)
	return Problem{U: s.Universe(), Start: s, Goal: goal(ex(model.OpLt, model.KindBool, read(a), read(b)))}
}

func TestAnUnboundedDomainEndsAsExhaustedNeverUnsolvable(t *testing.T) {
	r := solve(t, endless(), Options{MaxNodes: 5000})
	if r.Status != Exhausted || r.Reason != "max_nodes: 5000 states were looked at" {
		t.Errorf("got %s %q", r.Status, r.Reason)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	r := solve(t, endless(), Options{MaxMemory: 4 << 20})
	if r.Status != Exhausted || r.Reason != "max_memory: more than 4 MiB" {
		t.Errorf("got %s %q", r.Status, r.Reason)
	}
	if r.Evaluated == 0 {
		t.Error("the bound was reached before the search began")
	}
}

func TestGroundingIsBounded(t *testing.T) {
	p := logistics(t, 3, 3, 40)
	r := solve(t, p, Options{MaxMemory: 1 << 16})
	if r.Status != Exhausted || !strings.HasPrefix(r.Reason, "max_memory") {
		t.Errorf("got %s %q", r.Status, r.Reason)
	}
}

func TestATimeoutIsALimit(t *testing.T) {
	r := solve(t, endless(), Options{Timeout: time.Millisecond})
	if r.Status != Exhausted || r.Reason != "timeout" {
		t.Errorf("got %s %q", r.Status, r.Reason)
	}
}

func TestALimitAfterThePlanKeepsThePlan(t *testing.T) {
	p := blocks(10)
	first, err := search(t.Context(), p, Options{}, effort{polish: 1})
	if err != nil {
		t.Fatal(err)
	}
	r := solve(t, p, Options{Optimal: true, MaxNodes: first.Evaluated + 20})
	if r.Status != Solved || r.Optimal || !strings.HasPrefix(r.Reason, "max_nodes") {
		t.Errorf("got %s, optimal %v, %q", r.Status, r.Optimal, r.Reason)
	}
	simulate(t, p, r.Plan)
}

func TestCancellationEndsTheSearchWithTheContextsError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := Search(ctx, endless(), Options{})
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestTheSameProblemHasTheSamePlan(t *testing.T) {
	p := logistics(t, 3, 3, 6)
	first := planText(p.U, solve(t, p, Options{}).Plan)
	for range 5 {
		q := logistics(t, 3, 3, 6)
		if again := planText(q.U, solve(t, q, Options{}).Plan); again != first {
			t.Fatalf("first %s, then %s", first, again)
		}
	}
}

func TestTheStartIsLeftAlone(t *testing.T) {
	p := classic(t)
	before := key(p.Start)
	solve(t, p, Options{})
	if key(p.Start) != before {
		t.Error("the search changed the start")
	}
}

func TestWhatNothingReadsStaysOutOfTheStates(t *testing.T) {
	k := newKit()
	n, a := k.fluent("spent", model.KindNumber, nil), k.pred("a")
	k.action("loop", nil, nil, inc(n, num(1)), del(a))
	s := k.universe().NewState(true)
	number2(s, "spent", 0)
	r := solve(t, Problem{U: s.Universe(), Start: s, Goal: goal(read(a))}, Options{})
	if r.Status != Unsolvable {
		t.Errorf("a counter that nothing reads made the space endless: %s %q", r.Status, r.Reason)
	}
}
