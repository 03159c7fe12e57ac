package model_test

import (
	"testing"

	"github.com/fettleops/fettle/model"
)

// worse carries out the action and names the component that it makes worse.
func worse(t *testing.T, s *model.State, action string) string {
	t.Helper()
	var d model.Delta
	s = s.Clone()
	g := ground(t, s.Universe(), action)
	if f := g.Effects(s, &d); f != nil {
		t.Fatal(f.Message)
	}
	d.Commit(s)
	if b := g.Worsened(s, &d); b != nil {
		return b.Invariant.Name + ": " + b.Failure.Text
	}
	return ""
}

func TestNoStepMakesAnInvariantWorse(t *testing.T) {
	s := newSmall()
	one := []*model.Type{s.svc}
	sv, q := slot(s.svc, 0), slot(s.svc, 0)
	in, spare, n := s.bool("in", s.svc), s.bool("spare", s.svc), s.number("n", s.svc)
	other := on(s.bool("other"))
	s.action("drain", one, nil, del(on(in, sv)))
	s.action("readd", one, nil, add(on(in, sv)))
	s.action("swap", []*model.Type{s.svc, s.svc}, nil, del(on(in, sv)), add(on(in, slot(s.svc, 1))))
	s.action("shrink", one, nil, write(model.Decrease, on(n, sv), num(1)))
	s.action("grow", one, nil, write(model.Increase, on(n, sv), num(1)))
	s.action("lose", one, nil, write(model.Set, on(n, sv), on(n, object(s.svc, "web"))))
	s.action("touch", nil, nil, add(other))
	s.action("spare", one, nil, add(on(spare, sv)))
	s.action("unspare", one, nil, del(on(spare, sv)))
	out := over(model.OpCount, s.svc, 0, not(on(in, q)))
	s.AddInvariant(&model.Invariant{Name: "out", Cond: model.NewCond(8, test(model.OpLe, out, num(1)))})
	s.AddInvariant(&model.Invariant{Name: "each", Cond: model.NewCond(8, over(model.OpAll, s.svc, 0, model.And(
		test(model.OpGe, on(n, q), num(2)), model.Or(on(in, q), on(spare, q)))))})
	u := s.done()
	fine := map[string]any{
		"in(api)": true, "in(db)": true, "in(web)": true, "spare(api)": true, "spare(db)": true, "spare(web)": true,
		"n(api)": 2, "n(db)": 3, "n(web)": nil, "other": false,
	}
	tests := []struct {
		name   string
		change map[string]any
		action string
		want   string
	}{
		{"one may go", nil, "drain(api)", ""},
		{"two may not", map[string]any{"in(db)": false}, "drain(api)", "out: count(service, !in(#)) <= 1"},
		{"broken already, the same step changes nothing", map[string]any{"in(db)": false, "in(api)": false}, "drain(api)", ""},
		{"broken already, no worse", map[string]any{"in(db)": false, "in(api)": false}, "swap(web, api)", ""},
		{"broken already, better", map[string]any{"in(db)": false, "in(api)": false, "in(web)": false}, "readd(api)", ""},
		{"broken already, worse", map[string]any{"in(db)": false, "in(api)": false}, "drain(web)", "out: count(service, !in(#)) <= 1"},
		{"perhaps two", map[string]any{"in(db)": nil}, "drain(api)", "out: count(service, !in(#)) <= 1"},
		{"one unknown put right", map[string]any{"in(db)": nil, "in(api)": false}, "readd(api)", ""},
		{"unknown, untouched", map[string]any{"in(db)": nil, "in(api)": nil}, "touch", ""},
		{"a bound for each object", nil, "shrink(api)", "each: n(api) >= 2"},
		{"with room", nil, "shrink(db)", ""},
		{"below the bound, growing", map[string]any{"n(api)": 0}, "grow(api)", ""},
		{"below the bound, shrinking", map[string]any{"n(api)": 0}, "shrink(api)", "each: n(api) >= 2"},
		{"another object's breach", map[string]any{"n(db)": 0}, "grow(api)", ""},
		{"unknown stays unknown, as nothing changes", nil, "shrink(web)", ""},
		{"known becomes unknown", nil, "lose(db)", "each: n(db) >= 2"},
		{"either of two", map[string]any{"in(api)": false}, "unspare(api)", "each: in(api) || spare(api)"},
		{"the other of two", nil, "unspare(api)", ""},
	}
	for _, track := range []bool{false, true} {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				state := u.NewState(false)
				put(t, state, fine)
				put(t, state, tt.change)
				if track {
					state.Track()
				}
				if got := worse(t, state, tt.action); got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			})
		}
	}
}

func TestAStepIsJudgedByWhatItsComponentReads(t *testing.T) {
	s := newSmall()
	one := []*model.Type{s.svc}
	q := slot(s.svc, 0)
	r := s.bool("r", s.svc, s.node)
	some := s.derived("some_on", over(model.OpAny, s.node, 3, on(r, slot(s.svc, 0), slot(s.node, 3))), s.svc)
	pinned := over(model.OpAll, s.svc, 0, on(r, q, object(s.node, "n1")))
	s.action("off2", one, nil, del(on(r, slot(s.svc, 0), object(s.node, "n2"))))
	s.action("off1", one, nil, del(on(r, slot(s.svc, 0), object(s.node, "n1"))))
	s.AddInvariant(&model.Invariant{Name: "pinned", Cond: model.NewCond(8, model.Or(pinned, model.FalseExpr))})
	s.AddInvariant(&model.Invariant{Name: "some", Cond: model.NewCond(8, over(model.OpAll, s.svc, 0, on(some, q)))})
	u := s.done()
	state := u.NewState(true)
	put(t, state, map[string]any{"r(api, n1)": nil, "r(api, n2)": true, "r(db, n1)": true, "r(web, n1)": true})
	if got := worse(t, state, "off2(db)"); got != "" {
		t.Errorf("what does not read the change is worse: %s", got)
	}
	if got := worse(t, state, "off2(api)"); got != "some: some_on(api)" {
		t.Errorf("got %q", got)
	}
	if got := worse(t, state, "off1(db)"); got != "pinned: all(service, r(#, n1)) || false" {
		t.Errorf("got %q", got)
	}
}

func TestBrokenNamesTheComponents(t *testing.T) {
	s := newSmall()
	in := s.bool("in", s.svc)
	inv := &model.Invariant{Name: "in", Strict: true, Cond: model.NewCond(8, over(model.OpAll, s.svc, 0, on(in, slot(s.svc, 0))))}
	s.AddInvariant(inv)
	state := s.done().NewState(true)
	put(t, state, map[string]any{"in(db)": true, "in(web)": nil})
	broken := inv.Broken(state)
	if len(broken) != 2 || broken[0].Text != "in(api)" || broken[0].Truth != model.False || broken[1].Text != "in(web)" || broken[1].Truth != model.Unknown {
		t.Errorf("got %+v", broken)
	}
}
