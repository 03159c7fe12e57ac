package lease

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// waiter is one who waits, in the naive table and in truth.
type waiter struct {
	want []Resource
	done chan error
	held *Held
}

// queues is the naive twin of tickets and named leases: what is held, in doubt
// and named, and those who wait, oldest first.
type queues struct {
	table
	names   map[string]Resource // Of the run "r".
	waiting []*waiter
}

// blocked is table's, for one who is not of the run with the names.
func (m *queues) blocked(want []Resource) (busy, doubt bool) {
	busy, doubt = m.table.blocked(want)
	for _, r := range m.names {
		busy = busy || conflicts(want, []Resource{r})
	}
	return busy, doubt
}

func sameFluent(as, bs []Resource) bool {
	return slices.ContainsFunc(as, func(a Resource) bool {
		return slices.ContainsFunc(bs, func(b Resource) bool { return a.Fluent == b.Fluent })
	})
}

func (m *queues) queued(want []Resource) bool {
	return slices.ContainsFunc(m.waiting, func(w *waiter) bool { return sameFluent(w.want, want) })
}

// turn returns the first whose turn it is, or who is stopped by a doubt.
func (m *queues) turn() (w *waiter, doubt bool) {
	for i, w := range m.waiting {
		busy, doubt := m.blocked(w.want)
		ahead := slices.ContainsFunc(m.waiting[:i], func(o *waiter) bool { return sameFluent(o.want, w.want) })
		if doubt || !busy && !ahead {
			return w, doubt
		}
	}
	return nil, false
}

// settle lets the table's waiters go on as far as they can, and wants the same of the true ones.
func (m *queues) settle(t *testing.T, rt *rapid.T) {
	for {
		w, doubt := m.turn()
		if w == nil {
			break
		}
		select {
		case err := <-w.done:
			if got, want := kind(err), expected(false, doubt); got != want {
				rt.Fatalf("%q: %s (%v), the table says %s", w.want, got, err, want)
			}
		case <-testCtx(t).Done():
			rt.Fatalf("%q starves", w.want)
		}
		m.waiting = slices.DeleteFunc(m.waiting, func(o *waiter) bool { return o == w })
		if w.held != nil {
			m.held[w.held] = w.want
		}
	}
	for _, w := range m.waiting {
		select {
		case err := <-w.done:
			rt.Fatalf("%q came out of turn: %v", w.want, err)
		default:
		}
	}
}

func TestWaitersAndNamesAgreeWithANaiveTable(t *testing.T) {
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		ctx, stop := context.WithTimeout(context.Background(), time.Minute)
		defer stop()
		l := New(store.Client(), newScope(t), Options{})
		m := &queues{table: table{held: map[*Held][]Resource{}, doubt: map[string][]Resource{}}, names: map[string]Resource{}}
		defer func() {
			stop()
			for _, w := range m.waiting {
				if err := <-w.done; err == nil {
					t.Errorf("%q was given what others hold", w.want)
				}
			}
			must(t, l.Close())
		}()
		pick := func(rt *rapid.T) *Held {
			all := slices.SortedFunc(mapKeys(m.held), func(a, b *Held) int { return int(a.fence - b.fence) })
			if len(all) == 0 {
				rt.Skip("nothing held")
			}
			return rapid.SampledFrom(all).Draw(rt, "held")
		}
		rt.Repeat(map[string]func(*rapid.T){
			"": func(rt *rapid.T) { m.settle(t, rt) },
			"acquire": func(rt *rapid.T) {
				want := resources().Draw(rt, "want")
				h, err := l.Acquire(ctx, Owner{}, want)
				busy, doubt := m.blocked(want)
				if got, want := kind(err), expected(busy || m.queued(want), doubt); got != want {
					rt.Fatalf("acquire: %s (%v), the table says %s", got, err, want)
				}
				if h != nil {
					m.held[h] = want
				}
			},
			"wait": func(rt *rapid.T) {
				if len(m.waiting) > 3 {
					rt.Skip("enough")
				}
				w := &waiter{want: resources().Draw(rt, "want"), done: make(chan error, 1)}
				drawn := make(chan struct{})
				go func() {
					h, err := l.AcquireWait(ctx, Owner{}, w.want, Wait{OnBusy: func(*BusyError) { close(drawn) }})
					w.held = h
					w.done <- err
				}()
				m.waiting = append(m.waiting, w)
				busy, doubt := m.blocked(w.want)
				if !doubt && (busy || len(m.waiting) > 1 && sameAsAny(m.waiting[:len(m.waiting)-1], w.want)) {
					<-drawn // In its place before the next one comes.
				}
			},
			"release": func(rt *rapid.T) {
				h := pick(rt)
				must(t, h.Release(ctx))
				delete(m.held, h)
			},
			"arm and die": func(rt *rapid.T) {
				h := pick(rt)
				n++
				arm(t, h, fmt.Sprint("i", n))
				vanish(t, h)
				m.doubt[h.Intent().ID] = exclusives(m.held[h])
				delete(m.held, h)
			},
			"resolve by hand": func(rt *rapid.T) {
				intents, err := l.Intents(ctx)
				must(t, err)
				if len(intents) == 0 {
					rt.Skip("none")
				}
				in := rapid.SampledFrom(intents).Draw(rt, "intent")
				_, err = l.ResolveByHand(ctx, in.ID, Applied, "ann", "looked")
				must(t, err)
				delete(m.doubt, in.ID)
			},
			"take a name": func(rt *rapid.T) {
				name := rapid.SampledFrom([]string{"f", "f(a)", "f(a/b)", "f/x", "fü(ab)"}).Draw(rt, "name")
				want := []Resource{ParseResource(name)}
				named, err := l.AcquireNamed(ctx, Owner{Run: "r"}, name, "", nil)
				if _, mine := m.names[name]; mine {
					must(t, err)
					return
				}
				busy, doubt := m.blocked(want)
				if got, want := kind(err), expected(busy || m.queued(want), doubt); got != want {
					rt.Fatalf("take %s: %s (%v), the table says %s", name, got, err, want)
				}
				if named != nil {
					m.names[name] = want[0]
				}
			},
			"act under the names": func(rt *rapid.T) {
				var want []Resource
				for _, name := range slices.Sorted(keysOf(m.names)) {
					want = append(want, m.names[name])
				}
				if len(want) == 0 {
					rt.Skip("no name")
				}
				h, err := l.Acquire(ctx, Owner{Run: "r"}, want) // Whoever waits, and whatever its names are.
				must(t, err)
				n++
				arm(t, h, fmt.Sprint("i", n))
				must(t, h.Finish(ctx, Outcome{Result: Applied}, nil))
			},
			"give a name back": func(rt *rapid.T) {
				if len(m.names) == 0 {
					rt.Skip("no name")
				}
				name := rapid.SampledFrom(slices.Sorted(keysOf(m.names))).Draw(rt, "name")
				must(t, l.NamedOf("r", name).Release(ctx, nil))
				delete(m.names, name)
			},
		})
	})
}

func keysOf(m map[string]Resource) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func sameAsAny(ws []*waiter, want []Resource) bool {
	return slices.ContainsFunc(ws, func(w *waiter) bool { return sameFluent(w.want, want) })
}

func TestWaitersTurnIsFoundWithoutTheWatch(t *testing.T) {
	a, b := pair(t)
	h := acquire(t, a, x("f", "a"))
	r, err := b.request(Owner{}, []Resource{x("f", "")})
	must(t, err)
	g, err := b.pool.take(testCtx(t))
	must(t, err)
	tk := &ticket{hold: newHold(b, g, []string{b.keys.Ticket("f", g.id)}), r: r, busy: &BusyError{}}
	_, err = b.place(testCtx(t), tk.hold, record{}, nil, nil, nil)
	must(t, err)
	ahead, seen, err := tk.look(testCtx(t))
	if err != nil || len(ahead) == 0 {
		t.Fatalf("ahead %v, %v", ahead, err)
	}
	tick := make(chan time.Time, 1)
	tick <- time.Time{}
	if _, err := tk.await(testCtx(t), nil, tick, ahead, seen); err != nil { // No watch at all.
		t.Fatal(err)
	}
	must(t, h.Release(testCtx(t)))
	got, err := tk.take(testCtx(t), Wait{})
	must(t, err)
	must(t, got.Release(testCtx(t)))
}
