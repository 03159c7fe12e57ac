package search

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/fettleops/fettle/model"
)

// gripper: two rooms, a robot with two hands, balls to carry over.
func gripper(balls int) Problem {
	k := newKit()
	room := k.typ("room", "left", "right")
	hand := k.typ("hand", "h1", "h2")
	ball := k.typ("ball", names("ball", balls)...)
	robot := k.fluent("robot", model.KindObject, room)
	at, holds, free := k.pred("at", ball, room), k.pred("holds", hand, ball), k.pred("free", hand)
	b, r, h := slot(0, ball), slot(1, room), slot(2, hand)
	k.action("pick", types(ball, room, hand), exprs(eq(read(robot), r), read(at, b, r), read(free, h)), add(holds, h, b), del(at, b, r), del(free, h))
	k.action("drop", types(ball, room, hand), exprs(eq(read(robot), r), read(holds, h, b)), add(at, b, r), add(free, h), del(holds, h, b))
	k.action("move", types(room), nil, set(robot, slot(0, room)))
	u := k.universe()
	s := u.NewState(true)
	s.Set(model.Atom{Fluent: robot}, model.ObjectValue(0))
	for i := range balls {
		s.Set(model.Atom{Fluent: at, Args: []int32{int32(i), 0}}, model.BoolValue(true))
	}
	for i := range 2 {
		s.Set(model.Atom{Fluent: free, Args: []int32{int32(i)}}, model.BoolValue(true))
	}
	return Problem{U: u, Start: s, Goal: goal(quantify(model.OpAll, model.KindBool, ball, 0, read(at, b, obj(room, "right"))))}
}

// logistics: trucks within cities, a plane between their airports, packages.
func logistics(t testing.TB, cities, spots, packages int) Problem {
	t.Helper()
	k := newKit()
	place := k.typ("place", names("p", cities*spots)...)
	city := k.typ("city", names("city", cities)...)
	truck := k.typ("truck", names("truck", cities)...)
	pack := k.typ("pack", names("pack", packages)...)
	plane := k.typ("plane", "plane")
	in, airport := k.fluent("in_city", model.KindObject, city, place), k.pred("airport", place)
	tat, pat := k.fluent("truck_at", model.KindObject, place, truck), k.fluent("plane_at", model.KindObject, place, plane)
	at, inTruck, inPlane := k.pred("at", pack, place), k.pred("in_truck", pack, truck), k.pred("in_plane", pack, plane)
	tr, l, p := slot(0, truck), slot(1, place), slot(0, pack)
	k.action("drive", types(truck, place), exprs(eq(read(in, read(tat, tr)), read(in, l))), set(tat, l, tr))
	k.action("fly", types(plane, place), exprs(read(airport, l)), set(pat, l, slot(0, plane)))
	k.action("load", types(pack, place, truck), exprs(read(at, p, l), eq(read(tat, slot(2, truck)), l)), add(inTruck, p, slot(2, truck)), del(at, p, l))
	k.action("unload", types(pack, place, truck), exprs(read(inTruck, p, slot(2, truck)), eq(read(tat, slot(2, truck)), l)), del(inTruck, p, slot(2, truck)), add(at, p, l))
	k.action("board", types(pack, place, plane), exprs(read(at, p, l), eq(read(pat, slot(2, plane)), l)), add(inPlane, p, slot(2, plane)), del(at, p, l))
	k.action("leave", types(pack, place, plane), exprs(read(inPlane, p, slot(2, plane)), eq(read(pat, slot(2, plane)), l)), del(inPlane, p, slot(2, plane)), add(at, p, l))
	u := k.universe()
	s := u.NewState(true)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range cities * spots {
		s.Set(model.Atom{Fluent: in, Args: []int32{int32(i)}}, model.ObjectValue(int32(i/spots)))
		s.Set(model.Atom{Fluent: airport, Args: []int32{int32(i)}}, model.BoolValue(i%spots == 0))
	}
	for i := range cities {
		s.Set(model.Atom{Fluent: tat, Args: []int32{int32(i)}}, model.ObjectValue(int32(i*spots)))
	}
	s.Set(model.Atom{Fluent: pat, Args: []int32{0}}, model.ObjectValue(0))
	var goals []*model.Expr
	for i := range packages {
		s.Set(model.Atom{Fluent: at, Args: []int32{int32(i), rnd.Int32N(int32(cities * spots))}}, model.BoolValue(true))
		goals = append(goals, read(at, obj(pack, fmt.Sprint("pack", i)), obj(place, fmt.Sprint("p", rnd.IntN(cities*spots)))))
	}
	return Problem{U: u, Start: s, Goal: goal(goals...)}
}

// blocks: towers on a table, to be built anew.
func blocks(n int) Problem {
	k := newKit()
	block := k.typ("block", names("b", n)...)
	x, y := slot(0, block), slot(1, block)
	on, table, clear := k.pred("on", block, block), k.pred("on_table", block), k.pred("clear", block)
	held, empty := k.pred("held", block), k.pred("empty")
	k.action("pick", types(block), exprs(read(clear, x), read(table, x), read(empty)), add(held, x), del(clear, x), del(table, x), del(empty))
	k.action("put", types(block), exprs(read(held, x)), add(clear, x), add(table, x), add(empty), del(held, x))
	k.action("stack", types(block, block), exprs(read(held, x), read(clear, y)), add(on, x, y), add(clear, x), add(empty), del(held, x), del(clear, y))
	k.action("unstack", types(block, block), exprs(read(on, x, y), read(clear, x), read(empty)), add(held, x), add(clear, y), del(on, x, y), del(clear, x), del(empty))
	u := k.universe()
	s := u.NewState(true)
	put := func(f *model.Fluent, args ...int32) { s.Set(model.Atom{Fluent: f, Args: args}, model.BoolValue(true)) }
	put(empty)
	rnd := rand.New(rand.NewPCG(3, 4))
	from, to := rnd.Perm(n), rnd.Perm(n)
	var goals []*model.Expr
	for i := range n {
		if i%4 == 0 {
			put(table, int32(from[i]))
		} else {
			put(on, int32(from[i]), int32(from[i-1]))
			goals = append(goals, read(on, obj(block, fmt.Sprint("b", to[i])), obj(block, fmt.Sprint("b", to[i-1]))))
		}
		if i%4 == 3 || i == n-1 {
			put(clear, int32(from[i]))
		}
	}
	return Problem{U: u, Start: s, Goal: goal(goals...)}
}

func names(prefix string, n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprint(prefix, i))
	}
	return out
}

func TestGeneratedProblemsAreSolved(t *testing.T) {
	for name, p := range map[string]Problem{"gripper": gripper(8), "logistics": logistics(t, 4, 3, 8), "blocks": blocks(12)} {
		r := solve(t, p, Options{MaxNodes: 200000})
		if r.Status != Solved {
			t.Errorf("%s: %s %s", name, r.Status, r.Reason)
			continue
		}
		simulate(t, p, r.Plan)
	}
}

func BenchmarkSearch(b *testing.B) {
	cases := []struct {
		name  string
		build func() Problem
	}{
		{"classic", func() Problem { return classic(b) }},
		{"gripper-10", func() Problem { return gripper(10) }},
		{"gripper-30", func() Problem { return gripper(30) }},
		{"logistics-20", func() Problem { return logistics(b, 5, 3, 20) }},
		{"logistics-60", func() Problem { return logistics(b, 10, 5, 60) }},
		{"blocks-12", func() Problem { return blocks(12) }},
		{"blocks-24", func() Problem { return blocks(24) }},
	}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			p := c.build()
			var r Result
			for b.Loop() {
				r = solve(b, p, Options{})
			}
			b.ReportMetric(float64(r.Evaluated), "evaluated")
			b.ReportMetric(r.Cost, "plan-cost")
		})
	}
}

func BenchmarkGround(b *testing.B) {
	for _, n := range []int{100, 400} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := logistics(b, n/10, 5, n/2)
			actions := 0
			for b.Loop() {
				t := build(p, newLimiter(b.Context(), Options{}), nil)
				actions = len(t.ops)
			}
			b.ReportMetric(float64(actions), "actions")
		})
	}
}
