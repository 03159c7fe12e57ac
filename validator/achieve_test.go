package validator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/validator"
)

// because validates the plan and returns the facts of the first missing conjunct.
func because(t *testing.T, p validator.Problem, text string) []validator.Because {
	t.Helper()
	r := validator.Validate(p, plan(text))
	if len(r.Missing) == 0 {
		t.Fatalf("nothing is missing: %s", r.Critique)
	}
	return r.Missing[0].Because
}

func TestAchieversUnifyEffects(t *testing.T) {
	b := newBuilder()
	svc, node := b.typ("service", "api", "db"), b.typ("node", "n1", "n2")
	s, n := slot(svc, 0), slot(node, 1)
	up, armed, level := b.bool("up", svc), on(b.bool("armed")), b.number("level", svc)
	up2 := on(up, slot(svc, 2))
	one := []*model.Type{svc}
	b.action("stop", one, nil, del(on(up, s)))
	b.action("start", one, nil, add(on(up, s)))
	b.action("start_on", []*model.Type{svc, node}, []*model.Expr{model.Or(on(b.bool("free", node), n))}, add(on(up, s)))
	b.action("start_db", nil, nil, add(on(up, object(svc, "db"))))
	all := add(up2)
	all.Forall = []model.Binder{{Slot: 2, Type: svc, Name: "o"}}
	b.action("start_all", nil, nil, all)
	when := add(on(up, s))
	when.When = armed
	b.action("start_if_armed", one, nil, when)
	b.action("set_level", one, nil, set(on(level, s), num(5)))
	b.action("low_level", one, nil, set(on(level, s), num(1)))
	b.action("need_up", one, []*model.Expr{on(up, s)})
	b.action("need_down", one, []*model.Expr{not(on(up, s))})
	b.action("need_level", one, []*model.Expr{op(model.OpGt, model.KindBool, on(level, s), num(3))})
	b.Link()
	u := model.NewUniverse(b.Model)
	tests := []struct {
		name       string
		facts      []string
		plan       string
		want       string
		applicable int
	}{
		{"adds, applicable ones first", nil, "need_up(api)", "start(api) start_all start_on(api, n1) start_on(api, n2)", 2},
		{"objects in heads", nil, "need_up(db)", "start(db) start_db start_all start_on(db, n1) start_on(db, n2)", 3},
		{"free parameters", []string{"free(n2)"}, "need_up(api)", "start(api) start_on(api, n2) start_all start_on(api, n1)", 3},
		{"conditions as they are now", []string{"armed"}, "need_up(api)", "start(api) start_all start_if_armed(api) start_on(api, n1) start_on(api, n2)", 3},
		{"deletes", []string{"up(api)"}, "need_down(api)", "stop(api)", 1},
		{"numbers, where the conjunct holds after", nil, "need_level(db)", "set_level(db)", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := because(t, validator.Problem{U: u, Start: closed(t, u, tt.facts...)}, tt.plan)
			if got := strings.Join(f[0].Achievers, " "); got != tt.want || f[0].Applicable != tt.applicable {
				t.Errorf("got %s, %d applicable\nwant %s, %d", got, f[0].Applicable, tt.want, tt.applicable)
			}
			if !f[0].Complete {
				t.Error("the search was cut short")
			}
		})
	}
	t.Run("the goal's actions alone", func(t *testing.T) {
		p := validator.Problem{U: u, Start: closed(t, u), Allowed: []*model.Action{u.Action("need_up"), u.Action("start_db")}}
		if f := because(t, p, "need_up(db)"); !slices.Equal(f[0].Achievers, []string{"start_db"}) {
			t.Errorf("got %v", f[0].Achievers)
		}
	})
}

// TestWhatCannotMendIsNoAchiever: the violating step, an action that is false by
// equality alone, one that needs the very fact that it makes.
func TestWhatCannotMendIsNoAchiever(t *testing.T) {
	b := newBuilder()
	place, armed := b.typ("place", "home", "shop", "mill"), on(b.bool("armed"))
	x, y := slot(place, 0), slot(place, 1)
	at, two := b.bool("at", place), []*model.Type{place, place}
	differ := op(model.OpNe, model.KindBool, x, y)
	b.action("move", two, []*model.Expr{model.And(on(at, x), differ)}, add(on(at, y)), del(on(at, x)))
	b.action("drive", two, []*model.Expr{on(at, x), model.Or(differ, model.And(armed, op(model.OpNe, model.KindBool, y, x)))}, add(on(at, y)))
	b.action("stay", []*model.Type{place}, []*model.Expr{on(at, x)}, add(on(at, x)))
	b.action("arrive", []*model.Type{place}, []*model.Expr{armed}, add(on(at, x)), add(armed))
	b.action("need", []*model.Type{place}, []*model.Expr{on(at, x)})
	b.Link()
	u := model.NewUniverse(b.Model)
	p := validator.Problem{U: u, Start: closed(t, u, "at(shop)")}
	got := because(t, p, "need(home)")[0].Achievers
	if want := "move(shop, home) drive(shop, home) move(mill, home) drive(mill, home) arrive(home)"; strings.Join(got, " ") != want {
		t.Errorf("got %v\nwant %s", got, want)
	}
	if got = because(t, p, "arrive(mill)")[0].Achievers; len(got) > 0 {
		t.Errorf("got %v", got)
	}
	if got = because(t, p, "stay(home)")[0].Achievers; slices.Contains(got, "stay(home)") || len(got) != 5 {
		t.Errorf("got %v", got)
	}
}

func TestSinceNamesTheLastChange(t *testing.T) {
	p, _ := switches(t, 3, 0, false)
	f := because(t, p, "on(h0)\noff(h0)\non(h1)\non(h0)\noff(h1)\non(h0)\n")
	if s := f[0].Since; f[0].Fluent != "a(h0)" || s == nil || s.Step != 4 || s.Action != "on(h0)" {
		t.Errorf("%s since %+v", f[0].Fluent, s)
	}
	f = because(t, p, "on(h1)\noff(h2)\n")
	if f[0].Since != nil {
		t.Errorf("what nothing changed is said to have changed at %+v", f[0].Since)
	}
}

func TestRewritingTheSameValueIsNoChange(t *testing.T) {
	b := newBuilder()
	p, q := on(b.bool("p")), on(b.bool("q"))
	b.action("del_p", nil, nil, del(p))
	b.action("need", nil, []*model.Expr{p, q})
	b.Link()
	u := model.NewUniverse(b.Model)
	r := validator.Validate(validator.Problem{U: u, Start: closed(t, u, "p")}, plan("del_p\ndel_p\nneed"))
	if s := r.Missing[0].Because[0].Since; s == nil || s.Step != 1 {
		t.Errorf("since %+v", s)
	}
}

// TestExplainingIsBounded holds a failure over 100,000 objects, each with
// 100,000 candidates, to bounded work: unbounded it would take hours.
func TestExplainingIsBounded(t *testing.T) {
	b := newBuilder()
	var names []string
	for i := range 100_000 {
		names = append(names, fmt.Sprintf("h%d", i))
	}
	host := b.typ("host", names...)
	h := slot(host, 0)
	ok := b.bool("ok", host)
	busy := over(model.OpAny, host, 3, model.And(on(ok, slot(host, 3)), not(on(ok, slot(host, 3))), on(b.bool("x", host), slot(host, 1))))
	b.action("mend", []*model.Type{host, host}, []*model.Expr{busy}, add(on(ok, h)))
	b.action("count", nil, []*model.Expr{op(model.OpGe, model.KindBool, over(model.OpCount, host, 0, on(ok, h)), num(99_999))})
	b.Link()
	u := model.NewUniverse(b.Model)
	p := validator.Problem{U: u, Start: u.NewState(true), Goal: cond(over(model.OpAll, host, 0, on(ok, h))), GoalName: "g"}
	r := validator.Validate(p, plan(""))
	const critique = "goal not reached after 0 steps; missing ok(h0), ok(h1), ok(h2), ok(h3), ok(h4), ok(h5), ok(h6), ok(h7) (each false from the start) and 99992 more"
	if r.Critique != critique || len(r.Missing) != 100_000 {
		t.Errorf("%d missing: %s", len(r.Missing), r.Critique)
	}
	r = validator.Validate(p, plan("count"))
	if len(r.Missing) != 1 || len(r.Missing[0].Because) != 100 || r.Missing[0].More != 99_900 {
		t.Errorf("%d facts and %d more", len(r.Missing[0].Because), r.Missing[0].More)
	}
}

func TestPolicyRulesSeeTheStepAndTheStateBefore(t *testing.T) {
	p := classic(t)
	rec := &recorder{}
	p.Rules = []validator.Rule{rec}
	if r := validator.Validate(p, plan(shortest)); !r.Valid || rec.steps != "1:drain:true 2:restart:false 3:take_lock:false 4:readd:false 5:drain:true 6:revert:false 7:readd:false 8:release:true " {
		t.Errorf("%s; asked %s", r.Critique, rec.steps)
	}
}

// recorder is a rule that denies nothing and writes down what it was asked.
type recorder struct{ steps string }

func (r *recorder) Check(step int, g model.Ground, before *model.State) (string, bool) {
	capacity := before.Get(model.Atom{Fluent: before.Universe().Fluent("capacity")})
	r.steps += fmt.Sprintf("%d:%s:%v ", step, g.Action.Name, capacity.Tri() == model.True)
	return "", false
}
