package search

import (
	"testing"

	"github.com/fettleops/fettle/model"
)

// A case is a small problem that needs one feature of the language, and the
// plan or status it must have.
type languageCase struct {
	name   string
	build  func(t *testing.T) Problem
	plan   string // in full; several orders are avoided by construction
	status Status // Solved where empty
	reason string
}

func number2(s *model.State, name string, f float64) {
	s.Set(model.Atom{Fluent: s.Universe().Fluent(name)}, model.NumberValue(f))
}

var languageCases = []languageCase{
	{name: "a negative precondition is reached by a delete", plan: "open enter", build: func(t *testing.T) Problem {
		k := newKit()
		shut, in := k.pred("shut"), k.pred("in")
		k.action("enter", nil, exprs(not(read(shut))), add(in))
		k.action("open", nil, nil, del(shut))
		s := k.universe().NewState(true)
		facts(t, s, "shut")
		return Problem{U: s.Universe(), Start: s, Goal: goal(read(in))}
	}},
	{name: "a number is raised step by step", plan: "up up up", build: func(*testing.T) Problem {
		k := newKit()
		n := k.fluent("n", model.KindNumber, nil)
		k.action("down", nil, nil, dec(n, num(1)))
		k.action("up", nil, nil, inc(n, num(2)))
		s := k.universe().NewState(true)
		number2(s, "n", 0)
		return Problem{U: s.Universe(), Start: s, Goal: goal(ge(read(n), num(5)))}
	}},
	{name: "equality of numbers is overshot and come back to", plan: "up down down", build: func(*testing.T) Problem {
		k := newKit()
		n := k.fluent("n", model.KindNumber, nil)
		k.action("down", nil, exprs(ge(read(n), num(5))), dec(n, num(1)))
		k.action("up", nil, nil, inc(n, num(5)))
		s := k.universe().NewState(true)
		number2(s, "n", 1)
		return Problem{U: s.Universe(), Start: s, Goal: goal(eq(read(n), num(4)))}
	}},
	{name: "a set reads the state before the step", plan: "swap", build: func(*testing.T) Problem {
		k := newKit()
		e := k.m.AddEnum([]string{"red", "blue"})
		a, b := k.fluent("a", model.KindObject, e), k.fluent("b", model.KindObject, e)
		k.action("swap", nil, nil, set(a, read(b)), set(b, read(a)))
		s := k.universe().NewState(true)
		s.Set(model.Atom{Fluent: a}, model.ObjectValue(0))
		s.Set(model.Atom{Fluent: b}, model.ObjectValue(1))
		return Problem{U: s.Universe(), Start: s, Goal: goal(eq(read(a), obj(e, "blue")), eq(read(b), obj(e, "red")))}
	}},
	{name: "a conditional effect", plan: "arm fire", build: func(*testing.T) Problem {
		k := newKit()
		armed, hit := k.pred("armed"), k.pred("hit")
		k.action("fire", nil, nil, when(read(armed), add(hit)))
		k.action("arm", nil, nil, add(armed))
		s := k.universe().NewState(true)
		return Problem{U: s.Universe(), Start: s, Goal: goal(read(hit))}
	}},
	{name: "a universal effect", plan: "sweep", build: func(t *testing.T) Problem {
		k := newKit()
		room := k.typ("room", "a", "b", "c")
		dirty := k.pred("dirty", room)
		e := del(dirty, slot(0, room))
		e.Forall = []model.Binder{{Slot: 0, Type: room}}
		k.action("sweep", nil, nil, e)
		s := k.universe().NewState(true)
		facts(t, s, "dirty(a)", "dirty(c)")
		return Problem{U: s.Universe(), Start: s, Goal: goal(quantify(model.OpAll, model.KindBool, room, 0, not(read(dirty, slot(0, room)))))}
	}},
	{name: "a derived fluent over a count", plan: "start(a) start(b)", build: func(*testing.T) Problem {
		k := newKit()
		node := k.typ("node", "a", "b", "c")
		up := k.pred("up", node)
		quorum := k.derived("quorum", ge(quantify(model.OpCount, model.KindNumber, node, 0, read(up, slot(0, node))), num(2)))
		k.action("start", types(node), nil, add(up, slot(0, node)))
		s := k.universe().NewState(true)
		return Problem{U: s.Universe(), Start: s, Goal: goal(read(quorum))}
	}},
	{name: "the cheapest enough are chosen", plan: "start(d) start(b)", build: func(*testing.T) Problem {
		k := newKit()
		node := k.typ("node", "a", "b", "c", "d")
		x := slot(0, node)
		up, price := k.pred("up", node), k.fluent("price", model.KindNumber, nil, node)
		k.action("start", types(node), nil, add(up, x)).Cost = read(price, x)
		s := k.universe().NewState(true)
		for i, c := range []float64{9, 1, 5, 2} {
			s.Set(model.Atom{Fluent: price, Args: []int32{int32(i)}}, model.NumberValue(c))
		}
		count := quantify(model.OpCount, model.KindNumber, node, 0, read(up, x))
		return Problem{U: s.Universe(), Start: s, Goal: goal(ge(count, num(2)))}
	}},
	{name: "a string that is set", plan: "paint", build: func(*testing.T) Problem {
		k := newKit()
		tag := k.fluent("tag", model.KindString, nil)
		k.action("paint", nil, nil, set(tag, str("red-hot")))
		s := k.universe().NewState(true)
		return Problem{U: s.Universe(), Start: s, Goal: goal(ex(model.OpPrefix, model.KindBool, read(tag), str("red")))}
	}},
	{name: "a nested fluent argument", plan: "move(b) light", build: func(*testing.T) Problem {
		k := newKit()
		place := k.typ("place", "a", "b")
		at, lit := k.fluent("at", model.KindObject, place), k.pred("lit", place)
		wired := k.pred("wired", place)
		k.action("light", nil, exprs(read(wired, read(at))), when(eq(read(at), obj(place, "b")), add(lit, obj(place, "b"))))
		k.action("move", types(place), nil, set(at, slot(0, place)))
		s := k.universe().NewState(true)
		s.Set(model.Atom{Fluent: at}, model.ObjectValue(0))
		s.Set(model.Atom{Fluent: wired, Args: []int32{1}}, model.BoolValue(true))
		return Problem{U: s.Universe(), Start: s, Goal: goal(read(lit, obj(place, "b")))}
	}},
	{name: "an invariant forbids what would make it worse", plan: "drain(a) fix(a) readd(a) drain(b) fix(b)", build: func(t *testing.T) Problem {
		k := newKit()
		node := k.typ("node", "a", "b")
		x := slot(0, node)
		in, good := k.pred("in", node), k.pred("good", node)
		k.action("drain", types(node), exprs(read(in, x)), del(in, x))
		k.action("fix", types(node), exprs(not(read(in, x))), add(good, x))
		k.action("readd", types(node), exprs(not(read(in, x)), read(good, x)), add(in, x))
		k.invariant("one_out", true, le(quantify(model.OpCount, model.KindNumber, node, 0, not(read(in, x))), num(1)))
		s := k.universe().NewState(true)
		facts(t, s, "in(a)", "in(b)")
		return Problem{U: s.Universe(), Start: s, Goal: goal(read(good, obj(node, "a")), read(good, obj(node, "b")), not(read(in, obj(node, "b"))))}
	}},
	{name: "a broken invariant may be mended", plan: "add add", build: func(*testing.T) Problem {
		k := newKit()
		n := k.fluent("n", model.KindNumber, nil)
		k.action("add", nil, nil, inc(n, num(1)))
		k.invariant("enough", false, ge(read(n), num(5)))
		s := k.universe().NewState(true)
		number2(s, "n", 0)
		return Problem{U: s.Universe(), Start: s, Goal: goal(ge(read(n), num(2)))}
	}},
	{name: "costs that depend on the state are weighed", plan: "coast go", build: func(*testing.T) Problem {
		k := newKit()
		done, near := k.pred("done"), k.pred("near")
		k.action("coast", nil, nil, add(near)).Cost = num(2)
		k.action("go", nil, nil, add(done)).Cost = ex(model.OpIf, model.KindNumber, read(near), num(1), num(9))
		s := k.universe().NewState(true)
		return Problem{U: s.Universe(), Start: s, Goal: goal(read(done))}
	}},
	{name: "what cannot be reached is unsolvable", status: Unsolvable, reason: "no sequence of actions reaches the goal", build: func(*testing.T) Problem {
		k := newKit()
		a, b := k.pred("a"), k.pred("b")
		k.action("toggle", nil, exprs(not(read(a))), add(a), del(b))
		k.action("back", nil, exprs(read(a)), del(a), add(b))
		s := k.universe().NewState(true)
		return Problem{U: s.Universe(), Start: s, Goal: goal(read(a), read(b))}
	}},
	{name: "an unknown fact that does not bear on the goal", status: Unsolvable, reason: "no sequence of actions reaches the goal", build: func(t *testing.T) Problem {
		k := newKit()
		node := k.typ("node", "a", "b")
		ready, done := k.pred("ready", node), k.pred("done", node)
		k.action("act", types(node), exprs(read(ready, slot(0, node))), add(done, slot(0, node)))
		s := k.universe().NewState(true)
		put(t, s, model.Value{}, "ready(b)")
		return Problem{U: s.Universe(), Start: s, Goal: goal(read(done, obj(node, "a")))}
	}},
	{name: "an unknown fact that does", status: Unobservable, reason: "unknown: ready(a)", build: func(t *testing.T) Problem {
		k := newKit()
		node := k.typ("node", "a", "b")
		ready, done := k.pred("ready", node), k.pred("done", node)
		k.action("act", types(node), exprs(read(ready, slot(0, node))), add(done, slot(0, node)))
		s := k.universe().NewState(true)
		put(t, s, model.Value{}, "ready(a)", "ready(b)")
		return Problem{U: s.Universe(), Start: s, Goal: goal(read(done, obj(node, "a")))}
	}},
	{name: "a type that discovery left open", status: Unobservable, reason: "not all objects of type node are known: their discovery failed", build: func(*testing.T) Problem {
		k := newKit()
		node := k.typ("node")
		up := k.pred("up", node)
		k.action("start", types(node), nil, add(up, slot(0, node)))
		u := k.universe(model.Discovery{Type: node, Objects: []string{"a"}, Failed: true})
		return Problem{U: u, Start: u.NewState(true), Goal: goal(quantify(model.OpAll, model.KindBool, node, 0, read(up, slot(0, node))))}
	}},
	{name: "a type left open that an action on the way ranges over", status: Unobservable, reason: "not all objects of type node are known: their discovery failed", build: func(*testing.T) Problem {
		k := newKit()
		node := k.typ("node")
		spare, done := k.pred("spare", node), k.pred("done")
		k.action("use", types(node), exprs(read(spare, slot(0, node))), add(done))
		u := k.universe(model.Discovery{Type: node, Objects: []string{"a"}, Failed: true})
		return Problem{U: u, Start: u.NewState(true), Goal: goal(read(done))}
	}},
	{name: "a type left open that nothing on the way ranges over", status: Unsolvable, reason: "no sequence of actions reaches the goal", build: func(*testing.T) Problem {
		k := newKit()
		node := k.typ("node")
		up, done := k.pred("up", node), k.pred("done")
		k.action("start", types(node), nil, add(up, slot(0, node)))
		u := k.universe(model.Discovery{Type: node, Objects: []string{"a"}, Failed: true})
		return Problem{U: u, Start: u.NewState(true), Goal: goal(read(done))}
	}},
	{name: "a strict invariant that is not known to hold", status: Unobservable, reason: "invariant safe is not known to hold at the start", build: func(t *testing.T) Problem {
		k := newKit()
		a := k.pred("a")
		k.action("set", nil, nil, add(a))
		k.invariant("safe", true, read(a))
		s := k.universe().NewState(true)
		put(t, s, model.Value{}, "a")
		return Problem{U: s.Universe(), Start: s, Goal: goal(read(a))}
	}},
	{name: "a strict invariant that is broken", status: Unsolvable, reason: "invariant safe does not hold at the start", build: func(*testing.T) Problem {
		k := newKit()
		a := k.pred("a")
		k.action("set", nil, nil, add(a))
		k.invariant("safe", true, read(a))
		s := k.universe().NewState(true)
		return Problem{U: s.Universe(), Start: s, Goal: goal(read(a))}
	}},
	{name: "actions that are not allowed are not used", status: Unsolvable, reason: "no sequence of actions reaches the goal", build: func(*testing.T) Problem {
		k := newKit()
		a := k.pred("a")
		k.action("set", nil, nil, add(a))
		s := k.universe().NewState(true)
		return Problem{U: s.Universe(), Start: s, Goal: goal(read(a)), Allowed: []*model.Action{}}
	}},
	{name: "a goal that holds needs no step", plan: "", build: func(*testing.T) Problem {
		k := newKit()
		a := k.pred("a")
		k.action("set", nil, nil, add(a))
		s := k.universe().NewState(true)
		return Problem{U: s.Universe(), Start: s, Goal: goal(not(read(a)))}
	}},
}

func TestEveryPartOfTheLanguage(t *testing.T) {
	for _, c := range languageCases {
		t.Run(c.name, func(t *testing.T) {
			p := c.build(t)
			want := c.status
			if want == "" {
				want = Solved
			}
			for _, optimal := range []bool{false, true} {
				r := solve(t, p, Options{Optimal: optimal, MaxNodes: 10000})
				if r.Status != want || r.Reason != c.reason || planText(p.U, r.Plan) != c.plan {
					t.Errorf("optimal %v: got %s %q, plan %q; want %s %q, plan %q", optimal, r.Status, r.Reason, planText(p.U, r.Plan), want, c.reason, c.plan)
				}
			}
		})
	}
}
