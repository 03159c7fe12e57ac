package search

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/fettleops/fettle/model"
)

// walker takes the same steps on packed states and on the model's.
type walker struct {
	fail failing
	t    *task
	m    *machine
	ops  map[string]*operator
	all  []model.Ground
}

func newWalker(t *testing.T, fail failing) *walker {
	lim := newLimiter(t.Context(), Options{})
	tk, c := compileProblem(fail.p, lim, false)
	tk.findFuzzy(len(c.nodes))
	tk.layout() // nothing is pruned: every variable has its place
	w := &walker{fail: fail, t: tk, m: tk.newMachine(), ops: map[string]*operator{}, all: newNaive(fail.p, 0).grounds}
	for i := range tk.ops {
		w.ops[fail.p.U.StepText(tk.ops[i].g)] = &tk.ops[i]
	}
	return w
}

// step compares every ground action in one state, and returns the states that
// the packed ones lead to.
func (w *walker) step(s *model.State, packed []uint64) (nexts []*model.State, packs [][]uint64) {
	for _, g := range w.all {
		name := w.fail.p.U.StepText(g)
		want, cost, priced := apply(s, g)
		op := w.ops[name]
		if op == nil {
			if want != nil {
				w.fail.Fatalf("%s was not grounded, but can be done", name)
			}
			continue
		}
		got := make([]uint64, w.t.words)
		w.m.load(packed)
		ok := w.m.applicable(op)
		if ok {
			if c := w.m.costOf(op); want != nil && c != cost && priced {
				w.fail.Fatalf("%s costs %v, compiled %v", name, cost, c)
			}
			ok = w.m.apply(op, packed, got)
		}
		if ok != (want != nil) {
			w.fail.Fatalf("%s can be done: %v, compiled %v", name, want != nil, ok)
		}
		if ok {
			w.compare(name, want, got)
			nexts, packs = append(nexts, want), append(packs, got)
		}
	}
	return nexts, packs
}

func (w *walker) compare(name string, want *model.State, got []uint64) {
	for i := range w.t.vars {
		x := &w.t.vars[i]
		a := model.Atom{Fluent: x.f, Args: w.t.u.Args(x.f, x.index)}
		if v := w.t.decode(x, x.get(got)); v != want.Get(a) {
			w.fail.Fatalf("after %s %s is %v, compiled %v", name, w.t.u.Text(a), want.Get(a), v)
		}
	}
	w.m.load(got)
	if holds := !w.t.hopeless && w.m.all(w.t.goal); holds != (w.fail.p.Goal.Eval(want, nil) == model.True) {
		w.fail.Fatalf("after %s the goal holds: %v, compiled %v", name, !holds, holds)
	}
}

func TestCompiledStepsAgreeWithTheModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := &gen{t: rt}
		p := g.problem()
		w := newWalker(t, failing{rt, p})
		s, packed := p.Start, w.t.init
		for range 8 {
			nexts, packs := w.step(s, packed)
			if len(nexts) == 0 {
				return
			}
			i := g.n(len(nexts))
			s, packed = nexts[i], packs[i]
		}
	})
}
