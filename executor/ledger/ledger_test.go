package ledger

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/fettleops/fettle/lease"
	"github.com/fettleops/fettle/policy"
)

func TestHistoryIsOfAllControllersInTheOrderOfTime(t *testing.T) {
	k := newKeys(t)
	a, b := newController(t, k), newController(t, k)
	a.clock.at, b.clock.at = noon.Add(-2*time.Hour), noon.Add(time.Hour) // Clocks that do not agree.
	late := b.did(t, deed("b", "restart", "api"))
	old := a.did(t, deed("a", "drain", "api"))
	a.clock.at = noon
	mid := a.did(t, deed("a", "restart", "db"))
	for since, want := range map[time.Duration][]policy.Deed{3 * time.Hour: {old, mid, late}, time.Hour: {mid, late}} {
		got, err := a.History(testCtx(t), since)
		must(t, err)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("in %s:\n got %v\nwant %v", since, got, want)
		}
	}
}

// TestManyActionsAreAllCounted: a count reads on beyond one page, and so does
// what rules are given: one that they did not see would loosen them.
func TestManyActionsAreAllCounted(t *testing.T) {
	c := newController(t, newKeys(t))
	const many = 2*page + 7
	for i := range many {
		c.clock.at = noon.Add(time.Duration(i) * time.Second)
		c.did(t, deed("r", "act", fmt.Sprint(i)))
	}
	s := policy.Shared{Window: time.Hour, MaxTotal: policy.AtMost(many)}
	_, no, err := c.Reserve(testCtx(t), s, deed("r", "act"))
	must(t, err)
	if no == nil || no.Used != many || !no.Until.Equal(noon.Add(time.Hour)) {
		t.Errorf("refused by %+v, want %d used until an hour after the first", no, many)
	}
	got, err := c.History(testCtx(t), time.Hour)
	must(t, err)
	if len(got) != many {
		t.Fatalf("history has %d actions, want %d", len(got), many)
	}
	for i, d := range got {
		if !d.At.Equal(noon.Add(time.Duration(i) * time.Second)) {
			t.Fatalf("action %d began at %s", i, d.At)
		}
	}
}

// TestTheLedgerDoesNotGrow: what no limit may look back to is deleted by and by,
// and nothing younger.
func TestTheLedgerDoesNotGrow(t *testing.T) {
	k := newKeys(t)
	c := newController(t, k)
	const aDay = 20
	for i := range 30 * aDay {
		c.clock.at = noon.Add(time.Duration(i) * 24 * time.Hour / aDay)
		c.did(t, deed("r", "act"))
		if most := int64(8*aDay + 2*spare + 1); deeds(t, k) > most {
			t.Fatalf("%d actions are kept after %d, want %d at most", deeds(t, k), i+1, most)
		}
	}
	s := policy.Shared{Window: policy.SharedReach, MaxTotal: policy.AtMost(7 * aDay)}
	_, no, err := c.Reserve(testCtx(t), s, deed("r", "act"))
	must(t, err)
	if no == nil || no.Used != 7*aDay {
		t.Errorf("refused by %+v, want %d used in a week", no, 7*aDay)
	}
}

// TestAClockThatIsAheadDeletesNothing that others still count, although by it all
// of it is too old.
func TestAClockThatIsAheadDeletesNothing(t *testing.T) {
	k := newKeys(t)
	c := newController(t, k)
	const many = 3 * spare
	for range many {
		c.did(t, deed("r", "act"))
	}
	ahead := newController(t, k)
	ahead.clock.at = noon.Add(400 * 24 * time.Hour)
	for range 5 {
		ahead.did(t, deed("ahead", "act"))
	}
	s := policy.Shared{Window: time.Hour, MaxTotal: policy.AtMost(many)}
	_, no, err := c.Reserve(testCtx(t), s, deed("r", "act"))
	must(t, err)
	if no == nil || no.Used != many+5 {
		t.Errorf("refused by %+v, want %d used", no, many+5)
	}
}

func deeds(t *testing.T, k lease.Keys) int64 {
	t.Helper()
	resp, err := store.Client().Get(testCtx(t), k.Deeds(), clientv3.WithPrefix(), clientv3.WithCountOnly())
	must(t, err)
	return resp.Count
}

// TestAWithdrawnActionDoesNotCount, and a refused arming leaves nothing.
func TestAWithdrawnActionDoesNotCount(t *testing.T) {
	k := newKeys(t)
	c := newController(t, k)
	s := policy.Shared{Window: time.Hour, MaxTotal: policy.AtMost(1)}
	held, err := c.locker.Acquire(testCtx(t), lease.Owner{Run: "r"}, []lease.Resource{{Fluent: "f", Exclusive: true}})
	must(t, err)
	ticket, no, err := c.Reserve(testCtx(t), s, deed("r", "act"))
	must(t, err)
	if no != nil {
		t.Fatal(no.Reason)
	}
	_, _, err = c.locker.Pause(testCtx(t), "ada", "test")
	must(t, err)
	var refused *lease.RefusedError
	err = held.Arm(testCtx(t), lease.Intent{ID: "i"}, append(ticket.Cmps, k.NotPaused()), ticket.Ops)
	if !errors.As(err, &refused) || ticket.Raced(refused) || deeds(t, k) != 0 {
		t.Fatalf("armed although paused, or taken for a race: %v, %d counted", err, deeds(t, k))
	}
	must(t, held.Arm(testCtx(t), lease.Intent{ID: "i"}, ticket.Cmps, ticket.Ops))
	if _, no, err = c.Reserve(testCtx(t), s, deed("r", "act")); err != nil || no == nil {
		t.Fatalf("a second one is let through: %v", err)
	}
	must(t, held.Withdraw(testCtx(t), lease.Outcome{}, c.Withdrawn(ticket.Deed)...))
	if _, no, err = c.Reserve(testCtx(t), s, deed("r", "act")); err != nil || no != nil {
		t.Errorf("what was withdrawn counts: %+v %v", no, err)
	}
}

func TestAPlanThatWouldBeStoppedHalfWayIsRefused(t *testing.T) {
	c := newController(t, newKeys(t))
	s := policy.Shared{Window: time.Hour, MaxTotal: policy.AtMost(3)}
	c.did(t, deed("r", "act"))
	plan := []policy.Deed{deed("r", "a"), deed("r", "b"), deed("r", "c")}
	for n, want := range map[int]bool{0: true, 2: true, 3: false} {
		no, err := c.Fits(testCtx(t), s, plan[:n])
		must(t, err)
		if (no == nil) != want {
			t.Errorf("%d actions fit: %v, want %v", n, no == nil, want)
		}
	}
	uses, err := c.Uses(testCtx(t), s)
	must(t, err)
	if len(uses) != 1 || uses[0].Used != 1 {
		t.Errorf("to look reserved something: %+v", uses)
	}
}

// TestACountThatCannotBeReadLetsNothingPass.
func TestACountThatCannotBeReadLetsNothingPass(t *testing.T) {
	k := newKeys(t)
	c := newController(t, k)
	_, err := store.Client().Put(testCtx(t), k.Deed("x", noon), "not JSON")
	must(t, err)
	s := policy.Shared{Cooldown: policy.AtMost(time.Minute)}
	ticket, _, err := c.Reserve(testCtx(t), s, deed("r", "act"))
	if ticket != nil || err == nil || !strings.Contains(err.Error(), k.Deed("x", noon)) {
		t.Errorf("ticket %v, error %v", ticket, err)
	}
	_, err = store.Client().Put(testCtx(t), k.Goal("g"), "not JSON")
	must(t, err)
	if _, err := c.Begin(testCtx(t), s, "g", "r", false); err == nil || !strings.Contains(err.Error(), k.Goal("g")) {
		t.Errorf("begun: %v", err)
	}
}

// TestTheBreaker goes through its states over several controllers: closed, open,
// reset by a person, with what is written down of that.
func TestTheBreaker(t *testing.T) {
	k := newKeys(t)
	a, b := newController(t, k), newController(t, k)
	s := policy.Shared{Breaker: policy.AtMost(2)}
	const goal = "restored(api)"
	begin := func(c *controller, run string, want bool) {
		t.Helper()
		no, err := c.Begin(testCtx(t), s, goal, run, false)
		must(t, err)
		if (no == nil) != want {
			t.Fatalf("%s begins: %v, want %v", run, no == nil, want)
		}
	}
	var nothing *NothingToResetError
	if _, err := a.Reset(testCtx(t), goal, "ada", "because"); !errors.As(err, &nothing) {
		t.Fatalf("reset of nothing: %v", err)
	}
	free := a.drive(t, "r1")
	begin(a, "r1", true)
	must(t, a.Ended(testCtx(t), goal, policy.RunOutcome{Run: "r1", Status: "escalated", Reason: "rounds", Acted: true}))
	free()
	free = b.drive(t, "r2")
	begin(b, "r2", true)
	defer a.drive(t, "r3")()
	begin(a, "r3", true) // One is under way: it may succeed.
	free()               // Its process dies.
	begin(b, "r4", false)
	no, err := b.Begin(testCtx(t), s, goal, "r3", true)
	must(t, err)
	if no != nil { // It has acted, and is gone on with.
		t.Error(no.Reason)
	}

	// Another goal is another matter.
	no, err = a.Begin(testCtx(t), s, "restored(db)", "r5", false)
	must(t, err)
	if no != nil {
		t.Error(no.Reason)
	}
	if _, err := a.Reset(testCtx(t), goal, "ada", ""); err == nil {
		t.Error("reset without a reason")
	}
	was, err := a.Reset(testCtx(t), goal, "ada", "the disk is replaced")
	must(t, err)
	if got := s.State(goal, was.Runs, noon); !got.Open || len(got.Row) < 2 {
		t.Errorf("it was %+v", got)
	}
	begin(b, "r4", true)
	audited(t, a, goal)
}

func audited(t *testing.T, c *controller, goal string) {
	t.Helper()
	log, err := c.locker.AuditLog(testCtx(t))
	must(t, err)
	if len(log) != 1 || log[0].Deed != lease.DeedReset || log[0].Goal != goal || log[0].By != "ada" || log[0].Reason != "the disk is replaced" {
		t.Errorf("audited: %+v", log)
	}
	all, err := c.Goals(testCtx(t))
	must(t, err)
	var goals []string
	for _, g := range all {
		goals = append(goals, g.Goal)
	}
	if !slices.Equal(goals, []string{goal, "restored(db)"}) {
		t.Errorf("goals %q", goals)
	}
}

// TestWhoeverWaitedIsHeldToWhatHappened: a run that waited, having done nothing,
// is asked about as one that begins, and refused it leaves no trace.
func TestWhoeverWaitedIsHeldToWhatHappened(t *testing.T) {
	c := newController(t, newKeys(t))
	s := policy.Shared{Breaker: policy.AtMost(1)}
	_, err := c.Begin(testCtx(t), s, "g", "r1", false)
	must(t, err)
	must(t, c.Ended(testCtx(t), "g", policy.RunOutcome{Run: "r1", Status: "waiting", Reason: "approval"}))
	_, err = c.Begin(testCtx(t), s, "g", "r2", false)
	must(t, err)
	must(t, c.Ended(testCtx(t), "g", policy.RunOutcome{Run: "r2", Status: "failed", Acted: true}))
	no, err := c.Begin(testCtx(t), s, "g", "r1", false)
	must(t, err)
	if no == nil || no.Word != policy.Broken {
		t.Fatalf("it begins: %+v", no)
	}
	must(t, c.Ended(testCtx(t), "g", policy.RunOutcome{Run: "r1", Status: "escalated", Reason: policy.Broken}))
	all, err := c.Goals(testCtx(t))
	must(t, err)
	if len(all) != 1 || len(all[0].Runs) != 1 || all[0].Runs[0].Run != "r2" {
		t.Errorf("kept: %+v", all)
	}
}

// TestASuccessThatDidNotLast is found by the next run, and counts on as none.
func TestASuccessThatDidNotLast(t *testing.T) {
	c := newController(t, newKeys(t))
	s := policy.Shared{Breaker: policy.AtMost(3), Ineffective: policy.AtMost(30 * time.Minute)}
	ended := func(run, status string, acted bool) {
		t.Helper()
		must(t, c.Ended(testCtx(t), "g", policy.RunOutcome{Run: run, Status: status, Acted: acted}))
	}
	begin := func(run, want string) {
		t.Helper()
		no, err := c.Begin(testCtx(t), s, "g", run, false)
		must(t, err)
		if no == nil {
			no = &policy.SharedRefusal{}
		}
		if no.Word != want {
			t.Fatalf("%s: refused as %q (%s), want %q", run, no.Word, no.Reason, want)
		}
	}
	ended("r1", "failed", true)
	ended("r2", "succeeded", true)
	ended("r3", "succeeded", false) // It held, for a moment.
	c.clock.at = noon.Add(29 * time.Minute)
	begin("r4", policy.Ineffective)
	c.clock.at = noon.Add(30 * time.Minute)
	begin("r5", "")
	ended("r5", "succeeded", true)
	begin("r6", policy.Ineffective)
	c.clock.at = noon.Add(10 * time.Hour)
	begin("r7", policy.Broken)
}
