package model_test

import (
	"math"
	"regexp"
	"testing"

	"github.com/fettleops/fettle/model"
)

func TestKleeneLogic(t *testing.T) {
	const f, u, y = model.False, model.Unknown, model.True
	tests := []struct{ a, b, and, or model.Tri }{
		{f, f, f, f},
		{f, u, f, u},
		{f, y, f, y},
		{u, f, f, u},
		{u, u, u, u},
		{u, y, u, y},
		{y, f, f, y},
		{y, u, u, y},
		{y, y, y, y},
	}
	s := newSmall()
	p, q := s.bool("p"), s.bool("q")
	state := s.done().NewState(false)
	for _, tt := range tests {
		if got := tt.a.And(tt.b); got != tt.and {
			t.Errorf("%v && %v is %v", tt.a, tt.b, got)
		}
		if got := tt.a.Or(tt.b); got != tt.or {
			t.Errorf("%v || %v is %v", tt.a, tt.b, got)
		}
		state.Set(model.Atom{Fluent: p}, model.TriValue(tt.a))
		state.Set(model.Atom{Fluent: q}, model.TriValue(tt.b))
		if got := model.And(on(p), on(q)).Eval(state, nil); got != tt.and {
			t.Errorf("over a state, %v && %v is %v", tt.a, tt.b, got)
		}
		if got := model.Or(on(p), on(q)).Eval(state, nil); got != tt.or {
			t.Errorf("over a state, %v || %v is %v", tt.a, tt.b, got)
		}
		if got := test(model.OpEq, on(p), on(q)).Eval(state, nil); (got == u) != (tt.a == u || tt.b == u) || got == y && tt.a != tt.b {
			t.Errorf("%v == %v is %v", tt.a, tt.b, got)
		}
	}
	if f.Not() != y || u.Not() != u || y.Not() != f {
		t.Error("negation is wrong")
	}
}

// TestConditionsOverUnknowns has two services known to be out, one unknown.
func TestConditionsOverUnknowns(t *testing.T) {
	s := newSmall()
	in, x, y, name := s.bool("in", s.svc), s.number("x"), s.number("y"), s.fluent(model.KindString, "name")
	n := s.number("n", s.svc)
	z := s.number("z")
	home := s.fluent(model.KindObject, "home")
	home.Type = s.node
	healthy := s.bool("healthy", s.node)
	out := s.derived("out", not(on(in, slot(s.svc, 0))), s.svc)
	u := s.done()
	state := u.NewState(false)
	put(t, state, map[string]any{"in(api)": false, "in(db)": false, "x": 3, "n(api)": 2, "n(db)": -5, "z": 0, "healthy(n1)": true})
	q := slot(s.svc, 0)
	count := func(e *model.Expr) *model.Expr { return over(model.OpCount, s.svc, 0, e) }
	outs := count(not(on(in, q)))
	some := over(model.OpAny, s.svc, 0, on(in, q))
	tests := []struct {
		name string
		e    *model.Expr
		want model.Tri
	}{
		{"p || !p over an unknown p", model.Or(on(in, object(s.svc, "web")), not(on(in, object(s.svc, "web")))), model.Unknown},
		{"known count above the bound", test(model.OpLe, outs, num(1)), model.False},
		{"count at the bound", test(model.OpLe, outs, num(2)), model.Unknown},
		{"count below the bound", test(model.OpLe, outs, num(3)), model.True},
		{"count of a derived fluent", test(model.OpGe, count(on(out, q)), num(2)), model.True},
		{"count equal", test(model.OpEq, outs, num(4)), model.False},
		{"all, one false", over(model.OpAll, s.svc, 0, on(in, q)), model.False},
		{"any, one unknown", some, model.Unknown},
		{"one, two true", over(model.OpOne, s.svc, 0, not(on(in, q))), model.False},
		{"one, perhaps", over(model.OpOne, s.svc, 0, on(in, q)), model.Unknown},
		{"unknown number", test(model.OpNe, on(y), num(0.2)), model.Unknown},
		{"unknown number is not itself", test(model.OpEq, on(y), on(y)), model.Unknown},
		{"division by zero", test(model.OpGt, calc(model.OpDiv, on(x), on(z)), num(0)), model.Unknown},
		{"zero times unknown", test(model.OpEq, calc(model.OpMul, on(z), on(y)), num(0)), model.True},
		{"unknown times zero", test(model.OpGt, calc(model.OpMul, on(y), num(0)), num(0)), model.False},
		{"what is at least nothing times a number from nothing up", test(model.OpGe, calc(model.OpMul, calc(model.OpAbs, on(y)), outs), num(0)), model.True},
		{"overflow", test(model.OpGt, calc(model.OpMul, num(math.MaxFloat64), num(2)), num(0)), model.Unknown},
		{"abs of unknown", test(model.OpGe, calc(model.OpAbs, on(y)), num(0)), model.True},
		{"sum with an unknown", test(model.OpGt, over(model.OpSum, s.svc, 0, on(n, q)), num(0)), model.Unknown},
		{"least, one unknown", test(model.OpLe, over(model.OpMin, s.svc, 0, on(n, q)), num(-5)), model.True},
		{"greatest, one unknown", test(model.OpLe, over(model.OpMax, s.svc, 0, on(n, q)), num(5)), model.Unknown},
		{"length of unknown", test(model.OpGe, calc(model.OpLen, on(name)), num(0)), model.True},
		{"text of unknown", test(model.OpContains, on(name), text("")), model.Unknown},
		{"an argument that is unknown", on(healthy, on(home)), model.Unknown},
		{"choice by an unknown, branches agree", test(model.OpIf, some, on(healthy, object(s.node, "n1")), model.TrueExpr), model.True},
		{"choice by an unknown, branches differ", test(model.OpIf, some, model.FalseExpr, model.TrueExpr), model.Unknown},
		{"in a list", test(model.OpIn, on(x), num(1), num(3)), model.True},
		{"not in a list", test(model.OpIn, on(x), num(1), num(2)), model.False},
		{"perhaps in a list", test(model.OpIn, on(y), num(1)), model.Unknown},
		{"in a list with unknowns", test(model.OpIn, on(x), on(y), num(3)), model.True},
		{"an unknown member of its own type", &model.Expr{Op: model.OpIsA, Kind: model.KindBool, Over: s.node, Args: []*model.Expr{on(home)}}, model.True},
		{"member of a type", &model.Expr{Op: model.OpIsA, Kind: model.KindBool, Over: s.node, Args: []*model.Expr{object(s.node, "n3")}}, model.False},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.e.Eval(state, make([]int32, 8)); got != tt.want {
				t.Errorf("%s is %v, want %v", tt.e.Text(u, nil), got, tt.want)
			}
			if got := not(tt.e).NNF().Eval(state, make([]int32, 8)); got != tt.want.Not() {
				t.Errorf("the normal form of its negation is %v", got)
			}
		})
	}
}

func TestStrings(t *testing.T) {
	s := newSmall()
	name := on(s.fluent(model.KindString, "name"))
	state := s.done().NewState(false)
	put(t, state, map[string]any{"name": "größe-1"})
	match := &model.Expr{Op: model.OpMatches, Kind: model.KindBool, Args: []*model.Expr{name}, Const: model.StringValue("^g.*[0-9]$"), Pattern: regexp.MustCompile("^g.*[0-9]$")}
	for _, e := range []*model.Expr{
		test(model.OpContains, name, text("öß")), test(model.OpPrefix, name, text("gr")), test(model.OpSuffix, name, text("-1")),
		test(model.OpEq, name, text("größe-1")), test(model.OpEq, calc(model.OpLen, name), num(7)), match,
	} {
		if e.Eval(state, nil) != model.True {
			t.Errorf("%s does not hold", e.Text(s.u, nil))
		}
	}
}

func TestIntervals(t *testing.T) {
	s := newSmall()
	pick, deep := s.bool("pick"), s.bool("deep")
	inf := math.Inf(1)
	between := func(lo, hi float64) *model.Expr { return calc(model.OpIf, on(pick), num(lo), num(hi)) }
	tests := []struct {
		name   string
		e      *model.Expr
		lo, hi float64
	}{
		{"choice", between(2, 5), 2, 5},
		{"nested choice", calc(model.OpIf, on(deep), between(2, 5), num(-1)), -1, 5},
		{"sum", calc(model.OpAdd, between(2, 5), between(-1, 1)), 1, 6},
		{"difference", calc(model.OpSub, between(2, 5), between(-1, 1)), 1, 6},
		{"product over signs", calc(model.OpMul, between(-2, 5), between(-3, 1)), -15, 6},
		{"quotient", calc(model.OpDiv, num(10), between(2, 5)), 2, 5},
		{"quotient over zero", calc(model.OpDiv, num(10), between(-2, 5)), -inf, inf},
		{"negation", calc(model.OpNeg, between(2, 5)), -5, -2},
		{"abs", calc(model.OpAbs, between(-4, 3)), 0, 4},
		{"abs of negatives", calc(model.OpAbs, between(-4, -3)), 3, 4},
		{"least of nothing", over(model.OpMin, s.AddType("none", nil), 0, num(1)), -inf, inf},
	}
	state := s.done().NewState(false)
	for _, tt := range tests {
		if lo, hi := tt.e.Number(state, make([]int32, 8)); lo != tt.lo || hi != tt.hi {
			t.Errorf("%s: [%v, %v], want [%v, %v]", tt.name, lo, hi, tt.lo, tt.hi)
		}
	}
}

func TestAnOpenTypeLeavesQuantifiersUnknown(t *testing.T) {
	s := newSmall()
	s.svc.Discovered = true
	in := s.bool("in", s.svc)
	q := slot(s.svc, 0)
	all, some := over(model.OpAll, s.svc, 0, on(in, q)), over(model.OpAny, s.svc, 0, on(in, q))
	count := over(model.OpCount, s.svc, 0, on(in, q))
	s.action("use", nil, []*model.Expr{all, some, test(model.OpLe, count, num(9))})
	s.Link()
	u := model.NewUniverse(s.Model, model.Discovery{Type: s.svc, Failed: true})
	for _, track := range []bool{false, true} {
		state := u.NewState(true)
		if track {
			state.Track()
		}
		env := make([]int32, 8)
		check := func(when string, e *model.Expr, want model.Tri) {
			t.Helper()
			if got := e.Eval(state, env); got != want {
				t.Errorf("%s, tracked %v: %s is %v", when, track, e.Text(u, nil), got)
			}
		}
		check("none in", all, model.False)
		check("none in", some, model.Unknown)
		check("none in", test(model.OpLe, count, num(9)), model.Unknown)
		put(t, state, map[string]any{"in(api)": true, "in(db)": true, "in(web)": true})
		check("all in", all, model.Unknown)
		check("all in", some, model.True)
		check("all in", test(model.OpGe, count, num(3)), model.True)
	}
}
