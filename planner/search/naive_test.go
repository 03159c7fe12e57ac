package search

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fettleops/fettle/model"
)

// naive is a search by enumeration over whole model states: the twin that the
// search is held to.
type naive struct {
	p       Problem
	grounds []model.Ground
	max     int
	// deepest, where not 0, makes a state another one at another depth, and ends
	// the enumeration at that depth.
	deepest int
}

// outcome of the enumeration.
type naiveResult struct {
	solved, exhausted bool
	cost              float64
	priced            bool // every cost met was known
}

func newNaive(p Problem, max int) *naive {
	n := &naive{p: p, max: max}
	for _, a := range p.U.Actions {
		if p.Allowed != nil && !contains(p.Allowed, a) {
			continue
		}
		for args := range p.U.Instances(a.Params) {
			n.grounds = append(n.grounds, model.Ground{Action: a, Args: append([]int32(nil), args...)})
		}
	}
	return n
}

func contains(as []*model.Action, a *model.Action) bool {
	for _, x := range as {
		if x == a {
			return true
		}
	}
	return false
}

// apply returns the state after a step, nil where it may not be done.
func apply(s *model.State, g model.Ground) (*model.State, float64, bool) {
	var d model.Delta
	if g.Applicable(s, &d) != model.True {
		return nil, 0, true
	}
	cost, priced := g.Cost(s, &d)
	if !priced {
		cost = 1
	}
	next := s.Clone()
	if g.Effects(next, &d) != nil {
		return nil, 0, true
	}
	d.Commit(next)
	if g.Worsened(next, &d) != nil {
		return nil, 0, true
	}
	return next, cost, priced
}

func key(s *model.State) string {
	var b strings.Builder
	u := s.Universe()
	for _, f := range u.Fluents {
		if f.Derived == nil {
			for a := range u.Atoms(f) {
				fmt.Fprintf(&b, "%v;", s.Get(a))
			}
		}
	}
	return b.String()
}

func (n *naive) key(s *model.State, depth int) string {
	if n.deepest == 0 {
		return key(s)
	}
	return fmt.Sprint(key(s), depth)
}

// denies tells whether a rule forbids the step, or it is too far away.
func (n *naive) denies(step int, g model.Ground, s *model.State) bool {
	for _, r := range n.p.Rules {
		if _, denied := r.Check(step, g, s); denied {
			return true
		}
	}
	return n.deepest > 0 && step > n.deepest
}

// run is Dijkstra's algorithm.
func (n *naive) run(start *model.State) naiveResult {
	for _, inv := range n.p.U.Invariants {
		if inv.Strict && len(inv.Broken(start)) > 0 {
			return naiveResult{exhausted: true, priced: true}
		}
	}
	r := naiveResult{priced: true}
	dist := map[string]float64{n.key(start, 0): 0}
	done := map[string]bool{}
	states, depth := []*model.State{start}, []int{0}
	var open heap
	open.push(entry{0, 0})
	for len(open) > 0 {
		e := open.pop()
		s := states[e.id]
		k, deep := n.key(s, depth[e.id]), depth[e.id]+1
		if done[k] {
			continue
		}
		done[k] = true
		if len(done) > n.max {
			return r
		}
		if n.p.Goal.Eval(s, nil) == model.True {
			r.solved, r.cost = true, e.cost
			return r
		}
		for _, g := range n.grounds {
			next, c, priced := apply(s, g)
			r.priced = r.priced && priced
			if next == nil || n.denies(deep, g, s) {
				continue
			}
			nk := n.key(next, deep)
			if old, ok := dist[nk]; !ok || e.cost+c < old {
				dist[nk] = e.cost + c
				states, depth = append(states, next), append(depth, deep)
				open.push(entry{e.cost + c, int32(len(states) - 1)})
			}
		}
	}
	r.exhausted = true
	return r
}

// simulate checks a plan by the model and returns its cost.
func simulate(t testing.TB, p Problem, plan []model.Ground) float64 {
	s, total := p.Start, 0.0
	for i, g := range plan {
		next, c, _ := apply(s, g)
		if next == nil {
			t.Fatalf("step %d, %s, may not be done", i+1, p.U.StepText(g))
		}
		s, total = next, total+c
	}
	if p.Goal.Eval(s, nil) != model.True {
		t.Fatalf("the plan does not reach the goal: %s", planText(p.U, plan))
	}
	return total
}

// completions calls visit for states in which the unknown facts have values.
func completions(s *model.State, visit func(*model.State) bool) {
	u := s.Universe()
	for _, f := range u.Fluents {
		if f.Derived != nil {
			continue
		}
		for a := range u.Atoms(f) {
			if s.Get(a).Known() {
				continue
			}
			for _, v := range valuesOf(u, f) {
				c := s.Clone()
				c.Set(a, v)
				completions(c, visit)
			}
			return
		}
	}
	visit(s)
}

func hasUnknown(s *model.State) bool {
	n := 0
	completions(s, func(*model.State) bool { n++; return true })
	return n != 1
}

// failing fails a property with the problem that broke it.
type failing struct {
	*rapid.T
	p Problem
}

func (f failing) Fatalf(format string, args ...any) {
	f.T.Fatalf("%s\n%s", fmt.Sprintf(format, args...), describe(f.p))
}

func TestSearchAgreesWithEnumeration(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := (&gen{t: rt}).problem()
		n := newNaive(p, 600)
		want := n.run(p.Start)
		fail := failing{rt, p}
		var status [3]Status
		for i := range status {
			e := effort{polish: polishWork, window: windowWork}
			if i == 2 {
				e.polish = 1 // leaves the plan to the windows
			}
			got, err := search(t.Context(), p, Options{MaxNodes: 20000, Optimal: i == 0}, e)
			if err != nil {
				fail.Fatalf("%v", err)
			}
			compareWithNaive(fail, n, p, want, got, i < 2)
			status[i] = got.Status
		}
		if status[0] != status[1] || status[1] != status[2] {
			fail.Fatalf("optimal %s, polished %s, in windows %s", status[0], status[1], status[2])
		}
	})
}

type fataler interface{ Fatalf(string, ...any) }

func compareWithNaive(rt fataler, n *naive, p Problem, want naiveResult, got Result, proof bool) {
	switch got.Status {
	case Solved:
		checkPlan(rt, p, want, got, proof)
	case Unsolvable:
		if want.solved {
			rt.Fatalf("unsolvable, but enumeration finds a plan of cost %v", want.cost)
		}
		completions(p.Start, func(s *model.State) bool {
			if n.run(s).solved {
				rt.Fatalf("unsolvable (%s), but with other facts known there is a plan", got.Reason)
			}
			return true
		})
	case Unobservable:
		if want.solved {
			rt.Fatalf("unobservable, but enumeration finds a plan of cost %v", want.cost)
		}
		if len(got.Unknown) == 0 || !hasUnknown(p.Start) {
			rt.Fatalf("unobservable, but nothing is unknown")
		}
	case Exhausted:
		if want.solved || want.exhausted {
			rt.Fatalf("exhausted (%s), but enumeration decides the problem", got.Reason)
		}
	}
}

func checkPlan(rt fataler, p Problem, want naiveResult, got Result, proof bool) {
	s, total := p.Start, 0.0
	for i, g := range got.Plan {
		next, c, _ := apply(s, g)
		if next == nil {
			rt.Fatalf("step %d, %s, may not be done", i+1, p.U.StepText(g))
		}
		s, total = next, total+c
	}
	switch {
	case p.Goal.Eval(s, nil) != model.True:
		rt.Fatalf("the plan does not reach the goal: %s", planText(p.U, got.Plan))
	case total != got.Cost:
		rt.Fatalf("cost is %v, told %v", total, got.Cost)
	case want.exhausted:
		rt.Fatalf("enumeration finds no plan: %s", planText(p.U, got.Plan))
	case got.Optimal && want.solved && total != want.cost:
		rt.Fatalf("called optimal at %v, but %v is possible", total, want.cost)
	case proof && !got.Optimal && want.solved && want.priced:
		rt.Fatalf("not called optimal")
	}
}
