package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fettleops/fettle/examples/fleet/accesslog"
)

// rightLog is one action as the balancer logs it when all is well.
func rightLog() []accesslog.Entry {
	return []accesslog.Entry{
		{Seq: 1, End: 2, Kind: accesslog.Raise, Status: 200, Fence: 10, ActionID: "a", Run: "r", Resources: []string{"in_lb(api)", "in_lb"}},
		{Seq: 3, End: 4, Kind: accesslog.Observe, Status: 200, Method: "GET", Path: "/lb"},
		{Seq: 5, End: 6, Kind: accesslog.Act, Status: 200, Method: "POST", Path: "/services/api/drain", Fence: 10, Armed: 11, ActionID: "a", Run: "r", Writes: []string{"in_lb(api)"}},
	}
}

// rightHistory is the same action in etcd.
func rightHistory() []change {
	return []change{
		put(10, "/p/v1/fleet/k/in_lb/x/api/l"),
		put(10, "/p/v1/fleet/k/in_lb/s//7f"),
		put(11, "/p/v1/fleet/k/in_lb/x/api/d"),
		put(11, "/p/v1/fleet/intent/a"),
		{Rev: 12, Key: "/p/v1/fleet/intent/a", Create: 11},
		del(12, "/p/v1/fleet/k/in_lb/x/api/d"),
		del(12, "/p/v1/fleet/k/in_lb/s//7f"),
		del(12, "/p/v1/fleet/k/in_lb/x/api/l"),
	}
}

func put(rev int64, key string) change { return change{Rev: rev, Key: key, Create: rev} }
func del(rev int64, key string) change { return change{Rev: rev, Key: key, Delete: true} }

func TestOneActionInOrderIsJoined(t *testing.T) {
	deeds, problems := join(rightLog(), readTrace(rightHistory()))
	if len(problems) != 0 {
		t.Fatalf("problems: %q", problems)
	}
	want := deed{what: "POST /services/api/drain", id: "a", fence: 10, arm: 11, finished: 12, raise: 2, observe: 3, act: 5}
	if len(deeds) != 1 || deeds[0] != want {
		t.Fatalf("got %+v, want %+v", deeds, want)
	}
	if left := leftovers(readTrace(rightHistory())); len(left) != 0 {
		t.Fatalf("left over: %q", left)
	}
}

// armedAt lets the act say that it was armed at another revision.
func armedAt(revision int64) func([]accesslog.Entry) []accesslog.Entry {
	return func(l []accesslog.Entry) []accesslog.Entry {
		l[2].Armed = revision
		return l
	}
}

// TestEveryWrongOrderIsTold breaks the right story in one place at a time.
func TestEveryWrongOrderIsTold(t *testing.T) {
	const drain = "POST /services/api/drain: "
	for _, c := range []struct {
		name    string
		log     func([]accesslog.Entry) []accesslog.Entry
		history func([]change) []change
		says    string
	}{
		{name: "acted before it observed", log: func(l []accesslog.Entry) []accesslog.Entry {
			l[1].Seq, l[1].End, l[2].Seq, l[2].End = 5, 6, 3, 4
			return l
		}, says: drain + "nothing was observed between the raise and the act"},
		{name: "observed before it raised", log: func(l []accesslog.Entry) []accesslog.Entry {
			l[0].Seq, l[0].End, l[1].Seq, l[1].End = 3, 4, 1, 2
			return l
		}, says: drain + "nothing was observed between the raise and the act"},
		{name: "observation still under way when it acted", log: func(l []accesslog.Entry) []accesslog.Entry {
			l[1].End, l[2].Seq = 5, 4
			return l
		}, says: drain + "nothing was observed between the raise and the act"},
		{name: "observed by another run only", log: func(l []accesslog.Entry) []accesslog.Entry {
			l[1].Run = "other"
			return l
		}, says: drain + "nothing was observed between the raise and the act"},
		{
			name: "never raised", log: func(l []accesslog.Entry) []accesslog.Entry { return l[1:] },
			says: drain + "its fence was not raised before it acted",
		},
		{name: "raise refused", log: func(l []accesslog.Entry) []accesslog.Entry {
			l[0].Status = 409
			return l
		}, says: drain + "its fence was not raised before it acted"},
		{name: "raised for something else", log: func(l []accesslog.Entry) []accesslog.Entry {
			l[0].Resources = []string{"up(api)"}
			return l
		}, says: drain + "its fence was not raised for in_lb(api)"},
		{name: "acted without a fence", log: func(l []accesslog.Entry) []accesslog.Entry {
			l[2].Fence = 0
			return l
		}, says: drain + "acted without a fence or an action id\n" + drain + "its fence was not raised before it acted"},
		{
			name: "never armed", history: func(h []change) []change { return slices.Delete(h, 3, 5) },
			says: drain + "no intent was armed for action a",
		},
		{name: "armed before the locks were taken", history: func(h []change) []change {
			h[3].Rev, h[3].Create = 9, 9
			return h
		}, log: armedAt(9), says: drain + "armed at revision 9, not after its locks were taken at 10"},
		{
			name: "fence of no lock", history: func(h []change) []change { return slices.Delete(h, 0, 1) },
			says: drain + "no exclusive lock was taken at revision 10, its fence\n" + drain + "no exclusive lock on in_lb(api) was taken at revision 10, its fence",
		},
		{name: "locked something else", history: func(h []change) []change {
			h[0].Key, h[7].Key = "/p/v1/fleet/k/up/x/api/l", "/p/v1/fleet/k/up/x/api/l"
			return h
		}, says: drain + "no exclusive lock on in_lb(api) was taken at revision 10, its fence"},
		{name: "locked another instance", history: func(h []change) []change {
			h[0].Key, h[7].Key = "/p/v1/fleet/k/in_lb/x/db/l", "/p/v1/fleet/k/in_lb/x/db/l"
			return h
		}, says: drain + "no exclusive lock on in_lb(api) was taken at revision 10, its fence"},
		{name: "acted before it was armed", log: armedAt(0), says: drain + "acted as armed at revision 0, but was armed at 11"},
		{name: "lock lost before it was armed", history: func(h []change) []change {
			h[2].Rev, h[3].Rev, h[4].Rev, h[5].Rev, h[7].Rev = 12, 12, 13, 13, 11
			return h
		}, log: armedAt(12), says: drain + "its lock on in_lb ended at revision 11, before it was armed at 12"},
		{name: "lock lost before the outcome was recorded", history: func(h []change) []change {
			h[4].Rev = 14
			return h
		}, says: drain + "its lock on in_lb ended at revision 12, before its outcome was recorded at 14"},
		{
			name: "never finished", history: func(h []change) []change { return h[:4] },
			says: drain + "its intent was never settled\n" + drain + "its lock on in_lb was never given up",
		},
		{name: "acted twice", log: func(l []accesslog.Entry) []accesslog.Entry {
			again := l[2]
			again.Seq, again.End = 7, 8
			return append(l, again)
		}, says: drain + "action a acted twice"},
		{
			name: "armed and never acted", log: func(l []accesslog.Entry) []accesslog.Entry { return l[:2] },
			says: "action a was armed and never reached the balancer",
		},
		{name: "a late act was let in", log: func(l []accesslog.Entry) []accesslog.Entry {
			newer := accesslog.Entry{Seq: -1, End: 0, Kind: accesslog.Act, Status: 200, Method: "POST", Path: "/other", Fence: 20, ActionID: "b", Writes: []string{"in_lb(api)"}}
			return append(l, newer)
		}, says: "POST /other: no intent was armed for action b\nPOST /other: its fence was not raised before it acted\n" +
			drain[:len(drain)-2] + ": wrote in_lb(api) under fence 10 after an act under 20"},
	} {
		t.Run(c.name, func(t *testing.T) {
			log, history := rightLog(), rightHistory()
			if c.log != nil {
				log = c.log(log)
			}
			if c.history != nil {
				history = c.history(history)
			}
			slices.SortStableFunc(history, func(a, b change) int { return int(a.Rev - b.Rev) })
			_, problems := join(log, readTrace(history))
			if got := strings.Join(problems, "\n"); got != c.says {
				t.Errorf("got\n%s\nwant\n%s", got, c.says)
			}
		})
	}
}

func TestARepeatAnsweredFromMemoryIsNoSecondAct(t *testing.T) {
	log := rightLog()
	again := log[2]
	again.Seq, again.End, again.Repeat = 7, 8, true
	if _, problems := join(append(log, again), readTrace(rightHistory())); len(problems) != 0 {
		t.Fatalf("problems: %q", problems)
	}
}

func TestAWithdrawnActionNeedNotHaveActed(t *testing.T) {
	history := rightHistory()
	history[4].Value = `{"id":"a","outcome":{"result":"not_applied"}}`
	if deeds, problems := join(rightLog()[:2], readTrace(history)); len(deeds)+len(problems) != 0 {
		t.Fatalf("deeds %v, problems %q", deeds, problems)
	}
}

func TestWhatIsLeftInDoubtOrLockedIsTold(t *testing.T) {
	got := fmt.Sprint(leftovers(readTrace(rightHistory()[:4])))
	if want := "[in doubt: /p/v1/fleet/k/in_lb/x/api/d locked: in_lb api since revision 10]"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
}

func TestAWholeFluentLockHasAnEmptyInstance(t *testing.T) {
	tr := readTrace([]change{put(5, "a/b/k/in_lb/x//l"), put(6, "x/l"), put(6, "k/in_lb/s/api/l")})
	if len(tr.locks) != 1 || *tr.locks[0] != (lockTrace{fluent: "in_lb", created: 5}) {
		t.Fatalf("got %+v", tr.locks)
	}
}
