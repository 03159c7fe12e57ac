package search

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestTheStateSetIsASet(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		words := rapid.IntRange(0, 3).Draw(rt, "words")
		sp := newSpace(words, newLimiter(t.Context(), Options{}))
		twin := map[[3]uint64]int32{}
		for range rapid.IntRange(1, 5000).Draw(rt, "states") {
			var s [3]uint64
			for i := range words {
				s[i] = rapid.Uint64Range(0, 20).Draw(rt, "word") << (i * 20)
			}
			id, isNew := sp.insert(s[:words])
			want, old := twin[s]
			if isNew == old || old && id != want {
				rt.Fatalf("insert gave %d, new %v; want %d, old %v", id, isNew, want, old)
			}
			twin[s] = id
			if !slices.Equal(sp.state(id), s[:words]) {
				rt.Fatal("the state is not what was inserted")
			}
		}
	})
}

func TestFrontierTakesTheLeastFirst(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var q frontier
		for range 2 {
			q.reset()
			last := 0.0
			costs := rapid.SliceOf(rapid.Float64Range(0, 2*maxBucket)).Draw(rt, "costs")
			for i, c := range costs {
				if i%2 == 0 {
					c = float64(int(c))
				}
				q.push(int32(i), c)
			}
			for n := len(costs); !q.empty(); n-- {
				e := q.pop()
				if e.cost < last || n == 0 {
					rt.Fatalf("%v after %v", e.cost, last)
				}
				if last = e.cost; e.cost < 10 && len(costs) < 100 {
					costs = append(costs, 0)
					n++
					q.push(e.id, e.cost+1)
				}
			}
		}
	})
}

func TestQueueTakesTheLeastAndThenTheOldest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		q := newQueue()
		type waiting struct {
			h float64
			s step
		}
		var twin []waiting
		for i := range int32(300) {
			if len(twin) > 0 && rapid.Bool().Draw(rt, "pop") {
				at := 0
				for k, w := range twin {
					if w.h < twin[at].h {
						at = k
					}
				}
				if got := q.pop(); got != twin[at].s {
					rt.Fatalf("got %v, want %v", got, twin[at].s)
				}
				twin = slices.Delete(twin, at, at+1)
				continue
			}
			w := waiting{float64(rapid.IntRange(0, 5).Draw(rt, "h")), step{i, i}}
			q.push(w.h, w.s)
			twin = append(twin, w)
		}
	})
}

func TestWindowsShortenPlans(t *testing.T) {
	p := blocks(12)
	without, err := search(t.Context(), p, Options{}, effort{polish: 1, window: 0})
	if err != nil {
		t.Fatal(err)
	}
	with, err := search(t.Context(), p, Options{}, effort{polish: 1, window: windowWork})
	if err != nil {
		t.Fatal(err)
	}
	simulate(t, p, with.Plan)
	if with.Cost >= without.Cost {
		t.Errorf("cost %v without windows, %v with", without.Cost, with.Cost)
	}
}
