package model_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/fettleops/fettle/model"
)

// forest draws conditions over a few fluents, quantifiers nested.
type forest struct {
	*rapid.T
	*small
	bools   []*model.Fluent
	numbers []*model.Fluent
}

func newForest(t *rapid.T) *forest {
	s := newSmall()
	f := &forest{T: t, small: s}
	q := slot(s.svc, 0)
	f.bools = []*model.Fluent{s.bool("p"), s.bool("q", s.svc), s.bool("r", s.svc, s.node), s.bool("sym", s.svc, s.svc)}
	f.numbers = []*model.Fluent{s.number("m"), s.number("n", s.svc)}
	f.bools = append(f.bools, s.derived("either", model.Or(on(f.bools[1], q), on(f.bools[2], q, object(s.node, "n1"))), s.svc))
	return f
}

func (f *forest) pick(n int, what string) int { return rapid.IntRange(0, n-1).Draw(f.T, what) }

// read is a fluent over the variables in scope, by slot, or objects.
func (f *forest) read(fluents []*model.Fluent, scope []*model.Type) *model.Expr {
	fl := fluents[f.pick(len(fluents), "fluent")]
	var args []*model.Expr
	for _, p := range fl.Params {
		in := []*model.Expr{object(p.Type, f.names(p.Type)[f.pick(len(f.names(p.Type)), "object")])}
		for s, t := range scope {
			if t == p.Type {
				in = append(in, slot(t, s))
			}
		}
		args = append(args, in[f.pick(len(in), "argument")])
	}
	return on(fl, args...)
}

func (f *forest) names(t *model.Type) []string {
	if t == f.svc {
		return []string{"api", "db", "web"}
	}
	return []string{"n1", "n2"}
}

func (f *forest) number(depth int, scope []*model.Type) *model.Expr {
	switch f.pick(5, "number") {
	case 0:
		return num(float64(f.pick(4, "constant")))
	case 1:
		inner := append(append([]*model.Type{}, scope...), f.svc)
		return over([]model.Op{model.OpCount, model.OpCount, model.OpCount}[f.pick(3, "aggregate")], f.svc, len(scope), f.cond(depth-1, inner))
	case 2:
		if depth > 0 {
			return calc([]model.Op{model.OpAdd, model.OpSub, model.OpMul}[f.pick(3, "operator")], f.number(depth-1, scope), f.number(depth-1, scope))
		}
	}
	return f.read(f.numbers, scope)
}

func (f *forest) cond(depth int, scope []*model.Type) *model.Expr {
	if depth <= 0 {
		return f.read(f.bools, scope)
	}
	switch f.pick(6, "form") {
	case 0:
		return not(f.cond(depth-1, scope))
	case 1:
		return model.And(f.cond(depth-1, scope), f.cond(depth-1, scope))
	case 2:
		return model.Or(f.cond(depth-1, scope), f.cond(depth-1, scope))
	case 3:
		t := []*model.Type{f.svc, f.node}[f.pick(2, "type")]
		inner := append(append([]*model.Type{}, scope...), t)
		return over([]model.Op{model.OpAll, model.OpAny, model.OpOne}[f.pick(3, "quantifier")], t, len(scope), f.cond(depth-1, inner))
	case 4:
		return test([]model.Op{model.OpEq, model.OpNe, model.OpLt, model.OpLe, model.OpGt, model.OpGe}[f.pick(6, "comparison")],
			f.number(depth-1, scope), f.number(depth-1, scope))
	}
	return test(model.OpIf, f.cond(depth-1, scope), f.cond(depth-1, scope), f.cond(depth-1, scope))
}

// change gives one atom a value, or unknown.
func (f *forest) change(states ...*model.State) {
	fluents := append(append([]*model.Fluent{}, f.bools[:4]...), f.numbers...)
	r := f.read(fluents, nil)
	a := model.Atom{Fluent: r.Fluent}
	for _, x := range r.Args {
		a.Args = append(a.Args, x.Const.Object())
	}
	var v model.Value
	switch k := f.pick(4, "value"); {
	case k == 0:
	case r.Fluent.Kind == model.KindBool:
		v = model.BoolValue(k == 1)
	default:
		v = model.NumberValue(float64(k))
	}
	for _, s := range states {
		s.Set(a, v)
	}
}

func TestNormalFormKeepsTheValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newForest(t)
		e := f.cond(3, nil)
		s := f.done().NewState(false)
		for range 12 {
			f.change(s)
			want := e.Eval(s, make([]int32, 16))
			if got := e.NNF().Eval(s, make([]int32, 16)); got != want {
				t.Fatalf("%s is %v, its normal form %s is %v", e.Text(f.u, nil), want, e.NNF().Text(f.u, nil), got)
			}
			if got := not(e).NNF().Eval(s, make([]int32, 16)); got != want.Not() {
				t.Fatalf("%s is %v, the normal form of its negation is %v", e.Text(f.u, nil), want, got)
			}
			if got := model.NewCond(16, e).Eval(s, nil); got != want {
				t.Fatalf("%s is %v, split it is %v", e.Text(f.u, nil), want, got)
			}
		}
	})
}

func TestATrackedStateKnowsWhatAnotherComputes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newForest(t)
		a := f.action("act", nil, []*model.Expr{f.cond(2, nil), f.cond(3, nil)})
		f.Goals = []*model.Goal{{Name: "g", Cond: model.NewCond(16, f.cond(3, nil))}}
		u := f.done()
		plain := u.NewState(rapid.Bool().Draw(t, "closed"))
		for range 3 {
			f.change(plain)
		}
		tracked := plain.Clone()
		tracked.Track()
		for range 12 {
			f.change(plain, tracked)
			copied := tracked.Clone()
			for _, e := range append(append([]*model.Expr{}, a.Precondition.Conjuncts...), f.Goals[0].Cond.Conjuncts...) {
				want := e.Eval(plain, make([]int32, 16))
				for _, s := range []*model.State{tracked, copied} {
					if got := e.Eval(s, make([]int32, 16)); got != want {
						t.Fatalf("%s is %v, tracked it is %v", e.Text(u, nil), want, got)
					}
				}
			}
		}
	})
}

// TestUnknownIsSound holds a result over unknowns to every completion: what is
// known must stay so whatever the unknown facts turn out to be.
func TestUnknownIsSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newForest(t)
		e := f.cond(3, nil)
		u := f.done()
		s := u.NewState(false)
		for range 10 {
			f.change(s)
		}
		full := s.Clone()
		for _, fl := range append(append([]*model.Fluent{}, f.bools[:4]...), f.numbers...) {
			for a := range u.Atoms(fl) {
				switch {
				case full.Get(a).Known():
				case fl.Kind == model.KindBool:
					full.Set(a, model.BoolValue(rapid.Bool().Draw(t, "completed")))
				default:
					full.Set(a, model.NumberValue(float64(f.pick(5, "completed"))))
				}
			}
		}
		want := e.Eval(s, make([]int32, 16))
		if got := e.Eval(full, make([]int32, 16)); want != model.Unknown && got != want || got == model.Unknown {
			t.Fatalf("%s is %v, completed it is %v", e.Text(u, nil), want, got)
		}
	})
}

// TestFailuresNameWhatMatters: every failure of a condition over known facts
// has a fact that makes it fail, and the failures are those of the conjuncts.
func TestFailuresNameWhatMatters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newForest(t)
		c := model.NewCond(16, f.cond(2, nil), f.cond(3, nil))
		u := f.done()
		s := u.NewState(true)
		for _, a := range []string{"m", "n(api)", "n(db)", "n(web)"} {
			s.Set(atomOf(u, a), model.NumberValue(float64(f.pick(3, "number"))))
		}
		for range 6 {
			f.change(s)
		}
		truth := c.Eval(s, nil)
		failures := c.Explain(s, nil)
		if (len(failures) == 0) != (truth == model.True) {
			t.Fatalf("%v with %d failures", truth, len(failures))
		}
		worst := model.True
		for _, x := range failures {
			worst = worst.And(x.Truth)
			if got := x.Expr.Eval(s, append([]int32(nil), x.Env...)); got != x.Truth {
				t.Fatalf("%s is said to be %v, it is %v", x.Text, x.Truth, got)
			}
			reads := false
			x.Expr.Walk(func(e *model.Expr) bool {
				reads = reads || e.Op == model.OpFluent
				return true
			})
			if len(x.Leaves) == 0 && reads {
				t.Fatalf("%s names no fact", x.Text)
			}
		}
		if worst != truth {
			t.Fatalf("failures are %v, the condition is %v", worst, truth)
		}
	})
}

func atomOf(u *model.Universe, s string) model.Atom {
	name, args, _ := model.ParseAtom(s)
	a, _ := u.FindAtom(name, args)
	return a
}
