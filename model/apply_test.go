package model_test

import (
	"testing"

	"github.com/fettleops/fettle/model"
)

// after applies the action's effects and returns an atom's new value as text,
// or the message of a conflict.
func after(t *testing.T, s *model.State, action, at string) string {
	t.Helper()
	var d model.Delta
	s = s.Clone()
	if f := ground(t, s.Universe(), action).Effects(s, &d); f != nil {
		return f.Message
	}
	d.Commit(s)
	a := atom(t, s.Universe(), at)
	return s.Universe().ValueText(a.Fluent, s.Get(a))
}

// TestAddsWinOverDeletes: new = A ∨ (old ∧ ¬D), in three values.
func TestAddsWinOverDeletes(t *testing.T) {
	values := map[string]any{"false": false, "unknown": nil, "true": true}
	s := newSmall()
	p, a, d := on(s.bool("p")), on(s.bool("a")), on(s.bool("d"))
	adds, dels := add(p), del(p)
	adds.When, dels.When = a, d
	s.action("act", nil, nil, dels, adds)
	u := s.done()
	for old, o := range values {
		for addText, av := range values {
			for delText, dv := range values {
				state := u.NewState(false)
				put(t, state, map[string]any{"p": o, "a": av, "d": dv})
				get := func(n string) model.Tri { return state.Get(atom(t, u, n)).Tri() }
				want := get("a").Or(get("p").And(get("d").Not())).String()
				if got := after(t, state, "act", "p"); got != want {
					t.Errorf("old %s, add %s, del %s: %s, want %s", old, addText, delText, got, want)
				}
			}
		}
	}
}

func TestEffects(t *testing.T) {
	s := newSmall()
	one := []*model.Type{s.svc}
	sv := slot(s.svc, 0)
	up, maybe := s.bool("up", s.svc), on(s.bool("maybe"))
	n, m := s.number("n", s.svc), on(s.number("m"))
	mode := on(s.fluent(model.KindString, "mode"))
	home := s.fluent(model.KindObject, "home", s.svc)
	home.Type = s.node
	plus := func(e *model.Expr, k float64) *model.Expr { return calc(model.OpAdd, e, num(k)) }
	when := func(c *model.Expr, e model.Effect) model.Effect { e.When = c; return e }
	forall := func(e model.Effect) model.Effect {
		e.Forall = []model.Binder{{Slot: 3, Type: s.svc, Name: "o"}}
		return e
	}
	set := func(e, v *model.Expr) model.Effect { return write(model.Set, e, v) }
	inc := func(e *model.Expr, k float64) model.Effect { return write(model.Increase, e, num(k)) }
	upAll := on(up, slot(s.svc, 3))
	s.action("all_up", nil, nil, forall(add(upAll)))
	s.action("copy", nil, nil, forall(when(upAll, set(on(n, slot(s.svc, 3)), m))))
	s.action("swap", nil, nil, set(on(n, object(s.svc, "api")), on(n, object(s.svc, "db"))), set(on(n, object(s.svc, "db")), on(n, object(s.svc, "api"))))
	s.action("both", one, nil, set(on(n, sv), num(3)), set(on(n, sv), num(4)))
	s.action("same", one, nil, set(on(n, sv), num(3)), set(on(n, sv), plus(num(1), 2)))
	s.action("mixed", one, nil, set(on(n, sv), num(3)), inc(on(n, sv), 1))
	s.action("sums", one, nil, inc(on(n, sv), 2), write(model.Decrease, on(n, sv), num(5)), inc(on(n, sv), 1))
	s.action("perhaps", nil, nil, when(maybe, set(m, num(3))))
	s.action("perhaps_more", nil, nil, when(maybe, inc(m, 1)))
	s.action("perhaps_nothing", nil, nil, when(maybe, inc(m, 0)))
	s.action("perhaps_other", nil, nil, when(maybe, set(m, num(0))), set(m, num(1)), set(m, num(1)))
	s.action("from_unknown", nil, nil, set(m, plus(on(n, object(s.svc, "web")), 1)))
	s.action("never", nil, nil, when(model.FalseExpr, set(m, num(9))))
	s.action("draining", nil, nil, set(mode, text("draining")))
	s.action("move", []*model.Type{s.svc, s.node}, nil, set(on(home, sv), slot(s.node, 1)))
	s.action("set_and_add", one, nil, set(on(up, sv), model.FalseExpr), add(on(up, sv)))
	s.action("set_and_del", one, nil, set(on(up, sv), model.FalseExpr), del(on(up, sv)))
	u := s.done()
	state := u.NewState(false)
	put(t, state, map[string]any{"up(api)": true, "up(db)": false, "n(api)": 1, "n(db)": 2, "m": 7})
	tests := []struct{ action, atom, want string }{
		{"all_up", "up(db)", "true"},
		{"copy", "n(api)", "7"},
		{"copy", "n(db)", "2"},
		{"copy", "n(web)", "unknown"},
		{"swap", "n(api)", "2"},
		{"swap", "n(db)", "1"},
		{"both(api)", "m", "both(api) sets n(api) to both 3 and 4"},
		{"same(api)", "n(api)", "3"},
		{"mixed(api)", "m", "mixed(api) sets n(api) and increases or decreases it too"},
		{"sums(api)", "n(api)", "-1"},
		{"sums(web)", "n(web)", "unknown"},
		{"perhaps", "m", "unknown"},
		{"perhaps_more", "m", "unknown"},
		{"perhaps_nothing", "m", "7"},
		{"perhaps_other", "m", "unknown"},
		{"from_unknown", "m", "unknown"},
		{"never", "m", "7"},
		{"draining", "mode", "'draining'"},
		{"move(api, n2)", "home(api)", "n2"},
		{"set_and_add(api)", "m", "set_and_add(api) sets up(api) to both false and true"},
		{"set_and_del(api)", "up(api)", "false"},
	}
	for _, tt := range tests {
		if got := after(t, state, tt.action, tt.atom); got != tt.want {
			t.Errorf("%s: %s is %s, want %s", tt.action, tt.atom, got, tt.want)
		}
	}
	same := state.Clone()
	put(t, same, map[string]any{"m": 3})
	if got := after(t, same, "perhaps", "m"); got != "3" {
		t.Errorf("perhaps set to what it is already: %s", got)
	}
}

func TestManyWritesOfOneStepAreKeptApart(t *testing.T) {
	m := model.New()
	host := m.AddType("host", nil)
	for i := range 100 {
		host.AddObject(string(rune('A' + i)))
	}
	n := &model.Fluent{Name: "n", Kind: model.KindNumber, Params: []model.Param{{Name: "h", Type: host}}}
	m.AddFluent(n)
	e := write(model.Increase, on(n, slot(host, 0)), num(1))
	e.Forall = []model.Binder{{Slot: 0, Type: host}}
	m.AddAction(&model.Action{Name: "grow", Slots: 1, Effects: []model.Effect{e, e}})
	m.Link()
	u := model.NewUniverse(m)
	s := u.NewState(false)
	for a := range u.Atoms(n) {
		s.Set(a, model.NumberValue(float64(a.Args[0])))
	}
	var d model.Delta
	for range 2 { // the second time with a used buffer
		if f := (model.Ground{Action: u.Action("grow")}).Effects(s, &d); f != nil {
			t.Fatal(f.Message)
		}
		d.Commit(s)
	}
	for a := range u.Atoms(n) {
		if v, _ := s.Get(a).Number(); v != float64(a.Args[0])+4 {
			t.Fatalf("%s is %v", u.Text(a), v)
		}
	}
	d.Revert(s)
	if v, _ := s.Get(model.Atom{Fluent: n, Args: []int32{5}}).Number(); v != 7 {
		t.Errorf("reverted to %v", v)
	}
}

func TestCosts(t *testing.T) {
	s := newSmall()
	m := on(s.number("m"))
	s.action("free", nil, nil)
	s.action("priced", nil, nil).Cost = calc(model.OpMul, m, num(2))
	u := s.done()
	tests := []struct {
		action string
		m      any
		want   float64
		known  bool
	}{{"free", nil, 1, true}, {"priced", 3, 6, true}, {"priced", 0, 0, true}, {"priced", nil, 0, false}, {"priced", -1, 0, false}}
	for _, tt := range tests {
		state := u.NewState(false)
		put(t, state, map[string]any{"m": tt.m})
		if got, ok := ground(t, u, tt.action).Cost(state, &model.Delta{}); ok != tt.known || ok && got != tt.want {
			t.Errorf("%s with m = %v costs %v, %v", tt.action, tt.m, got, ok)
		}
	}
}
