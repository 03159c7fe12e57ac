package lease

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// names are what could break a layout of keys: separators, its own words, escapes, prefixes of each other.
var names = []string{"a", "ab", "a/b", "a%2Fb", "a\x00", "a\x00b", "\x00", "\u00ff", "\U0010ffff", "x", "s", "l", "d", "/", "//", "x/a/l", "..", "ü, 'b c'", "q"}

func resources() *rapid.Generator[[]Resource] {
	one := rapid.Custom(func(t *rapid.T) Resource {
		return Resource{
			Fluent:    rapid.SampledFrom([]string{"f", "f/x", "f\x00", "fü"}).Draw(t, "fluent"),
			Instance:  rapid.SampledFrom(append([]string{"", ""}, names...)).Draw(t, "instance"),
			Exclusive: rapid.Bool().Draw(t, "exclusive"),
		}
	})
	return rapid.SliceOfN(one, 1, 4)
}

// table is the naive lock table: everything held or marked, compared one by one.
type table struct {
	held  map[*Held][]Resource
	doubt map[string][]Resource // By intent, of those whose holder is gone.
}

func conflict(a, b Resource) bool {
	return a.Fluent == b.Fluent && (a.Exclusive || b.Exclusive) &&
		(a.Instance == "" || b.Instance == "" || a.Instance == b.Instance)
}

func conflicts(as, bs []Resource) bool {
	return slices.ContainsFunc(as, func(a Resource) bool {
		return slices.ContainsFunc(bs, func(b Resource) bool { return conflict(a, b) })
	})
}

func (m *table) blocked(want []Resource) (busy, doubt bool) {
	for _, rs := range m.held {
		busy = busy || conflicts(want, rs)
	}
	for _, rs := range m.doubt {
		doubt = doubt || conflicts(want, rs)
	}
	return busy, doubt
}

func exclusives(rs []Resource) []Resource {
	return slices.DeleteFunc(slices.Clone(rs), func(r Resource) bool { return !r.Exclusive })
}

func TestKeyLayoutAgreesWithANaiveLockTable(t *testing.T) {
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		l := New(store.Client(), newScope(t), Options{})
		defer l.Close()
		m := &table{held: map[*Held][]Resource{}, doubt: map[string][]Resource{}}
		pick := func() *Held {
			for _, h := range slices.SortedFunc(mapKeys(m.held), func(a, b *Held) int { return int(a.fence - b.fence) }) {
				if rapid.Bool().Draw(rt, "this one") {
					return h
				}
			}
			rt.Skip("nothing picked")
			return nil
		}
		rt.Repeat(map[string]func(*rapid.T){
			"acquire": func(rt *rapid.T) {
				want := resources().Draw(rt, "want")
				h, err := l.Acquire(testCtx(t), Owner{}, want)
				busy, doubt := m.blocked(want)
				if got, wantErr := kind(err), expected(busy, doubt); got != wantErr {
					rt.Fatalf("acquire %q: %s (%v), the table says %s", want, got, err, wantErr)
				}
				if h != nil {
					m.held[h] = want
				}
			},
			"release": func(*rapid.T) {
				h := pick()
				must(t, h.Release(testCtx(t)))
				delete(m.held, h)
			},
			"arm and die": func(*rapid.T) {
				h := pick()
				n++
				arm(t, h, fmt.Sprint("i", n))
				vanish(t, h)
				m.doubt[h.Intent().ID] = exclusives(m.held[h])
				delete(m.held, h)
			},
			"arm and finish": func(*rapid.T) {
				h := pick()
				n++
				arm(t, h, fmt.Sprint("i", n))
				must(t, h.Finish(testCtx(t), Outcome{Result: Applied}, nil))
				delete(m.held, h)
			},
			"take over and resolve": func(rt *rapid.T) {
				intents, err := l.Intents(testCtx(t))
				must(t, err)
				if len(intents) == 0 {
					rt.Skip("none")
				}
				in := rapid.SampledFrom(intents).Draw(rt, "intent")
				h, err := l.TakeOver(testCtx(t), Owner{}, in)
				must(t, err)
				must(t, h.Resolve(testCtx(t), Outcome{Result: Applied}, nil))
				delete(m.doubt, in.ID)
			},
		})
	})
}

func mapKeys(m map[*Held][]Resource) func(func(*Held) bool) {
	return func(yield func(*Held) bool) {
		for h := range m {
			if !yield(h) {
				return
			}
		}
	}
}

func expected(busy, doubt bool) string {
	switch {
	case doubt:
		return "in doubt"
	case busy:
		return "busy"
	}
	return "free"
}

func kind(err error) string {
	var busy *BusyError
	var doubt *InDoubtError
	switch {
	case err == nil:
		return "free"
	case errors.As(err, &doubt):
		return "in doubt"
	case errors.As(err, &busy):
		return "busy"
	}
	return err.Error()
}

func TestKeysAreReadBackAsWhatTheyStandFor(t *testing.T) {
	k := Keys("fettle/v1/a%2Fb/")
	for _, f := range names {
		for _, i := range append([]string{""}, names...) {
			for key, want := range map[string]lockKey{
				k.Exclusive(f, i):   {Resource: x(f, i)},
				k.Mark(f, i):        {Resource: x(f, i), mark: true},
				k.Shared(f, i, -42): {Resource: s(f, i), lease: -42},
			} {
				if got, ok := k.parse(key); !ok || got != want {
					t.Errorf("%q reads as %+v, %v; want %+v", key, got, ok, want)
				}
			}
		}
		if got := k.queueOf(k.Ticket(f, 1)); got != f {
			t.Errorf("ticket of %q reads as one of %q", f, got)
		}
	}
	for _, key := range []string{"", "k/f/x/a/l", "fettle/v1/a%2Fb/k/f/x/a", "fettle/v1/a%2Fb/k/f/y/a/l", "fettle/v1/a%2Fb/k/f/x/a/z", "fettle/v1/a%2Fb/k/f/s/a/zz", "fettle/v1/a%2Fb/k/%zz/x/a/l"} {
		if got, ok := k.parse(key); ok {
			t.Errorf("%q reads as %+v, want nothing", key, got)
		}
	}
}

func TestFootprintsAreMergedAndCoarsened(t *testing.T) {
	many := func(fluent string, n int, exclusive bool) []Resource {
		var out []Resource
		for i := range n {
			out = append(out, Resource{fluent, fmt.Sprint(i), exclusive})
		}
		return out
	}
	cases := []struct {
		name string
		want []Resource
		got  footprint
	}{
		{"duplicates", []Resource{s("f", "a"), s("f", "a")}, footprint{s("f", "a")}},
		{"exclusive and shared of the same", []Resource{s("f", "a"), x("f", "a")}, footprint{x("f", "a")}},
		{"shared under an exclusive whole", []Resource{s("f", "a"), x("f", ""), x("f", "b"), s("f", "")}, footprint{x("f", "")}},
		{"shared whole keeps exclusive instances", []Resource{s("f", "a"), s("f", ""), x("f", "b")}, footprint{s("f", ""), x("f", "b")}},
		{"too many exclusive", append(many("f", 60, true), s("g", "a")), footprint{x("f", ""), s("g", "a")}},
		{"too many shared", many("f", 200, false), footprint{s("f", "")}},
		{"one of many is exclusive", append(many("f", 200, false), x("f", "b")), footprint{x("f", "")}},
	}
	for _, c := range cases {
		got, err := newFootprint(c.want, 0)
		if err != nil || !slices.Equal(got, c.got) {
			t.Errorf("%s: %v, %v; want %v", c.name, got, err, c.got)
		}
	}
	if got, err := newFootprint(many("f", 51, true), 0); err != nil || len(got) != 51 {
		t.Errorf("51 exclusive instances: %d, %v; want them as they are", len(got), err)
	}
	var fluents []Resource
	for i := range 70 {
		fluents = append(fluents, x(fmt.Sprint("f", i), "a"))
	}
	if got, err := newFootprint(fluents[:40], 0); err != nil || got.size() > maxOps || len(got) != 40 {
		t.Errorf("40 fluents: %v, %v", got, err)
	}
	if _, err := newFootprint(fluents, 0); err == nil || err.Error() != "lease: a footprint of 70 fluents is too large for one transaction; split the action" {
		t.Errorf("70 fluents: %v", err)
	}
	if _, err := newFootprint([]Resource{{Instance: "a"}}, 0); err == nil {
		t.Error("a resource without a fluent is taken")
	}
	if _, err := newFootprint([]Resource{x("f", "\xff")}, 0); err == nil {
		t.Error("a name that is not UTF-8 is taken, and would be changed in the records")
	}
}

func TestLargestFootprintsGoThroughAllSteps(t *testing.T) {
	a, b := pair(t)
	want := []Resource{s("g", "")}
	for i := range 50 {
		want = append(want, x("f", fmt.Sprint(i)))
	}
	h := acquire(t, a, want...)
	arm(t, h, "one")
	vanish(t, h)
	intents, err := b.Intents(testCtx(t))
	must(t, err)
	taken, err := b.TakeOver(testCtx(t), Owner{}, intents[0])
	must(t, err)
	must(t, taken.Resolve(testCtx(t), Outcome{Result: NotApplied}, nil))
	h = acquire(t, b, want...)
	arm(t, h, "two")
	must(t, h.Finish(testCtx(t), Outcome{Result: Applied}, nil))
	if left := keysBelow(t, string(a.keys)+"k/"); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}
