package search

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/fettleops/fettle/model"
)

// Expressions for tests, over slots 0, 1, … for parameters.

func num(f float64) *model.Expr {
	return &model.Expr{Op: model.OpConst, Kind: model.KindNumber, Const: model.NumberValue(f)}
}

func str(s string) *model.Expr {
	return &model.Expr{Op: model.OpConst, Kind: model.KindString, Const: model.StringValue(s)}
}

func slot(i int, t *model.Type) *model.Expr {
	return &model.Expr{Op: model.OpSlot, Kind: model.KindObject, Slot: i, Type: t, Name: fmt.Sprint("x", i)}
}

func obj(t *model.Type, name string) *model.Expr {
	return &model.Expr{Op: model.OpObject, Kind: model.KindObject, Type: t, Const: model.ObjectValue(t.Mention(name))}
}

func read(f *model.Fluent, args ...*model.Expr) *model.Expr {
	return &model.Expr{Op: model.OpFluent, Kind: f.Kind, Type: f.Type, Fluent: f, Args: args}
}

func ex(op model.Op, k model.Kind, args ...*model.Expr) *model.Expr {
	return &model.Expr{Op: op, Kind: k, Args: args}
}

func not(e *model.Expr) *model.Expr   { return ex(model.OpNot, model.KindBool, e) }
func eq(a, b *model.Expr) *model.Expr { return ex(model.OpEq, model.KindBool, a, b) }
func le(a, b *model.Expr) *model.Expr { return ex(model.OpLe, model.KindBool, a, b) }
func ge(a, b *model.Expr) *model.Expr { return ex(model.OpGe, model.KindBool, a, b) }

func quantify(op model.Op, k model.Kind, t *model.Type, slot int, body *model.Expr) *model.Expr {
	return &model.Expr{Op: op, Kind: k, Over: t, Slot: slot, Name: fmt.Sprint("x", slot), Args: []*model.Expr{body}}
}

// kit builds a model.
type kit struct {
	m *model.Model
}

func newKit() *kit { return &kit{model.New()} }

func (k *kit) typ(name string, objects ...string) *model.Type {
	t := k.m.AddType(name, nil)
	for _, o := range objects {
		t.AddObject(o)
	}
	return t
}

func params(ts ...*model.Type) []model.Param {
	var ps []model.Param
	for i, t := range ts {
		ps = append(ps, model.Param{Name: fmt.Sprint("x", i), Type: t})
	}
	return ps
}

func (k *kit) fluent(name string, kind model.Kind, vt *model.Type, ts ...*model.Type) *model.Fluent {
	f := &model.Fluent{Name: name, Kind: kind, Type: vt, Params: params(ts...)}
	k.m.AddFluent(f)
	return f
}

func (k *kit) pred(name string, ts ...*model.Type) *model.Fluent {
	return k.fluent(name, model.KindBool, nil, ts...)
}

func (k *kit) derived(name string, e *model.Expr, ts ...*model.Type) *model.Fluent {
	f := &model.Fluent{Name: name, Kind: e.Kind, Type: e.Type, Params: params(ts...), Derived: e, Slots: 8}
	k.m.AddFluent(f)
	return f
}

func add(f *model.Fluent, args ...*model.Expr) model.Effect {
	return model.Effect{Op: model.Add, Fluent: f, Args: args}
}

func del(f *model.Fluent, args ...*model.Expr) model.Effect {
	return model.Effect{Op: model.Del, Fluent: f, Args: args}
}

func set(f *model.Fluent, v *model.Expr, args ...*model.Expr) model.Effect {
	return model.Effect{Op: model.Set, Fluent: f, Args: args, Value: v}
}

func inc(f *model.Fluent, v *model.Expr, args ...*model.Expr) model.Effect {
	return model.Effect{Op: model.Increase, Fluent: f, Args: args, Value: v}
}

func dec(f *model.Fluent, v *model.Expr, args ...*model.Expr) model.Effect {
	return model.Effect{Op: model.Decrease, Fluent: f, Args: args, Value: v}
}

func when(c *model.Expr, e model.Effect) model.Effect {
	e.When = c
	return e
}

func (k *kit) action(name string, ts []*model.Type, pre []*model.Expr, effects ...model.Effect) *model.Action {
	a := &model.Action{Name: name, Params: params(ts...), Precondition: model.NewCond(8, pre...), Effects: effects, Slots: 8}
	k.m.AddAction(a)
	return a
}

func (k *kit) invariant(name string, strict bool, es ...*model.Expr) {
	k.m.AddInvariant(&model.Invariant{Name: name, Cond: model.NewCond(8, es...), Strict: strict})
}

func (k *kit) universe(found ...model.Discovery) *model.Universe {
	k.m.Link()
	return model.NewUniverse(k.m, found...)
}

// put sets atoms of a state, named in the grammar of ground atoms.
func put(t testing.TB, s *model.State, v model.Value, atoms ...string) {
	t.Helper()
	u := s.Universe()
	for _, text := range atoms {
		name, args, err := model.ParseAtom(text)
		if err != nil {
			t.Fatal(err)
		}
		a := model.Atom{Fluent: u.Fluent(name)}
		for i, n := range args {
			o, ok := u.Find(a.Fluent.Params[i].Type, n)
			if !ok {
				t.Fatalf("%s: no object %s", text, n)
			}
			a.Args = append(a.Args, o)
		}
		s.Set(a, v)
	}
}

func facts(t testing.TB, s *model.State, atoms ...string) {
	t.Helper()
	put(t, s, model.BoolValue(true), atoms...)
}

func types(ts ...*model.Type) []*model.Type { return ts }

func exprs(es ...*model.Expr) []*model.Expr { return es }

func goal(es ...*model.Expr) *model.Cond { return model.NewCond(8, es...) }

func solve(t testing.TB, p Problem, o Options) Result {
	t.Helper()
	r, err := Search(context.Background(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func planText(u *model.Universe, plan []model.Ground) string {
	var out []string
	for _, g := range plan {
		out = append(out, u.StepText(g))
	}
	return strings.Join(out, " ")
}
