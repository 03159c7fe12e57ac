package validator_test

import (
	"strings"
	"testing"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

// builder makes models in code, in few words.
type builder struct {
	*model.Model
}

func newBuilder() *builder { return &builder{model.New()} }

// typ declares a type with objects.
func (b *builder) typ(name string, objects ...string) *model.Type {
	t := b.AddType(name, nil)
	for _, o := range objects {
		t.AddObject(o)
	}
	return t
}

// bool declares a bool fluent over the types; its parameters are named a, b, ….
func (b *builder) bool(name string, over ...*model.Type) *model.Fluent {
	return b.fluent(model.KindBool, name, over...)
}

func (b *builder) number(name string, over ...*model.Type) *model.Fluent {
	return b.fluent(model.KindNumber, name, over...)
}

func (b *builder) fluent(k model.Kind, name string, over ...*model.Type) *model.Fluent {
	f := &model.Fluent{Name: name, Kind: k, Params: params(over...)}
	b.AddFluent(f)
	return f
}

func params(over ...*model.Type) []model.Param {
	var ps []model.Param
	for i, t := range over {
		name := string(rune('a' + i))
		if t.Name != "" && !t.Enum {
			name = t.Name[:1]
		}
		ps = append(ps, model.Param{Name: name, Type: t})
	}
	return ps
}

// action declares an action over the types, with 4 more slots for quantifiers.
func (b *builder) action(name string, over []*model.Type, pre []*model.Expr, effects ...model.Effect) *model.Action {
	a := &model.Action{Name: name, Params: params(over...), Effects: effects, Slots: len(over) + 4}
	if pre != nil {
		a.Precondition = model.NewCond(a.Slots, pre...)
	}
	b.AddAction(a)
	return a
}

// on is the fluent read with these arguments.
func on(f *model.Fluent, args ...*model.Expr) *model.Expr {
	return &model.Expr{Op: model.OpFluent, Kind: f.Kind, Type: f.Type, Fluent: f, Args: args}
}

func slot(t *model.Type, i int) *model.Expr {
	return &model.Expr{Op: model.OpSlot, Kind: model.KindObject, Type: t, Slot: i, Name: t.Name[:1]}
}

func object(t *model.Type, name string) *model.Expr {
	o, _ := t.Lookup(name)
	return &model.Expr{Op: model.OpObject, Kind: model.KindObject, Type: t, Const: model.ObjectValue(o)}
}

func num(f float64) *model.Expr {
	return &model.Expr{Op: model.OpConst, Kind: model.KindNumber, Const: model.NumberValue(f)}
}

func not(e *model.Expr) *model.Expr { return op(model.OpNot, model.KindBool, e) }

func op(o model.Op, k model.Kind, args ...*model.Expr) *model.Expr {
	return &model.Expr{Op: o, Kind: k, Args: args}
}

// over is a quantifier that binds the slot.
func over(o model.Op, t *model.Type, slot int, body *model.Expr) *model.Expr {
	k := model.KindBool
	switch o {
	case model.OpCount, model.OpSum, model.OpMin, model.OpMax:
		k = model.KindNumber
	}
	return &model.Expr{Op: o, Kind: k, Over: t, Slot: slot, Args: []*model.Expr{body}}
}

func add(e *model.Expr) model.Effect {
	return model.Effect{Op: model.Add, Fluent: e.Fluent, Args: e.Args}
}

func del(e *model.Expr) model.Effect {
	return model.Effect{Op: model.Del, Fluent: e.Fluent, Args: e.Args}
}

func set(e, v *model.Expr) model.Effect {
	return model.Effect{Op: model.Set, Fluent: e.Fluent, Args: e.Args, Value: v}
}

func cond(es ...*model.Expr) *model.Cond { return model.NewCond(8, es...) }

// atom parses an atom of the universe.
func atom(t testing.TB, u *model.Universe, text string) model.Atom {
	t.Helper()
	name, args, err := model.ParseAtom(text)
	f := u.Fluent(name)
	if err != nil || f == nil {
		t.Fatalf("%s: %v", text, err)
	}
	a := model.Atom{Fluent: f}
	for i, n := range args {
		o, ok := u.Find(f.Params[i].Type, n)
		if !ok {
			t.Fatalf("%s: no object %s", text, n)
		}
		a.Args = append(a.Args, o)
	}
	return a
}

// closed is a closed-world state in which these bools are true.
func closed(t testing.TB, u *model.Universe, facts ...string) *model.State {
	t.Helper()
	s := u.NewState(true)
	for _, f := range facts {
		s.Set(atom(t, u, f), model.BoolValue(true))
	}
	return s
}

func plan(text string) func(func(model.Step, error) bool) {
	return validator.ReadPlan(strings.NewReader(text))
}

// classic is the example of draining before restarting.
func classic(t testing.TB) validator.Problem {
	t.Helper()
	b := newBuilder()
	svc := b.typ("service", "api", "db")
	one := []*model.Type{svc}
	capacity, lockFree := on(b.bool("capacity")), on(b.bool("lock_free"))
	s := slot(svc, 0)
	fl := map[string]*model.Expr{}
	for _, n := range []string{"in_lb", "drained", "ready", "mem_ok", "version_ok", "lock"} {
		fl[n] = on(b.bool(n, svc), s)
	}
	exprs := func(es ...*model.Expr) []*model.Expr { return es }
	b.action("drain", one, exprs(capacity, fl["in_lb"]), add(fl["drained"]), del(capacity), del(fl["in_lb"]))
	b.action("restart", one, exprs(fl["drained"]), add(fl["ready"]), add(fl["mem_ok"]))
	b.action("take_lock", one, exprs(lockFree), add(fl["lock"]), del(lockFree))
	b.action("revert", one, exprs(fl["drained"], fl["lock"]), add(fl["ready"]), add(fl["version_ok"]))
	b.action("readd", one, exprs(fl["drained"], fl["ready"]), add(capacity), add(fl["in_lb"]), del(fl["drained"]), del(fl["ready"]))
	b.action("release", one, exprs(fl["lock"]), add(lockFree), del(fl["lock"]))
	b.Link()
	u := model.NewUniverse(b.Model)
	q := slot(svc, 0)
	goal := cond(over(model.OpAll, svc, 0, model.And(on(fl["in_lb"].Fluent, q), on(fl["mem_ok"].Fluent, q), on(fl["version_ok"].Fluent, q))), lockFree)
	return validator.Problem{
		U: u, Goal: goal, GoalName: "healthy",
		Start: closed(t, u, "capacity", "lock_free", "in_lb(api)", "in_lb(db)", "version_ok(api)", "mem_ok(db)"),
	}
}
