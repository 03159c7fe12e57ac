package model_test

import (
	"testing"

	"github.com/fettleops/fettle/model"
)

// A variable that a quantifier within uses has a name that is declared.
func TestNestedQuantifiersNameTheirVariables(t *testing.T) {
	s := newSmall()
	up, runs, sees := s.bool("up", s.svc), s.bool("runs", s.svc, s.node), s.bool("sees", s.svc, s.svc)
	named := func(slot int, name string) *model.Expr {
		return &model.Expr{Op: model.OpSlot, Kind: model.KindObject, Type: s.svc, Slot: slot, Name: name}
	}
	x := named(0, "x")
	each := func(x *model.Expr) *model.Expr {
		return over(model.OpAll, s.svc, x.Slot, model.Or(on(up, x), over(model.OpAny, s.node, 1, on(runs, x, slot(s.node, 1)))))
	}
	pairs := func(x, y *model.Expr) *model.Expr {
		return over(model.OpAll, s.svc, x.Slot, over(model.OpAll, s.svc, y.Slot, over(model.OpAny, s.node, 2, model.Or(on(sees, x, y), on(runs, y, slot(s.node, 2))))))
	}
	tests := []struct {
		e    *model.Expr
		want string
	}{
		{over(model.OpAll, s.svc, 0, on(up, x)), "all(service, up(#))"},
		{each(x), "all(service, let x = #; up(x) || any(node, runs(x, #)))"},
		{each(named(0, "#")), "all(service, let s = #; up(s) || any(node, runs(s, #)))"},
		{each(named(0, "up")), "all(service, let up2 = #; up(up2) || any(node, runs(up2, #)))"},
		{pairs(x, named(1, "x")), "all(service, let x = #; all(service, let x2 = #; any(node, sees(x, x2) || runs(x2, #))))"},
	}
	u := s.done()
	for _, tt := range tests {
		if got := tt.e.Text(u, make([]int32, 8)); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}
