package planner

import (
	"testing"

	"github.com/fettleops/fettle/model"
)

// TestKeyFollowsWhatBearsOnThePlan: the key differs where a conjunct of the
// goal, of a step's precondition or of an invariant has another truth value,
// and only there.
func TestKeyFollowsWhatBearsOnThePlan(t *testing.T) {
	tests := []struct {
		name   string
		fluent func(*lamp) *model.Fluent
		value  model.Value
		same   bool
	}{
		{"a conjunct of the goal", func(l *lamp) *model.Fluent { return l.lit }, model.BoolValue(true), false},
		{"a precondition of a step", func(l *lamp) *model.Fluent { return l.bulb }, model.BoolValue(true), false},
		{"unknown is a value of its own", func(l *lamp) *model.Fluent { return l.bulb }, model.Value{}, false},
		{"a precondition of another action", func(l *lamp) *model.Fluent { return l.power }, model.BoolValue(true), true},
		{"what nothing reads", func(l *lamp) *model.Fluent { return l.dark }, model.BoolValue(true), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newLamp()
			p := l.problem()
			before := Key(p, plan("fit on"))
			p.Start.Set(model.Atom{Fluent: tt.fluent(l)}, tt.value)
			if same := Key(p, plan("fit on")) == before; same != tt.same {
				t.Errorf("same key: %v, want %v", same, tt.same)
			}
		})
	}
	p := newLamp().problem()
	if Key(p, plan("fit on")) == Key(p, plan("on fit")) {
		t.Error("plans of another order have one key")
	}
}

// TestKeyIgnoresJitter: a number that stays on one side of its bound is not
// another state.
func TestKeyIgnoresJitter(t *testing.T) {
	m := model.New()
	load := &model.Fluent{Name: "load", Kind: model.KindNumber}
	m.AddFluent(load)
	ten := &model.Expr{Op: model.OpConst, Kind: model.KindNumber, Const: model.NumberValue(10)}
	low := &model.Expr{Op: model.OpLt, Kind: model.KindBool, Args: []*model.Expr{read(load), ten}}
	m.AddInvariant(&model.Invariant{Name: "low", Cond: model.NewCond(0, low)})
	m.Link()
	u := model.NewUniverse(m)
	l := newLamp().problem()
	l.U, l.Start, l.Goal = u, u.NewState(true), nil
	key := func(v float64) string {
		l.Start.Set(model.Atom{Fluent: load}, model.NumberValue(v))
		return Key(l, nil)
	}
	if key(3) != key(3.25) {
		t.Error("3 and 3.25 are below 10, and two states")
	}
	if key(3) == key(12) {
		t.Error("3 and 12 lie on two sides of 10, and are one state")
	}
}

func TestNilTriedRemembersNothing(t *testing.T) {
	var tried *Tried
	tried.Add("k")
	if tried.Count("k") != 0 {
		t.Error("it remembers")
	}
}
