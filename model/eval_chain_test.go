package model_test

import (
	"fmt"
	"maps"
	"testing"

	"pgregory.net/rapid"

	"github.com/fettleops/fettle/model"
)

// naive evaluates quantifiers as they are written, one combination of objects
// after the other, and what stands below them as the model does.
func naive(u *model.Universe, e *model.Expr, s *model.State, env []int32) model.Tri {
	switch e.Op {
	case model.OpNot:
		return naive(u, e.Args[0], s, env).Not()
	case model.OpAnd:
		t := model.True
		for _, a := range e.Args {
			t = t.And(naive(u, a, s, env))
		}
		return t
	case model.OpOr:
		t := model.False
		for _, a := range e.Args {
			t = t.Or(naive(u, a, s, env))
		}
		return t
	case model.OpAny, model.OpAll:
		t := model.Bool(e.Op == model.OpAll)
		if u.Open(e.Over) {
			t = model.Unknown
		}
		for _, o := range u.Objects(e.Over) {
			env[e.Slot] = o
			v := naive(u, e.Args[0], s, env)
			if e.Op == model.OpAll {
				t = t.And(v)
			} else {
				t = t.Or(v)
			}
		}
		return t
	}
	return e.Eval(s, env)
}

// nest draws quantifiers that stand in each other, with a body over all of their
// variables.
func (f *forest) nest(types []*model.Type) *model.Expr {
	n := rapid.IntRange(2, 5).Draw(f.T, "levels")
	var scope []*model.Type
	for range n {
		scope = append(scope, types[f.pick(len(types), "type")])
	}
	var parts []*model.Expr
	for range rapid.IntRange(1, 5).Draw(f.T, "parts") {
		p := f.cond(f.pick(3, "depth"), scope)
		if f.pick(3, "negated") == 0 {
			p = not(p)
		}
		parts = append(parts, p)
	}
	e := []func(...*model.Expr) *model.Expr{model.And, model.Or}[f.pick(2, "body")](parts...)
	op := []model.Op{model.OpAny, model.OpAll}[f.pick(2, "quantifier")]
	for i := n - 1; i >= 0; i-- {
		o := op
		switch f.pick(8, "odd") {
		case 0:
			o = model.OpAny
		case 1:
			e = not(e)
		}
		e = over(o, scope[i], i, e)
	}
	return e
}

func TestNestedQuantifiersAreWhatEachCombinationTells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newForest(t)
		none := f.AddType("none", nil)
		f.svc.Discovered, none.Discovered = true, true
		e := f.nest([]*model.Type{f.svc, f.svc, f.node, f.node, none})
		f.Goals = []*model.Goal{{Name: "g", Cond: &model.Cond{Conjuncts: []*model.Expr{e}, Slots: 16}}}
		f.Link()
		var found []model.Discovery
		for _, d := range []*model.Type{f.svc, none} {
			found = append(found, model.Discovery{Type: d, Failed: f.pick(3, "open") == 0})
		}
		u := model.NewUniverse(f.Model, found...)
		f.u = u
		s := u.NewState(rapid.Bool().Draw(t, "closed"))
		tracked := s.Clone()
		tracked.Track()
		for range 15 {
			f.change(s, tracked)
			want := naive(u, e, s, make([]int32, 16))
			for _, state := range []*model.State{s, tracked} {
				if got := e.Eval(state, make([]int32, 16)); got != want {
					t.Fatalf("%s is %v, want %v", e.Text(u, nil), got, want)
				}
			}
			if got := e.NNF().Eval(s, make([]int32, 16)); got != want {
				t.Fatalf("the normal form of %s is %v, want %v", e.Text(u, nil), got, want)
			}
		}
	})
}

// A condition that the model does not hold is evaluated as it is written.
func TestNestedQuantifiersAreExplainedByTheSameFacts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newForest(t)
		e := f.nest([]*model.Type{f.svc, f.svc, f.node})
		ours, twin := model.NewCond(16, e), model.NewCond(16, e)
		f.Goals = []*model.Goal{{Name: "g", Cond: ours}}
		s := f.done().NewState(rapid.Bool().Draw(t, "closed"))
		for range 10 {
			f.change(s)
			got, want := ours.Explain(s, nil), twin.Explain(s, nil)
			if len(got) != len(want) {
				t.Fatalf("%d failures, want %d", len(got), len(want))
			}
			for i := range got {
				if got[i].Text != want[i].Text || got[i].Truth != want[i].Truth || !maps.Equal(facts(f.u, got[i]), facts(f.u, want[i])) {
					t.Fatalf("got %v %s %v\nwant %v %s %v", got[i].Truth, got[i].Text, facts(f.u, got[i]), want[i].Truth, want[i].Text, facts(f.u, want[i]))
				}
			}
		}
	})
}

func facts(u *model.Universe, f model.Failure) map[string]bool {
	out := map[string]bool{}
	for _, l := range f.Leaves {
		out[u.Text(l.Atom)] = true
	}
	return out
}

// path is: some objects are joined by links, one after the other. Combinations
// of 60 objects would outlast the test.
func path(m *model.Model, links int) (*model.Fluent, *model.Expr) {
	node := m.AddType("node", nil)
	for i := range 60 {
		node.AddObject(fmt.Sprint("n", i))
	}
	p := &model.Fluent{Name: "p", Kind: model.KindBool, Params: []model.Param{{Name: "a", Type: node}, {Name: "b", Type: node}}}
	m.AddFluent(p)
	var parts []*model.Expr
	for i := range links {
		parts = append(parts, on(p, slot(node, i), slot(node, i+1)))
	}
	e := model.And(parts...)
	for i := links; i >= 0; i-- {
		e = over(model.OpAny, node, i, e)
	}
	return p, e
}

func TestALongPathIsLookedForAndExplained(t *testing.T) {
	for _, closed := range []bool{true, false} {
		m := model.New()
		p, e := path(m, 7)
		c := model.NewCond(8, e)
		m.Goals = []*model.Goal{{Name: "g", Cond: c}}
		m.Link()
		u := model.NewUniverse(m)
		s := u.NewState(closed)
		link := func(from int32) { s.Set(model.Atom{Fluent: p, Args: []int32{from, from + 1}}, model.BoolValue(true)) }
		for i := range int32(59) {
			if i%5 != 4 {
				link(i)
			}
		}
		want := model.False
		if !closed {
			want = model.Unknown
		}
		failures := c.Explain(s, nil)
		if len(failures) != 1 || failures[0].Truth != want {
			t.Fatalf("failures %+v, want one that is %v", failures, want)
		}
		if n := len(failures[0].Leaves); n != 60*60-48 {
			t.Errorf("%d facts could help, want those that do not hold, %d", n, 60*60-48)
		}
		link(4)
		if got := c.Eval(s, nil); got != model.True {
			t.Errorf("with ten in a row it is %v", got)
		}
		if got := (&model.Cond{Conjuncts: []*model.Expr{not(c.Conjuncts[0])}, Slots: 8}).Explain(s, nil); len(got) != 1 || len(got[0].Leaves) == 0 {
			t.Errorf("the contrary fails with %d failures", len(got))
		}
	}
}
