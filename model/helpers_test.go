package model_test

import (
	"testing"

	"github.com/fettleops/fettle/model"
)

// small is a model of services and nodes that the tables share.
type small struct {
	*model.Model
	svc, node *model.Type
	u         *model.Universe // set by done
}

func newSmall() *small {
	m := model.New()
	s := &small{Model: m, svc: m.AddType("service", nil), node: m.AddType("node", nil)}
	for _, n := range []string{"api", "db", "web"} {
		s.svc.AddObject(n)
	}
	s.node.AddObject("n1")
	s.node.AddObject("n2")
	return s
}

func (s *small) done() *model.Universe {
	s.Link()
	s.u = model.NewUniverse(s.Model)
	return s.u
}

func (s *small) fluent(k model.Kind, name string, over ...*model.Type) *model.Fluent {
	f := &model.Fluent{Name: name, Kind: k}
	for _, t := range over {
		f.Params = append(f.Params, model.Param{Name: t.Name[:1], Type: t})
	}
	s.AddFluent(f)
	return f
}

func (s *small) bool(name string, over ...*model.Type) *model.Fluent {
	return s.fluent(model.KindBool, name, over...)
}

func (s *small) number(name string, over ...*model.Type) *model.Fluent {
	return s.fluent(model.KindNumber, name, over...)
}

func (s *small) derived(name string, body *model.Expr, over ...*model.Type) *model.Fluent {
	f := s.fluent(body.Kind, name, over...)
	f.Derived, f.Slots = body, 8
	return f
}

func (s *small) action(name string, over []*model.Type, pre []*model.Expr, effects ...model.Effect) *model.Action {
	a := &model.Action{Name: name, Effects: effects, Slots: 8}
	for _, t := range over {
		a.Params = append(a.Params, model.Param{Name: t.Name[:1], Type: t})
	}
	if pre != nil {
		a.Precondition = model.NewCond(8, pre...)
	}
	s.AddAction(a)
	return a
}

func on(f *model.Fluent, args ...*model.Expr) *model.Expr {
	return &model.Expr{Op: model.OpFluent, Kind: f.Kind, Type: f.Type, Fluent: f, Args: args}
}

func slot(t *model.Type, i int) *model.Expr {
	return &model.Expr{Op: model.OpSlot, Kind: model.KindObject, Type: t, Slot: i, Name: t.Name[:1]}
}

func object(t *model.Type, name string) *model.Expr {
	return &model.Expr{Op: model.OpObject, Kind: model.KindObject, Type: t, Const: model.ObjectValue(t.Mention(name))}
}

func num(f float64) *model.Expr {
	return &model.Expr{Op: model.OpConst, Kind: model.KindNumber, Const: model.NumberValue(f)}
}

func text(s string) *model.Expr {
	return &model.Expr{Op: model.OpConst, Kind: model.KindString, Const: model.StringValue(s)}
}

func not(e *model.Expr) *model.Expr { return test(model.OpNot, e) }

func test(o model.Op, args ...*model.Expr) *model.Expr {
	return &model.Expr{Op: o, Kind: model.KindBool, Args: args}
}

func calc(o model.Op, args ...*model.Expr) *model.Expr {
	return &model.Expr{Op: o, Kind: model.KindNumber, Args: args}
}

func over(o model.Op, t *model.Type, slot int, body *model.Expr) *model.Expr {
	k := model.KindBool
	switch o {
	case model.OpCount, model.OpSum, model.OpMin, model.OpMax:
		k = model.KindNumber
	}
	return &model.Expr{Op: o, Kind: k, Over: t, Slot: slot, Args: []*model.Expr{body}}
}

func write(o model.EffectOp, e, value *model.Expr) model.Effect {
	return model.Effect{Op: o, Fluent: e.Fluent, Args: e.Args, Value: value}
}

func add(e *model.Expr) model.Effect { return write(model.Add, e, nil) }
func del(e *model.Expr) model.Effect { return write(model.Del, e, nil) }

// atom parses an atom of the universe.
func atom(t testing.TB, u *model.Universe, s string) model.Atom {
	t.Helper()
	name, args, err := model.ParseAtom(s)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	a, err := u.FindAtom(name, args)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return a
}

// ground parses a ground action.
func ground(t testing.TB, u *model.Universe, s string) model.Ground {
	t.Helper()
	name, args, err := model.ParseAtom(s)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	g, fault := u.Bind(model.Step{Action: name, Args: args}, nil)
	if fault != nil {
		t.Fatal(fault.Message)
	}
	return g
}

// put sets atoms: true, false, a float64, a string, or nil for unknown.
func put(t testing.TB, s *model.State, values map[string]any) {
	t.Helper()
	for k, v := range values {
		x := model.Value{}
		switch v := v.(type) {
		case bool:
			x = model.BoolValue(v)
		case float64:
			x = model.NumberValue(v)
		case int:
			x = model.NumberValue(float64(v))
		case string:
			x = model.StringValue(v)
		}
		s.Set(atom(t, s.Universe(), k), x)
	}
}
