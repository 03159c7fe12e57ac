package validator_test

import (
	"fmt"
	"iter"
	"testing"

	"pgregory.net/rapid"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

// drawn draws a small model of two types, with every sort of effect.
type drawn struct {
	*rapid.T
	*builder
	types   []*model.Type
	bools   []*model.Fluent
	numbers []*model.Fluent
}

func (d *drawn) int(n int, what string) int { return rapid.IntRange(0, n-1).Draw(d.T, what) }

func (d *drawn) chance(what string) bool { return rapid.Bool().Draw(d.T, what) }

// read is a fluent over variables in scope, by slot, or objects.
func (d *drawn) read(f *model.Fluent, scope map[int]*model.Type) *model.Expr {
	var args []*model.Expr
	for _, p := range f.Params {
		var in []*model.Expr
		for s := range 8 {
			if scope[s] == p.Type {
				in = append(in, slot(p.Type, s))
			}
		}
		k := d.int(len(in)+1, "argument")
		if k == len(in) {
			in = append(in, object(p.Type, fmt.Sprintf("%s%d", p.Type.Name, d.int(len(p.Type.Objects), "object"))))
		}
		args = append(args, in[k])
	}
	return on(f, args...)
}

func (d *drawn) expr(depth int, scope map[int]*model.Type, fluents []*model.Fluent) *model.Expr {
	if depth == 0 {
		return d.read(fluents[d.int(len(fluents), "fluent")], scope)
	}
	sub := func() *model.Expr { return d.expr(depth-1, scope, fluents) }
	switch d.int(7, "form") {
	case 0:
		return not(sub())
	case 1:
		return model.And(sub(), sub())
	case 2:
		return model.Or(sub(), sub())
	case 3, 4:
		t := d.types[d.int(2, "type")]
		s := fresh(scope)
		inner := map[int]*model.Type{s: t}
		for k, v := range scope {
			inner[k] = v
		}
		body := d.expr(depth-1, inner, fluents)
		if d.chance("counted") {
			return op([]model.Op{model.OpLe, model.OpGt, model.OpEq}[d.int(3, "comparison")], model.KindBool,
				over(model.OpCount, t, s, body), num(float64(d.int(3, "bound"))))
		}
		return over([]model.Op{model.OpAll, model.OpAny}[d.int(2, "quantifier")], t, s, body)
	case 5:
		return op(model.OpLe, model.KindBool, d.read(d.numbers[d.int(2, "number")], scope), num(float64(d.int(4, "bound"))))
	}
	return sub()
}

// fresh is the first slot behind those in scope: outer before inner.
func fresh(scope map[int]*model.Type) int {
	n := 0
	for s := range scope {
		n = max(n, s+1)
	}
	return n
}

func (d *drawn) effect(scope map[int]*model.Type) model.Effect {
	var e model.Effect
	if d.chance("universal") {
		t := d.types[d.int(2, "type")]
		s := fresh(scope)
		e.Forall = []model.Binder{{Slot: s, Type: t, Name: "o"}}
		inner := map[int]*model.Type{s: t}
		for k, v := range scope {
			inner[k] = v
		}
		scope = inner
	}
	if d.chance("conditional") {
		e.When = d.expr(1, scope, d.bools)
	}
	switch e.Op = model.EffectOp(d.int(5, "operation")); e.Op {
	case model.Add, model.Del:
		r := d.read(d.bools[d.int(3, "written")], scope)
		e.Fluent, e.Args = r.Fluent, r.Args
	default:
		r := d.read(d.numbers[d.int(2, "written")], scope)
		e.Fluent, e.Args = r.Fluent, r.Args
		e.Value = num(float64(d.int(3, "value")))
		if d.chance("computed") {
			e.Value = op(model.OpAdd, model.KindNumber, d.read(d.numbers[d.int(2, "read")], scope), e.Value)
		}
	}
	return e
}

func (d *drawn) problem() validator.Problem {
	for _, n := range []string{"a", "b"} {
		t := d.AddType(n, nil)
		for i := range 1 + d.int(3, "objects") {
			t.AddObject(fmt.Sprintf("%s%d", n, i))
		}
		d.types = append(d.types, t)
	}
	d.bools = []*model.Fluent{d.bool("p"), d.bool("q", d.types[0]), d.bool("r", d.types[0], d.types[1])}
	d.numbers = []*model.Fluent{d.number("m"), d.number("n", d.types[1])}
	base := d.bools
	derived := &model.Fluent{
		Name: "z", Kind: model.KindBool, Params: params(d.types[0]), Slots: 8,
		Derived: d.expr(2, map[int]*model.Type{0: d.types[0]}, base),
	}
	d.AddFluent(derived)
	all := append(append([]*model.Fluent{}, base...), derived)
	for i := range 1 + d.int(3, "actions") {
		over := d.types[:d.int(3, "parameters")]
		scope := map[int]*model.Type{}
		for k, t := range over {
			scope[k] = t
		}
		a := &model.Action{Name: fmt.Sprintf("act%d", i), Params: params(over...), Slots: 8}
		if d.chance("precondition") {
			a.Precondition = model.NewCond(8, d.expr(2, scope, all))
		}
		for range 1 + d.int(3, "effects") {
			a.Effects = append(a.Effects, d.effect(scope))
		}
		d.AddAction(a)
	}
	for i := range d.int(3, "invariants") {
		d.AddInvariant(&model.Invariant{Name: fmt.Sprintf("inv%d", i), Cond: cond(d.expr(2, nil, all))})
	}
	d.Link()
	u := model.NewUniverse(d.Model)
	return validator.Problem{U: u, Start: d.state(u), Goal: cond(d.expr(1, nil, all)), GoalName: "g"}
}

func (d *drawn) state(u *model.Universe) *model.State {
	s := u.NewState(false)
	for _, f := range append(append([]*model.Fluent{}, d.bools...), d.numbers...) {
		for a := range u.Atoms(f) {
			if k := d.int(5, "value"); k < 4 && f.Kind == model.KindBool {
				s.Set(a, model.BoolValue(k > 1))
			} else if k < 4 {
				s.Set(a, model.NumberValue(float64(k)))
			}
		}
	}
	return s
}

func (d *drawn) ground(u *model.Universe) model.Ground {
	g := model.Ground{Action: u.Actions[d.int(len(u.Actions), "action")]}
	for _, p := range g.Action.Params {
		g.Args = append(g.Args, u.Objects(p.Type)[d.int(len(p.Type.Objects), "object")])
	}
	return g
}

func (d *drawn) plan(u *model.Universe) []model.Ground {
	var gs []model.Ground
	for range d.int(8, "steps") {
		gs = append(gs, d.ground(u))
	}
	return gs
}

func grounds(u *model.Universe, gs []model.Ground) iter.Seq2[model.Step, error] {
	return func(yield func(model.Step, error) bool) {
		for _, g := range gs {
			if !yield(u.Step(g), nil) {
				return
			}
		}
	}
}

func TestValidateAgreesWithANaiveTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := &drawn{T: t, builder: newBuilder()}
		p := d.problem()
		steps := d.plan(p.U)
		start := newTwin(p.U, p.Start)
		step, kind, end := start.validate(p, steps)
		r := validator.Validate(p, grounds(p.U, steps))
		if r.Step != step || r.Kind != kind {
			t.Fatalf("step %d, kind %q; the twin says %d, %q\n%s", r.Step, r.Kind, step, kind, r.Critique)
		}
		for text, v := range end.state {
			if got := newTwin(p.U, r.State).state[text]; got != v {
				t.Fatalf("%s is %v in the report's state, %v in the twin's", text, got, v)
			}
		}
		for text, v := range start.state {
			if got := newTwin(p.U, p.Start).state[text]; got != v {
				t.Fatalf("the start was changed: %s", text)
			}
		}
		checkReport(t, p, &r)
	})
}

// checkReport holds what a report claims to the state that it hands back.
func checkReport(t *rapid.T, p validator.Problem, r *validator.Report) {
	if (r.Kind == validator.Precondition || r.Kind == validator.UnknownValue || r.Kind == validator.Goal) && len(r.Missing) == 0 {
		t.Fatalf("%s names nothing missing", r.Critique)
	}
	for _, m := range r.Missing {
		for _, b := range m.Because {
			if r.Kind != validator.Invariant && p.U.Plain(b.Atom.Fluent, r.State.Get(b.Atom)) != b.Value {
				t.Fatalf("%s: %s is said to be %v", r.Critique, b.Fluent, b.Value)
			}
			if len(b.Achievers) > 8 || b.Applicable > len(b.Achievers) {
				t.Fatalf("achievers %v, %d applicable", b.Achievers, b.Applicable)
			}
		}
	}
}
