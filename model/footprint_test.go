package model_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/fettleops/fettle/model"
)

func refs(u *model.Universe, rs []model.Ref) string {
	var out []string
	for _, r := range rs {
		if r.Whole() {
			out = append(out, r.Fluent.Name+"(*)")
		} else {
			out = append(out, u.RefText(r))
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// TestFootprints has two drains that each read the other's write through a
// derived fluent: without the derived reads nothing would order them, and both
// could go out at once (write skew).
func TestFootprints(t *testing.T) {
	s := newSmall()
	one := []*model.Type{s.svc}
	sv, q := slot(s.svc, 0), slot(s.svc, 3)
	in, up, spare, n := s.bool("in", s.svc), s.bool("up", s.svc), s.bool("spare", s.svc), s.number("n", s.svc)
	home := s.fluent(model.KindObject, "home", s.svc)
	home.Type = s.node
	ok := s.bool("ok", s.node)
	capacity := on(s.derived("capacity", over(model.OpAll, s.svc, 0, on(in, slot(s.svc, 0)))))
	alive := s.derived("alive", model.Or(on(up, slot(s.svc, 0)), on(spare, slot(s.svc, 0))), s.svc)
	forall := del(on(up, q))
	forall.Forall = []model.Binder{{Slot: 3, Type: s.svc, Name: "o"}}
	forall.When = on(n, q)
	s.action("drain", one, []*model.Expr{capacity, on(in, sv)}, del(on(in, sv)))
	s.action("check", one, []*model.Expr{on(alive, sv)}, write(model.Set, on(n, sv), calc(model.OpAdd, on(n, object(s.svc, "db")), num(1))))
	s.action("priced", one, nil).Cost = on(n, sv)
	s.action("nested", one, []*model.Expr{on(ok, on(home, sv))})
	s.action("all_down", nil, nil, forall)
	s.action("stop", one, nil, del(on(up, sv)))
	s.AddInvariant(&model.Invariant{Name: "some", Cond: model.NewCond(8, over(model.OpAll, s.svc, 0, on(alive, slot(s.svc, 0))))})
	u := s.done()
	tests := []struct{ action, read, write string }{
		{"drain(api)", "in(*) in(api)", "in(api)"},
		{"check(api)", "n(db) spare(api) up(api)", "n(api)"},
		{"priced(web)", "n(web)", ""},
		{"nested(api)", "home(api) ok(*)", ""},
		{"all_down", "n(*) spare(*) up(*)", "up(*)"},
		{"stop(api)", "spare(api) up(api)", "up(api)"},
	}
	for _, tt := range tests {
		fp := ground(t, u, tt.action).Footprint(u)
		if got := refs(u, fp.Read); got != tt.read {
			t.Errorf("%s reads %s, want %s", tt.action, got, tt.read)
		}
		if got := refs(u, fp.Write); got != tt.write {
			t.Errorf("%s writes %s, want %s", tt.action, got, tt.write)
		}
	}
	a, b := ground(t, u, "drain(api)").Footprint(u), ground(t, u, "drain(db)").Footprint(u)
	if !overlap(a.Read, b.Write) || !overlap(b.Read, a.Write) {
		t.Error("nothing orders two drains")
	}
	if got := refs(u, model.NewCond(8, on(in, sv), on(capacity.Fluent)).Reads(u, []int32{1})); got != "in(*) in(db)" {
		t.Errorf("a condition reads %s", got)
	}
}

// overlap tells whether two lists of references have an instance in common.
func overlap(xs, ys []model.Ref) bool {
	for _, x := range xs {
		for _, y := range ys {
			if x.Fluent == y.Fluent && (x.Whole() || y.Whole() || slices.Equal(x.Args, y.Args)) {
				return true
			}
		}
	}
	return false
}
